// Translator: an encoder-decoder reads while it writes, token by token.
import { bring } from "../engine/index.mjs";
import { fill, h, number, panel, quote, s, set, tokenText } from "../kit/index.mjs";
import { MOST, SHIPPED, createAnswers } from "./answers.mjs";
import { field, placeOf, walk } from "./controls.mjs";
import { choices, layout } from "./layout.mjs";
import { crossAttention, map } from "./cross_attention.mjs";
import { headsOf, pytorch, sentence, table, verdict } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const locked = ({ selected }) => (selected.length ? selected : null);

/** Where the numbers come from; as long as the model is not here, its own line says it. */
const origin = ({ here, answer: { by } }, ask) => {
  if (by !== SHIPPED) return `Computed in Python (${by}). `;
  return ask ? (here ? "Computed in this page. " : "Stored result. ") : "";
};

/** The translation as far as it is written; what comes later keeps its room. */
function result() {
  const [from, said, later, after] = [
    h("b"),
    h("b", { class: "said" }),
    h("span", { class: "later" }),
    h("span"),
  ];
  const node = h("p", { class: "result" }, from, " → ", said, after, later);
  const draw = ({ answer, shown, done, waiting }) => {
    const tokens = answer.target.filter((token) => token !== "<end>");
    const text = done ? answer.translation : tokens.slice(0, shown).join("");
    set(from, { text: tokenText(answer.words, 160) });
    set(said, { text: text && tokenText(text, 160) });
    set(later, { text: done ? "" : tokenText(tokens.slice(shown).join(""), 160) });
    set(after, { text: !done ? "…" : waiting ? "" : ` ${verdict(answer)}` });
  };
  return { node, draw };
}

/** The most probable tokens of one step. */
function chances(ui) {
  const bars = s("g");
  const words = s("g");
  const svg = s("svg", { role: "img", "data-part": "next" }, bars, words);
  const { node, note } = panel("Next token", svg);
  function draw(geometry) {
    const [r] = geometry.at(ui.active()) ?? [geometry.shown - 1];
    const { boxes, texts, width, height } = choices(geometry, r);
    set(note, { text: `probabilities at step ${r + 1}` });
    const all = geometry.answer.chances[r].map(
      ([token, p]) => `${quote(token)} ${number(p, 4)}`,
    );
    set(svg, { width, height, "aria-label": `Step ${r + 1}: ${all.join(", ")}` });
    fill(bars, boxes, "rect");
    fill(words, texts, "text");
  }
  return { node, draw };
}

const headChoice = (ui) =>
  ui.select({
    label: "Heads",
    options: ({ answer: { weights } }) => [
      ["", headsOf([], weights)],
      ...weights.flatMap((heads, l) =>
        heads.map((_, i) => [`${l},${i}`, headsOf([l, i], weights)]),
      ),
    ],
    get: ({ head }) => String(head),
    set: (text) => ({ head: text ? text.split(",").map(Number) : [] }),
  });

const viewChoice = (ui) =>
  ui.choice({
    label: "View",
    trait: "view",
    options: [
      ["lines", "lines"],
      ["grid", "grid"],
    ],
  });

/** Goes on by so many steps, or back. */
const button = (ui, page, label, by) =>
  ui.button({
    label,
    action: () => walk(by)(page.now),
    disabled: () => (by < 0 ? !page.now.shown : page.now.done),
  });

/** Back, and the main button: one step, or from the end to the start. */
function walks(ui, page) {
  const on = ui.button({
    label: "Step",
    text: () => (page.now.done ? "Start over" : "Step"),
    action: () => walk(page.now.done ? -MOST : 1)(page.now),
  });
  on.classList.add("go");
  return [button(ui, page, "Back", -1), on];
}

const QUERIES_AND_KEYS =
  "Q, a query: what the decoder looks for before it writes a token. K, a key: what a " +
  "source token offers, encoded once. The better a query fits a key, the more it attends.";

const formula = {
  equation: [
    ["memory", "states", "key"],
    " = encoder(source);  ",
    ["next", "next", "query"],
    " = decoder(written, ",
    ["weights", "weights"],
    " × states)",
  ],
  code: [
    ["memory", "states"],
    " = model.encode(source); ",
    ["next", "logits"],
    " = model.decode(written, states)[0, -1]",
  ],
};

/** Says whether the model comes, and computes what is asked with it when it is here. */
function answering(ui, page) {
  const own = ui.state().answer.by !== SHIPPED;
  if (own && ui.widget.send) return h("p", { class: "coming" });
  return bring(ui, SHIPPED, (model) => {
    page.ask = createAnswers(model);
  });
}

function build(ui, page) {
  const [lined, mapped, likely, said] = [
    crossAttention(ui),
    map(ui),
    chances(ui),
    result(),
  ];
  const source = h("span");
  const coming = answering(ui, page);
  coming.prepend(source);
  const stage = h("div");
  likely.node.classList.add("after");
  for (const { node } of [lined, mapped])
    node.querySelector(".title").append(" ", ui.term("Q and K", QUERIES_AND_KEYS));
  return {
    controls: [...field(ui, page), ...walks(ui, page)],
    more: [button(ui, page, "All", MOST), headChoice(ui), viewChoice(ui)],
    picture: [said.node, stage, likely.node],
    below: [coming],
    formula,
    draw(geometry, view) {
      const seen = geometry.state.view === "lines" ? lined : mapped;
      if (!seen.node.parentNode) stage.replaceChildren(seen.node);
      seen.draw(geometry, view);
      likely.draw(geometry);
      said.draw(geometry);
      set(source, { text: origin(geometry, page.ask) });
    },
  };
}

const spec = {
  name: "translator",
  title: "Translation, token by token",
  steps: [
    {
      say: "English goes in, German comes out. Type another number, press Enter, then Step: do the thick lines always cross?",
    },
    {
      say: "Nothing is written yet. Press Step: which English piece does the decoder attend to first?",
      set: { text: "21", step: 0, selected: [], view: "lines" },
    },
    {
      say: "German says five before forty. Press Step: where do the lines cross, and where not?",
      set: { text: "345", step: 0, selected: [], view: "lines" },
    },
  ],
  keys: "; in the pictures, + and − step",
  limits,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
};

/** Made anew for each figure of a page: what is typed stands beside the state. */
export default () => {
  const page = {};
  return {
    ...spec,
    layout(state, width) {
      if (page.of !== placeOf(state)) page.typed = page.refused = null;
      return (page.now = layout(state, width, page.ask, page.refused));
    },
    build: (ui) => build(ui, page),
  };
};
