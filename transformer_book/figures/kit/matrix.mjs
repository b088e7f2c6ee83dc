// A token-by-token matrix as an accessible SVG grid: the figures' common picture.
import { h, join, s, set } from "./dom.mjs";
import { grid, same } from "./grid.mjs";
import { hatch } from "./geometry.mjs";

/** A titled box around a picture: { node, note }; note.textContent is free. */
export function panel(title, picture) {
  const note = h("small");
  const heading = h("p", { class: "title" }, h("b", { text: `${title} ` }), note);
  const node = h(
    "div",
    { class: "panel" },
    heading,
    h("div", { class: "scroll" }, picture),
  );
  return { node, note };
}

const box = (x, y, side, tall, inset) => ({
  x: x + inset,
  y: y + inset,
  width: side - 2 * inset,
  height: tall - 2 * inset,
});

function newCell() {
  return s(
    "g",
    { role: "gridcell" },
    s("rect", { class: "box" }),
    s("rect", { class: "area" }),
    s("path", { class: "hatch" }),
    s("text", { "text-anchor": "middle" }),
    s("rect", { class: "halo" }),
    s("rect", { class: "ring" }),
  );
}

function drawCell(node, cell, { x, y, side, tall, active, locked }) {
  const [rect, area, lines, text, halo, ring] = node.children;
  const weight = Math.max(0, Math.min(1, cell.area ?? 0));
  set(node, {
    "data-row": cell.row,
    "data-col": cell.col,
    "aria-label": cell.label,
    "aria-selected": String(locked),
    "data-part": cell.part ?? null,
    class:
      [locked && "locked", active && "active", cell.masked && "masked"]
        .filter(Boolean)
        .join(" ") || null,
  });
  set(rect, { ...box(x, y, side, tall, 0), fill: cell.fill ?? "transparent" });
  set(area, {
    x: x + 3,
    y: y + tall - 7,
    width: Math.max(0, (side - 6) * weight),
    height: 4,
  });
  set(lines, { d: cell.masked ? hatch(x, y, side, tall) : null });
  set(text, {
    x: x + side / 2,
    y: y + tall / 2,
    text: side >= 32 ? cell.text : "",
    style: cell.ink && `fill:${cell.ink}`,
    "font-size": side >= 40 ? "13" : "12",
  });
  set(halo, box(x, y, side, tall, 3.5));
  set(ring, box(x, y, side, tall, 2));
}

/** Middle of column i; the columns beside the n cells may be wider. */
const middle = (i, { left, cell, beside }, n) =>
  i < n ? left + (i + 0.5) * cell : left + n * cell + (i - n + 0.5) * beside;

/** Which way the queries and the keys go: a letter and a line of its kind for each. */
function axes(node, { frame, rows, cols }) {
  const { left, top, cell } = frame;
  const tall = frame.tall ?? cell;
  const [down, right] = [top + tall * rows.length, left + cell * cols.length];
  const signs = [
    ["query", `M${left} ${top}V${down}`, "Q↓", left - 30],
    ["key", `M${left} ${top}H${right}`, "K→", left - 6],
  ].filter(([kind]) => [rows[0].kind, cols[0].kind].includes(kind));
  join(
    node,
    signs,
    ([kind]) => kind,
    () => s("g", {}, s("path"), s("text")),
    ({ children: [path, text] }, [kind, d, sign, x]) => {
      set(path, { d, class: kind });
      set(text, { x, y: top - 11, text: sign, class: kind, "text-anchor": "end" });
    },
  );
}

const newLabel = () => s("text", { class: "token" });

/** The labels of the columns, slanted where they would not fit. */
function drawHeader(row, { frame, cols, sums }, active) {
  const sum = { text: "sum", label: "sum of the row", kind: "quiet" };
  join(
    row,
    sums ? [...cols, sum] : cols,
    (_, i) => i,
    newLabel,
    (text, col, i) => {
      const [x, y] = [middle(i, frame, cols.length), frame.top - 11];
      const slanted = !frame.flat && i < cols.length;
      set(text, {
        x,
        y,
        text: col.text,
        role: "columnheader",
        "aria-label": col.label,
        "text-anchor": slanted ? "start" : "middle",
        transform: slanted ? `rotate(-45 ${x - 3} ${y})` : null,
        class: `token ${col.kind ?? ""} ${active?.[1] === i ? "strong" : ""}`,
      });
    },
  );
}

const drawLabel = (node, { text, label, kind }, frame, y, strong) =>
  set(node, {
    x: frame.left - 8,
    y,
    "text-anchor": "end",
    role: "rowheader",
    text,
    "aria-label": label,
    class: `token ${kind ?? ""} ${strong ? "strong" : ""}`,
  });

const drawSum = (node, { text, label, strong, part }, x, y) =>
  set(node, {
    x,
    y,
    "text-anchor": "middle",
    role: "gridcell",
    text,
    "aria-label": label,
    class: `token ${strong ? "strong" : ""}`,
    "data-part": part ?? null,
  });

/** Row r: its label, its cells, its sum. `active` and `hold` are cells or null. */
function drawRow(row, r, { frame, rows, cells, sums }, active, hold) {
  const tall = frame.tall ?? frame.cell; // frame.tall: rows lower than a cell is wide
  const y = frame.top + r * tall;
  const items = [{ kind: "head" }, ...cells[r], ...(sums ? [{ kind: "sum" }] : [])];
  join(
    row,
    items,
    (item, i) => `${item.kind ?? ""}${i}`,
    (item) => (item.kind ? newLabel() : newCell()),
    (child, item, i) => {
      const [col, center] = [i - 1, y + tall / 2];
      if (item.kind === "head")
        drawLabel(child, rows[r], frame, center, active?.[0] === r);
      else if (item.kind === "sum")
        drawSum(child, sums[r], middle(col, frame, cells[r].length), center);
      else
        drawCell(
          child,
          { ...item, row: r, col },
          {
            x: frame.left + col * frame.cell,
            y,
            side: frame.cell,
            tall,
            active: same(active, [r, col]),
            locked: same(hold, [r, col]),
          },
        );
    },
  );
}

/**
 * matrix(ui, { title, label, key(event, cell), lock(cell or null), locked(state) }),
 * the last two by default the figure's own,
 * -> { node, draw(data, view) }; data = { frame (matrixFrame), rows, cols, cells, note,
 * sums }: rows, cols = [{ text, label, kind: "query" }], cells[row][col] =
 * { text, label, fill, ink, masked, area, part }, sums = [{ text, label }] or absent.
 */
export function matrix(
  ui,
  { title, label, key = undefined, lock = ui.lock, locked = ui.locked },
) {
  const picture = s("svg", { role: "grid", "aria-label": label });
  const { node, note } = panel(title, picture);
  let size = [1, 0];
  const cells = grid(node, {
    size: () => size,
    locked: () => locked(ui.state()),
    hover: ui.hover,
    lock,
    key,
  });

  function draw(data, view) {
    const { width, height } = data.frame;
    size = [data.cells.length, data.cells[0].length];
    set(note, { text: data.note ?? "" });
    set(picture, { width, height, viewBox: `0 0 ${width} ${height}` });
    const [active, hold] = [ui.active(view), locked(ui.state())];
    join(
      picture,
      ["axes", "header", ...data.cells],
      (_, i) => i,
      (_, i) =>
        s("g", i === 0 ? { class: "axis", "aria-hidden": "true" } : { role: "row" }),
      (row, _, i) => {
        if (i === 0) axes(row, data);
        else if (i === 1) drawHeader(row, data, active);
        else drawRow(row, i - 2, data, active, hold);
      },
    );
    cells.update();
  }
  return { node, draw };
}
