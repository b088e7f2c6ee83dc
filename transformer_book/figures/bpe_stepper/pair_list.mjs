// The list of pairs: one tab stop, a line for each pair.
import { fill, grid, join, panel, s, set } from "../kit/index.mjs";
import { ROWS, ROW_HEIGHT, pairRow } from "./layout.mjs";
import { BYTES, goBy, isSame } from "./numbers.mjs";
import { textAttributes } from "./picture.mjs";
import { named } from "./text.mjs";

const STEPS = { "+": 1, "=": 1, "-": -1 };

const newRow = () =>
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

const nothing = (room) => ({
  boxes: [],
  texts: [{ x: 30, y: ROW_HEIGHT / 2, text: "no pairs left" }],
  box: { x: 0, y: 1, width: room, height: ROW_HEIGHT - 2 },
});

/** What a screen reader says of a line. */
function labelOf({ tokens, step, now }, row, r) {
  if (!row) return "no pairs left";
  const [pair, count] = row;
  const next = r === 0 && now.pair ? `, merged next to ${BYTES + step}` : "";
  return `${pair.map((id) => named(tokens[id])).join(" + ")}, ${count}×${next}`;
}

function drawRow({ geometry, locked, active }, { children }, row, r) {
  const [shown, cell] = children;
  const shape = row ? pairRow(geometry, row, r) : nothing(geometry.room);
  const isLocked = Boolean(row) && isSame(row[0], locked);
  const isActive = Boolean(row) && isSame(row[0], active);
  const looks = [isLocked && "locked", isActive && "active"].filter(Boolean);
  set(cell, {
    "data-row": r,
    "aria-selected": String(isLocked),
    "aria-label": labelOf(geometry, row, r),
    class: looks.join(" ") || null,
  });
  fill(shown.firstChild, shape.boxes, "rect");
  fill(shown.lastChild, shape.texts.map(textAttributes), "text");
  for (const rect of cell.children) set(rect, shape.box);
}

export function pairList(ui) {
  const svg = s("svg", {
    role: "grid",
    "aria-label": "Pairs, the most frequent first",
    "data-part": "pairs",
  });
  const { node, note } = panel("Pairs", svg);
  let shown = [];
  const cells = grid(node, {
    size: () => [Math.max(1, shown.length), 1],
    locked: () => {
      const row = shown.findIndex(([pair]) => isSame(pair, ui.locked()));
      return row < 0 ? null : [row, 0];
    },
    hover: (cell) => ui.hover(cell && ["row", cell[0]]),
    lock: (cell) => ui.set({ selected: (cell && shown[cell[0]]?.[0]) ?? [] }),
    key: ({ key }) => {
      const by = STEPS[key];
      if (by) ui.set(goBy(by)(ui.state()));
      return Boolean(by);
    },
  });
  const draw = (geometry) => {
    const { ranked, room } = geometry;
    shown = geometry.shown;
    const many = `${ROWS} of ${ranked.length}; ties: by left id, then right`;
    const held = {
      geometry,
      locked: ui.locked(),
      active: geometry.pairOf(ui.active()),
    };
    set(svg, { width: room, height: ROWS * ROW_HEIGHT });
    set(note, { text: ranked.length > ROWS ? many : "" });
    join(
      svg,
      shown.length ? shown : [null],
      (_, r) => r,
      newRow,
      (row, pair, r) => drawRow(held, row, pair, r),
    );
    cells.update();
  };
  return { node, draw };
}
