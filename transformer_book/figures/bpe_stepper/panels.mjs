// The pictures of BPEStepper: the list of pairs, and those that only show.
import { fill, grid, join, panel, s, set } from "../kit/index.mjs";
import { ROWS, TALL, pairRow } from "./layout.mjs";
import { go } from "./steps.mjs";
import { named } from "./text.mjs";

/** All attributes, as `fill` keeps those that are not named. */
const plain = ({ text, x, y, class: kind = null, "text-anchor": anchor = null }) => ({
  text,
  x,
  y,
  class: kind,
  "text-anchor": anchor,
});

/** A titled picture of rectangles, lines and texts. */
export function picture(title, part) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  set(svg, { "data-part": part });
  const draw = ({ boxes = [], paths = [], texts, width, height }, words, label) => {
    set(svg, { width, height, "aria-label": label });
    set(note, { text: words });
    fill(parts[0], boxes, "rect");
    fill(parts[1], paths, "path");
    fill(parts[2], texts.map(plain), "text");
  };
  return { node, draw };
}

/** The list of pairs: one tab stop, a line for each pair. */
export function list(ui) {
  const svg = s("svg", {
    role: "grid",
    "aria-label": "Pairs, the most frequent first",
  });
  const { node, note } = panel("Pairs", svg);
  let geometry = { shown: [] };
  const pairAt = (cell) => geometry.shown[cell[0]]?.[0] ?? [];
  const key = ({ key }) => {
    const by = { "+": 1, "=": 1, "-": -1 }[key];
    if (by) ui.set(go(by)(ui.state()));
    return Boolean(by);
  };
  const cells = grid(node, {
    size: () => [Math.max(1, geometry.shown.length), 1],
    locked: () => {
      const row = geometry.shown.findIndex(
        ([pair]) => String(pair) === String(ui.locked()),
      );
      return row < 0 ? null : [row, 0];
    },
    hover: (cell) => ui.hover(cell && ["row", cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? pairAt(cell) : [] }),
    key,
  });
  const create = () =>
    s(
      "g",
      { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g")),
      s(
        "g",
        { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }),
        s("rect", { class: "halo" }),
        s("rect", { class: "ring" }),
      ),
    );
  function draw(next) {
    geometry = next;
    const { shown, ranked, room, step, now } = geometry;
    const active = String(geometry.pairOf(ui.active()));
    set(svg, { width: room, height: ROWS * TALL });
    set(note, {
      text:
        ranked.length > ROWS
          ? `the first ${ROWS} of ${ranked.length}; ties: smaller ids first`
          : "",
    });
    const none = {
      boxes: [],
      texts: [{ x: 30, y: TALL / 2, text: "no pair is left" }],
      box: { x: 0, y: 1, width: room, height: TALL - 2 },
    };
    join(
      svg,
      shown.length ? shown : [null],
      (_, r) => r,
      create,
      ({ children: [shown, cell] }, row, r) => {
        const shape = row ? pairRow(geometry, row, r) : none;
        const hold = row && String(row[0]) === String(ui.locked());
        set(cell, {
          "data-row": r,
          "aria-selected": String(Boolean(hold)),
          "aria-label": row
            ? row[0].map((id) => named(geometry.tokens[id])).join(" + ") +
              `, ${row[1]}×${r === 0 && now.pair ? `, merged next to ${256 + step}` : ""}`
            : "no pair is left",
          class:
            [hold && "locked", row && active === String(row[0]) && "active"]
              .filter(Boolean)
              .join(" ") || null,
        });
        fill(shown.firstChild, shape.boxes, "rect");
        fill(shown.lastChild, shape.texts.map(plain), "text");
        for (const rect of cell.children) set(rect, shape.box);
      },
    );
    cells.update();
  }
  set(svg, { "data-part": "pairs" });
  return { node, draw };
}
