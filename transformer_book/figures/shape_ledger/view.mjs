// ShapeLedger: what each line of a decoder makes, holds and costs.
import { h, join, set } from "../kit/index.mjs";
import { pytorch } from "./code.mjs";
import { sizes } from "./controls.mjs";
import { layout } from "./layout.mjs";
import { ledger } from "./ledger.mjs";
import { pieces } from "./pieces.mjs";
import { watch } from "./watch.mjs";
import { sentence, table, unnoticed } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const locked = ({ selected }) => (selected.length ? selected : null);

/** The sum of all parameters, and the line that splits heads. */
const formula = {
  equation: [
    "parameters = ",
    ["embed", "(V + P) d"],
    " + L ( ",
    ["attention", "4d² + 6d"],
    " + ",
    ["ff", "2df + f + 3d"],
    " ) + ",
    ["end", "2d"],
  ],
  code: ({ n_heads: heads, d_model: d, wrong }) => [
    ["attention", "query"],
    wrong
      ? `.view(B, ${heads}, T, ${d / heads})  # no error`
      : `.view(B, T, ${heads}, ${d / heads}).transpose(1, 2)`,
  ],
};

function build(ui) {
  const [all, seen] = [ledger(ui), watch()];
  let top = null; // of the lines, which Reset leaves where the reader sees them
  const topOf = ({ node }) => node.getBoundingClientRect().top;
  ui.onReset(() => {
    seen.forget();
    top = topOf(all);
  });
  const text = h("p", { class: "why" });
  const why = {
    node: text,
    draw: ({ state }) => set(text, { text: unnoticed(state) }),
  };
  const parts = [why, pieces("✗ view alone", true), pieces("✓ view, transpose", false)];
  const stage = h("div", { class: "pieces" });
  const [model, batch, length, width, ...others] = sizes(ui, seen.typed);
  length.classList.add("go");
  const wrong = ui.toggle({ label: "wrong reshape: view alone", trait: "wrong" });
  return {
    controls: [h("div", { class: "sizes" }, length, model, width)],
    more: [h("div", { class: "sizes" }, batch, ...others), wrong],
    formula: {
      equation: ({ tied }) =>
        tied ? formula.equation : [...formula.equation, " + ", ["end", "V d"]],
      code: formula.code,
    },
    picture: [stage, seen.node],
    below: [all.node],
    draw(geometry) {
      seen.draw(geometry);
      all.draw(geometry);
      const shown = geometry.state.wrong ? parts : [];
      join(
        stage,
        shown,
        (part) => parts.indexOf(part),
        ({ node }) => node,
        (_, { draw }) => draw(geometry),
      );
      if (top !== null) scrollBy({ top: topOf(all) - top, behavior: "instant" });
      top = null;
    },
  };
}

export default {
  name: "shape_ledger",
  title: "Shapes, parameters and compute of a decoder",
  steps: [
    {
      say: "Double the tokens T. Which of the three numbers below grows to four times what it was?",
    },
    {
      say: "Now double the width d. Which number grows most, and which stays as it is?",
    },
    {
      say: "Heads are now split by view alone, which is wrong. Which number below changes, and who would notice?",
      set: { wrong: true },
    },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  build,
};
