// The list of the next tokens with their bars: one tab stop, a line for each token.
import { fill, grid, join, panel, s, set } from "../kit/index.mjs";
import { around, row } from "./layout.mjs";
import { sentence } from "./text.mjs";
import { paint, plain } from "./writing.mjs";

/** A line: what is drawn, and the cell that is pressed. */
const createLine = () =>
  s(
    "g",
    { role: "row" },
    s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
    s(
      "g",
      { role: "gridcell", "data-col": 0 },
      s("rect", { fill: "transparent" }),
      s("rect", { class: "halo" }),
      s("rect", { class: "ring" }),
    ),
  );

function noteOn({ problem, state }) {
  if (problem) return "for another text";
  return `outlined: the model’s; filled: reshaped${state.count ? ", ◆ drawn" : ""}`;
}

export function bars(ui) {
  const raster = s("path", { class: "raster" });
  const cut = s("path", { class: "cut", "data-part": "cut" });
  const texts = s("g");
  const list = s("g", {
    role: "grid",
    "aria-label": "Next tokens, most likely first",
  });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, raster, cut, texts), list);
  const { node, note } = panel("Next token", svg);
  let geometry = null;
  const idOf = ([r]) => geometry.order[geometry.listed[r]];
  const cells = grid(node, {
    size: () => [geometry.listed.length, 1],
    locked: () => {
      const r = geometry.listed.findIndex((i) => geometry.order[i] === ui.state().held);
      return r < 0 ? null : [r, 0];
    },
    hover: (cell) => ui.hover(cell && [idOf(cell)]),
    lock: (cell) => ui.set({ held: cell ? idOf(cell) : -1 }),
  });
  function drawLine({ children: [shown, cell] }, place, r) {
    const line = row(geometry, place, r);
    const id = geometry.order[place];
    const isHeld = id === geometry.state.held;
    paint(shown.children, line);
    set(cell, {
      "data-row": r,
      "aria-selected": String(isHeld),
      "aria-label": `${line.texts.map(({ text }) => text).join(" ")}. ${sentence(geometry, [id])}`,
      class: [isHeld && "locked", id === ui.active()?.[0] && "active"].join(" "),
    });
    for (const rect of cell.children) set(rect, line.box);
  }
  function draw(next) {
    geometry = next;
    const { room, height } = geometry.frame;
    const shape = around(geometry);
    set(svg, { width: room, height });
    set(note, { text: noteOn(geometry) });
    set(raster, { d: shape.raster });
    set(cut, { d: shape.cut });
    fill(texts, shape.texts.map(plain), "text");
    join(list, geometry.listed, (_, r) => r, createLine, drawLine);
    cells.update();
  }
  return { node, draw };
}
