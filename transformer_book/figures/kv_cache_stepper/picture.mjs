// A picture of KVCacheStepper: one of the two sides, the costs, the memory.
import { fill, pad, panel, s, set } from "../kit/index.mjs";
import { sentence } from "./text.mjs";

/**
 * A titled picture of paths and texts; with a label, its cells can be asked, which are
 * [view, row, column] in the figure's state.
 * @param {any} ui
 * @param {string} title
 * @param {{ part?: string, view?: number, label?: string, key?: any }} options
 */
export function picture(ui, title, { part, view, label, key } = {}) {
  const paths = s("g", { "aria-hidden": "true" });
  const texts = s("g", { "aria-hidden": "true" });
  const svg = s("svg", { "data-part": part, role: !label && "img" }, paths, texts);
  const { node, note } = panel(title, svg);
  let shape = null;
  // a finger comes first to what is in sight, the keyboard goes everywhere
  const to = (cell) => [
    view,
    ...(ui.active()?.[0] === view ? cell : (shape.near?.(cell) ?? cell)),
  ];
  const cells =
    label &&
    pad(ui, svg, {
      label,
      key,
      to,
      from: ([at, ...cell]) => (at === view ? cell : null),
    });
  if (cells) svg.append(cells.node);
  function draw(next, words, geometry) {
    shape = next;
    set(svg, {
      width: shape.width,
      height: shape.height,
      "aria-label": !cells && words,
    });
    set(note, { text: words });
    fill(paths, shape.paths, "path");
    fill(texts, shape.texts, "text");
    cells?.draw({ ...shape, text: (cell) => sentence(geometry, to(cell)) });
  }
  return { node, draw };
}
