// A grid over a picture of any size that keeps only one cell in the page: the one the
// reader is at. For heatmaps and curves with thousands of points.
import { clamp, keys, same } from "./grid.mjs";
import { s, set } from "./dom.mjs";

const mark = () => [s("rect", { class: "halo" }), s("rect", { class: "ring" })];
const around = ({ x, y, width, height }, by) => ({
  x: x - by,
  y: y - by,
  width: width + 2 * by,
  height: height + 2 * by,
});

/** The nodes of a pad: the cell the reader is at, and the one that is held. */
function parts(label) {
  const hit = s("rect", { fill: "transparent" });
  const spot = s("g", { role: "gridcell", tabindex: "0" }, hit, ...mark());
  const held = s("g", { "aria-hidden": "true" }, ...mark());
  const line = s("g", { role: "row" }, spot);
  const table = s("g", { role: "grid", "aria-label": label }, line);
  return { hit, spot, held, line, table, node: s("g", {}, held, table) };
}

/** Puts the halo and the ring of a group around a box. */
function encircle(group, box) {
  const [halo, ring] = [...group.children].slice(-2);
  set(halo, around(box, 2.5));
  set(ring, around(box, 1));
}

/**
 * pad(ui, svg, { label, to(cell) -> active, from(active) -> cell or null, key(event, cell) }):
 * cells are [row, col], `active` is what the figure's hover, lock and locked speak of.
 * -> { node, draw({ rows, cols, pick(x, y) -> cell or null, box(cell), text(cell) }) }.
 */
export function pad(ui, svg, { label, to, from, key = () => false }) {
  let shape = null;
  let at = [0, 0];
  const { hit, spot, held, line, table, node } = parts(label);
  const cellOf = (active) => active && from(active);
  /** @returns {[number, number]} */
  const size = () => [shape.rows, shape.cols];
  const hover = (cell) => ui.hover(cell && to(cell));
  const cellAt = ({ clientX, clientY }) => {
    const { left, top } = svg.getBoundingClientRect();
    return shape.pick(clientX - left, clientY - top);
  };

  svg.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") hover(cellAt(event));
  });
  svg.addEventListener("pointerleave", () => hover(null));
  svg.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    at = cell;
    ui.lock(same(cell, cellOf(ui.locked())) ? null : to(cell));
    spot.focus({ preventScroll: true });
  });
  spot.addEventListener("focus", () => hover(at));
  spot.addEventListener("blur", () => hover(null));
  keys(spot, {
    size,
    here: () => at,
    go: (cell) => {
      at = cell;
      hover(at);
      queueMicrotask(() => spot.scrollIntoView({ block: "nearest" })); // where it is painted
    },
    hold: (cell) => ui.lock(to(cell)),
    leave: () => {
      ui.lock(null);
      hover(null);
    },
    key,
  });

  function draw(next) {
    shape = next;
    const [now, hold] = [cellOf(ui.active()), cellOf(ui.locked())];
    at = clamp(now ?? at, size());
    set(table, { "aria-rowcount": shape.rows, "aria-colcount": shape.cols });
    set(line, { "aria-rowindex": at[0] + 1 });
    set(spot, {
      "data-row": at[0],
      "data-col": at[1],
      "aria-colindex": at[1] + 1,
      "aria-label": shape.text(at),
      "aria-selected": String(same(at, hold)),
      class: now ? "active" : null,
    });
    set(held, { class: hold && `locked ${now && same(at, hold) ? "active" : ""}` });
    encircle(spot, shape.box(at));
    encircle(held, shape.box(hold ?? at));
    set(hit, shape.box(at));
  }
  return { node, draw };
}
