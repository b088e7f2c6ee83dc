// Translator: an encoder-decoder reads while it writes, token by token.
import { bring } from "../engine/index.mjs";
import { h, set } from "../kit/index.mjs";
import { MOST, SHIPPED, createAnswers } from "./answers.mjs";
import { field, placeOf, walk } from "./controls.mjs";
import { layout } from "./layout.mjs";
import { chances, looks, map, result } from "./pictures.mjs";
import { headsOf, pytorch, sentence, table } from "./text.mjs";

export { layout, locked, pytorch, sentence, table };

const locked = ({ selected }) => (selected.length ? selected : null);

/** Where the numbers come from; as long as the model is not here, its own line says it. */
const origin = ({ here, answer: { by } }, ask) => {
  if (by !== SHIPPED) return `Shown: from Python (${by}). `;
  return ask ? `Shown: ${here ? "computed here" : "as stored"}. ` : "";
};

function build(ui, page) {
  const [lined, mapped, likely, said] = [looks(ui), map(ui), chances(ui), result()];
  const source = h("span");
  const own = ui.state().answer.by !== SHIPPED;
  const python = own && ui.widget.send;
  const coming = python
    ? h("p", { class: "try coming" })
    : bring(ui, SHIPPED, (model) => {
        page.ask = createAnswers(model);
      });
  coming.prepend(source);
  return {
    controls: [
      ...field(ui, page),
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
      }),
      ui.choice({
        label: "As",
        trait: "view",
        options: [
          ["lines", "lines"],
          ["grid", "grid"],
        ],
      }),
      h(
        "div",
        { class: "walk" },
        ...Object.entries({ "Start over": -MOST, Back: -1, Step: 1, All: MOST }).map(
          ([label, by]) =>
            ui.button({
              label,
              action: () => walk(by)(page.now),
              disabled: () => (by < 0 ? !page.now.shown : page.now.done),
            }),
        ),
      ),
      said.node,
    ],
    formula: {
      equation: [
        ["memory", "memory", "key"],
        " = encoder(source);  ",
        ["next", "next", "query"],
        " = decoder(written, ",
        ["weights", "weights"],
        " × memory)",
      ],
      code: [
        ["memory", "memory"],
        " = model.encode(source); ",
        ["next", "logits"],
        " = model.decode(written, memory)[0, -1]",
      ],
    },
    picture: [coming],
    draw(geometry, view) {
      const seen = geometry.state.view === "lines" ? lined : mapped;
      if (!seen.node.parentNode)
        coming.parentNode.replaceChildren(seen.node, likely.node, coming);
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
  tip: "press Start over, then Step: where does the decoder look before each German piece? Strong lines are much attention: why do those of 21 cross? Of 345?",
  keys: "; in pictures, + and − step",
  traits: ["text", "answer", "step", "head", "view", "selected"],
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
