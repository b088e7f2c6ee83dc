// FigureName: the figure's parts, and what its reader can do.
import { grid, join, number, panel, s, set } from "../kit/index.mjs";
import { layout } from "./layout.mjs";
import { pytorch, sentence, table } from "./text.mjs";

const locked = ({ selected }) => (selected < 0 ? null : [0, selected]);

function newBar() {
  const parts = [s("rect", { class: "bar" }), s("text", { "text-anchor": "middle" })];
  return s("g", { role: "gridcell" }, ...parts, s("rect", { class: "ring" }));
}

function drawBar(node, bar, i, { state, weights }) {
  const [rect, text, ring] = node.children;
  const shown = number(weights[i]);
  set(node, {
    "data-row": 0,
    "data-col": i,
    "aria-label": `score ${number(state.scores[i])}, weight ${shown}`,
    "aria-selected": String(i === state.selected),
    class: i === state.selected ? "locked" : null,
  });
  set(rect, bar);
  set(text, { x: bar.x + bar.width / 2, y: bar.y - 10, text: shown });
  set(ring, { ...bar, y: bar.y - 20, height: bar.height + 24, x: bar.x - 2 });
}

function build(ui) {
  const row = s("g", { role: "row" });
  const picture = s("svg", { role: "grid", "aria-label": "Weights" }, row);
  const box = panel("Weights", picture);
  const cells = grid(box.node, {
    size: () => [1, ui.state().scores.length],
    locked: ui.locked,
    hover: ui.hover,
    lock: ui.lock,
  });
  const held = ({ selected }) => Math.max(0, selected);
  return {
    controls: [
      ui.slider({
        label: "Held score",
        min: -5,
        max: 5,
        step: 0.1,
        disabled: ({ selected }) => selected < 0,
        get: (state) => state.scores[held(state)],
        set: (value, state) => ({ scores: state.scores.with(held(state), value) }),
        format: (value) => number(value, 1),
      }),
    ],
    picture: [box.node],
    draw(geometry) {
      const { width, height, bars } = geometry;
      set(picture, { width, height, viewBox: `0 0 ${width} ${height}` });
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
  title: "FigureName",
  tip: "tap a bar, then pull the slider: which other weights change?",
  traits: ["scores", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ? cell[1] : -1 }),
  build,
};
