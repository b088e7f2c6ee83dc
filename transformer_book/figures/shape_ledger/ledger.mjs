// The ledger: a line for each line of code, with its numbers and their bars.
import { fill, grid, join, panel, s, set } from "../kit/index.mjs";
import { around, plain, row } from "./layout.mjs";
import { sentence } from "./text.mjs";

const NOTE =
  "totals over all blocks; FLOPs of matrix products; bytes of activations: float32, tokens int64";

function newLine() {
  const rings = ["halo", "ring"].map((kind) => s("rect", { class: kind }));
  const box = s("rect", { fill: "transparent" });
  const cell = s("g", { role: "gridcell", "data-col": 0 }, box, ...rings);
  const shown = s("g", { "aria-hidden": "true" }, s("g"), s("g"));
  return s("g", { role: "row" }, shown, cell);
}

function drawLine({ children: [shown, cell] }, geometry, line, r, { active, hold }) {
  const shape = row(geometry, line, r);
  const right = { ...geometry, state: { ...geometry.state, wrong: false } };
  const kinds = [hold === r && "locked", active === r && "active"].filter(Boolean);
  set(shown, { "data-part": shape.part });
  fill(shown.firstChild, shape.boxes, "rect");
  fill(shown.lastChild, shape.texts.map(plain), "text");
  set(cell, {
    "data-row": r,
    "aria-selected": String(hold === r),
    "aria-label": sentence(right, [r]),
    class: kinds.join(" ") || null,
  });
  for (const rect of cell.children) set(rect, shape.box);
}

/** The ledger: one tab stop, a line for each line of code. */
export function ledger(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "Lines of the forward pass" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One forward pass", svg);
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1],
    locked: () => ui.locked() && [ui.locked()[0], 0],
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  function draw(geometry) {
    const { lines, frame } = geometry;
    const frameOf = around(geometry);
    count = lines.length;
    set(svg, { width: frame.room, height: frame.height });
    set(note, { text: NOTE });
    fill(paths, frameOf.paths, "path");
    fill(texts, frameOf.texts.map(plain), "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    join(
      body,
      lines,
      (_, r) => r,
      newLine,
      (node, line, r) => drawLine(node, geometry, line, r, { active, hold }),
    );
    cells.update();
  }
  return { node, draw };
}
