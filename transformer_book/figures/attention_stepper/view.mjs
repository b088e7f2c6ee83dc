// AttentionStepper: one query walks from scores to a weighted average of values.
import { h, matrix, set, tokenText } from "../kit/index.mjs";
import { closeUpView } from "./close_up.mjs";
import { layout, mapData } from "./layout.mjs";
import { ledger, stopAt } from "./ledger.mjs";
import { LAST, TITLES, pairOf, within } from "./numbers.mjs";
import { formula, pytorch, sentence, table } from "./text.mjs";
import { given, split } from "./word_model.mjs";
import limits from "./limits.json" with { type: "json" };

/** The reader's own text, answered by the page's model. */
function textField(ui) {
  const slot = h("div", { class: "own", hidden: true });
  const note = h("p", { class: "note", role: "status" });
  let [seen, draft] = ["", ""];
  const send = (insist) => {
    const { model, text, mask } = ui.state();
    const { problem } = split(draft, model);
    set(note, { text: (insist && problem) || "" });
    if (problem || draft === text) return {};
    seen = draft;
    return { text: draft, mask: Array.isArray(mask) ? "none" : mask, locked: false };
  };
  ui.bind(({ model, text }) => {
    if (text !== seen) {
      seen = draft = text;
      set(note, { text: "" });
    }
    if (slot.hidden && model) build(model.words);
  });
  const field = ui.text({
    label: "Your text",
    maxlength: 300,
    get: () => draft,
    set: (text) => {
      draft = text;
      return send(false);
    },
  });
  field.addEventListener(
    "keydown",
    ({ key, isComposing }) => key === "Enter" && !isComposing && ui.set(send(true)),
  );
  function build(words) {
    slot.hidden = false;
    slot.append(
      h(
        "div",
        { class: "line" },
        field,
        ui.button({ label: "Show", action: () => send(true) }),
      ),
      h(
        "details",
        {},
        h("summary", { text: `The ${words.length} words it knows` }),
        h("p", { class: "words token", text: words.join("  ") }),
      ),
      note,
    );
  }
  return slot;
}

function build(ui) {
  const steps = ledger(ui);
  const detail = closeUpView();
  const map = matrix(ui, { title: "All queries", label: "Weights, queries by keys" });
  const step = (label, by, end) =>
    ui.button({
      label,
      action: ({ step }) => ({ step: step + by }),
      disabled: ({ step }) => step === end,
    });
  const on = step("Step", 1, LAST);
  on.classList.add("go");
  map.node.classList.add("after");
  return {
    controls: [textField(ui), step("Back", -1, 0), on],
    more: [
      ui.choice({
        label: "Step",
        trait: "step",
        options: TITLES.map((title, i) => [i, i === LAST ? "× V" : title]),
      }),
      ui.select({
        label: "Query",
        options: (state) =>
          given(state).tokens.map((token, i) => [i, `${i + 1} ${tokenText(token)}`]),
        get: (state) => pairOf(state)[0],
        set: (i, state) => ({ selected: [i, state.selected[1]] }),
      }),
      ui.select({
        label: "Mask",
        options: ({ mask }) => [
          ["none", "none"],
          ["causal", "causal"],
          ...(Array.isArray(mask) ? [[mask, "your own"]] : []),
        ],
        get: ({ mask }) => mask,
        set: (mask) => ({ mask }),
      }),
    ],
    formula: {
      equation: (state) => formula(state).equation,
      code: (state) => formula(state).code,
    },
    picture: [steps.node, map.node],
    below: [detail.node],
    draw: (geometry, view) => {
      const pair = within(ui.active(), geometry.tokens.length);
      steps.draw(geometry, pair);
      detail.draw(geometry, pair);
      map.draw(mapData(geometry, pair), view);
      stopAt(map.node, geometry.pair);
    },
  };
}

export default {
  name: "attention_stepper",
  title: "Attention, step by step",
  steps: [
    {
      say: "At softmax (Step or Back leads there): which key gets the largest weight, and why?",
    },
    {
      say: "In All queries, each row is one query. Pick another row: which keys does that token attend to?",
      set: { step: LAST - 1 },
    },
    {
      say: "The output is the average of the values by these weights. Under More, choose another mask: what changes?",
      set: { step: LAST },
    },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  rest: pairOf,
  locked: (state) => (state.locked ? pairOf(state) : null),
  lock: (cell) => (cell ? { selected: cell, locked: true } : { locked: false }),
  build,
};
