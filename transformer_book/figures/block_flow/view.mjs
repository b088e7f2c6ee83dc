// BlockFlow: follow one token's stream through the layers, and see the answer emerge.
import { fill, grid, h, join, panel, s, set } from "../kit/index.mjs";
import { origin, promptField, tokenChoice } from "./controls.mjs";
import { around, layout, row } from "./layout.mjs";
import { flowOf } from "./numbers.mjs";
import { caption, formula, pytorch, sentence, sentenceOf, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const createRow = (_, r) =>
  s(
    "g",
    { role: "row" },
    s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
    s(
      "g",
      { role: "gridcell", "data-row": r, "data-col": 0 },
      s("rect", { fill: "transparent" }),
      s("rect", { class: "halo" }),
      s("rect", { class: "ring" }),
    ),
  );

/** A row's picture and the cell over it; `is` says whether it is { locked, active }. */
function drawRow({ children: [picture, cell] }, shape, label, is) {
  const [bars, strokes, words] = picture.children;
  set(picture, { "data-part": shape.part });
  fill(bars, shape.bars, "rect");
  fill(strokes, shape.paths, "path");
  fill(words, shape.texts, "text");
  set(cell, {
    "aria-selected": String(is.locked),
    "aria-label": label,
    class: Object.keys(is)
      .filter((name) => is[name])
      .join(" "),
  });
  for (const rect of cell.children) set(rect, shape.box);
}

const ANGLES =
  "At 0°, a layer adds more of the same; at 90°, something new; beyond that, it partly subtracts.";
const LENS =
  "It reads each depth as if it were the last: any final norm and the unembedding turn the " +
  "stream into probabilities of the next token.";

/** The stream: one tab stop, a row for each layer. */
function streamView(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "The stream, layer by layer" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One token's stream", svg);
  set(note, { text: "each layer adds to it." });
  node
    .querySelector(".title")
    .append(" ", ui.term("angles", ANGLES), " ", ui.term("logit lens", LENS));
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1],
    locked: ui.locked,
    hover: ui.hover,
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  function draw(geometry) {
    const { flow, frame: at } = geometry;
    const outside = around(geometry);
    count = flow.lengths.length;
    set(svg, { width: at.room, height: at.height });
    fill(paths, outside.paths, "path");
    fill(texts, outside.texts, "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    const drawOne = (node, _, r) => {
      const is = { locked: hold === r, active: active === r };
      drawRow(node, row(geometry, r), sentenceOf(flow, r), is);
    };
    join(body, flow.lengths, (_, r) => r, createRow, drawOne);
    cells.update();
  }
  return { node, draw };
}

/** The random stack: a switch, its band and bars, and what they mean. */
function stackView(ui) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel("A stack of random blocks", svg);
  const kinds = [
    ["pre", "pre-norm"],
    ["post", "post-norm"],
  ];
  const choice = ui.choice({ label: "Norm", trait: "residual", options: kinds });
  const said = h("p", { class: "stack" });
  node.prepend(h("div", { class: "switch" }, node.firstChild, choice));
  node.append(said);
  function draw({ state: { residual, stacks }, stack: shape }) {
    const text = caption(residual, stacks[residual]);
    set(note, { text: "untrained" });
    set(svg, { width: shape.width, height: shape.height, "aria-label": text });
    fill(parts[0], shape.paths, "path");
    fill(parts[1], shape.bars, "rect");
    fill(parts[2], shape.texts, "text");
    set(said, { text });
  }
  return { node, draw };
}

export const locked = ({ selected }) => (selected.length ? [selected[0], 0] : null);

function build(ui) {
  const views = [tokenChoice(ui), streamView(ui), stackView(ui)];
  const [tokens, stream, random] = views;
  return {
    controls: [tokens.node],
    more: promptField(ui),
    formula: {
      equation: (state) => formula(flowOf(state)),
      code: ["lens = ", ["stream", "model.unembedding.logits(model.stack.norm(x))"]],
    },
    picture: [stream.node],
    below: [random.node, origin(ui)], // the live sentence speaks of the stream
    draw(geometry) {
      for (const { draw } of views) draw(geometry);
    },
  };
}

export default {
  name: "block_flow",
  title: "One token's residual stream",
  steps: [
    {
      say: "Each layer adds to a token's vector, its stream. Tap another token: does its final guess, in bold, begin in an earlier row?",
    },
    {
      say: "Tap the rows of the stream. Which layer adds the longest arrow, and does the guess change there?",
    },
    {
      say: "Further down, switch the stack of random blocks to post-norm. Does its stream still grow?",
      set: { residual: "pre" },
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
