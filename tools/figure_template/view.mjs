// FigureName: the figure's parts, and what its reader can do.
import { fill, grid, join, number, panel, s, set } from "../kit/index.mjs";
import { layout } from "./layout.mjs";
import { formula, pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const locked = ({ selected }) => (selected < 0 ? null : [0, selected]);

/** A cell has the bar with its number, and what takes the pointer around them. */
const newBar = () =>
  s(
    "g",
    { role: "gridcell", "data-part": "weights" },
    s("rect", { class: "place", fill: "transparent" }),
    s("rect", { class: "bar" }),
    s("text", { class: "middle" }),
    s("rect", { class: "ring" }),
  );

/** A cell's label must contain all the text in the cell: other text is outside. */
function drawBar(node, bar, i, { state, weights, top, height }) {
  const [place, rect, text, ring] = node.children;
  const shown = number(weights[i]);
  set(node, {
    "data-row": 0,
    "data-col": i,
    "aria-label": `${shown}, weight of score ${number(state.scores[i], 1)}`,
    "aria-selected": String(i === state.selected),
    class: i === state.selected ? "locked" : null,
  });
  const around = {
    x: bar.x - 3,
    y: top,
    width: bar.width + 6,
    height: height - top - 1,
  };
  for (const box of [place, ring]) set(box, around);
  set(rect, bar);
  set(text, { x: bar.x + bar.width / 2, y: bar.y - 10, text: shown });
}

function build(ui) {
  const [lines, texts] = [s("path", { class: "raster" }), s("g")];
  const row = s("g", { role: "row" });
  const picture = s(
    "svg",
    {},
    s("g", { "aria-hidden": "true" }, lines, texts),
    s("g", { role: "grid", "aria-label": "Weights" }, row),
  );
  const box = panel("Weights", picture);
  const cells = grid(box.node, {
    size: () => [1, ui.state().scores.length],
    locked: ui.locked,
    hover: ui.hover,
    lock: ui.lock,
  });
  const temperature = ui.slider({
    label: "Temperature",
    trait: "temperature",
    min: 0.1,
    max: 3,
    step: 0.1,
    format: (value) => number(value, 1),
  });
  temperature.classList.add("go");
  return {
    controls: [temperature],
    formula,
    picture: [box.node],
    draw(geometry) {
      const { width, height, bars } = geometry;
      set(picture, { width, height });
      set(lines, { d: geometry.lines });
      fill(texts, geometry.texts, "text");
      join(
        row,
        bars,
        (_, i) => i,
        newBar,
        (node, bar, i) => drawBar(node, bar, i, geometry),
      );
      cells.update();
    },
  };
}

export default {
  name: "figure_name",
  title: "Figure title",
  steps: [
    { say: "Drag the temperature down to 0.1. Which bar takes all the weight?" },
    { say: "Now the bars are nearly equal. Why?", set: { temperature: 3 } },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ? cell[1] : -1 }),
  build,
};
