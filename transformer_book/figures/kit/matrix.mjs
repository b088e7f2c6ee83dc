// A token-by-token matrix as an accessible SVG grid: the figures' common picture.
import { h, join, s, set } from "./dom.mjs";
import { grid } from "./grid.mjs";
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

/**
 * matrix(ui, { title, label, key(event, cell), lock(cell or null), locked(state) }),
 * the last two by default the figure's own,
 * -> { node, draw(data, view) }; data = { frame (matrixFrame), rows, cols, cells, note,
 * sums }: rows, cols = [{ text, label, kind: "query" }], cells[row][col] =
 * { text, label, fill, ink, masked, area, part }, sums = [{ text, label }] or absent.
 */
export function matrix(ui, { title, label, key, lock = ui.lock, locked = ui.locked }) {
  const picture = s("svg", { role: "grid", "aria-label": label });
  const { node, note } = panel(title, picture);
  let data = { cells: [[]] };
  const cells = grid(node, {
    size: () => [data.cells.length, data.cells[0].length],
    locked: () => locked(ui.state()),
    hover: ui.hover,
    lock,
    key,
  });

  function header(row, { frame, cols, sums }, active) {
    const all = sums
      ? [...cols, { text: "sum", label: "sum of the row", kind: "quiet" }]
      : cols;
    join(
      row,
      all,
      (_, i) => i,
      newLabel,
      (text, col, i) => {
        const x = middle(i, frame, cols.length);
        const slanted = !frame.flat && i < cols.length;
        set(text, {
          x,
          y: frame.top - 11,
          text: col.text,
          role: "columnheader",
          "aria-label": col.label,
          "text-anchor": slanted ? "start" : "middle",
          transform: slanted ? `rotate(-45 ${x - 3} ${frame.top - 11})` : null,
          class: `token ${col.kind ?? ""} ${active?.[1] === i ? "strong" : ""}`,
        });
      },
    );
  }

  function body(row, r, view) {
    const { frame, rows, cells: all, sums } = data;
    const tall = frame.tall ?? frame.cell; // frame.tall: rows lower than a cell is wide
    const y = frame.top + r * tall;
    const active = ui.active(view);
    const hold = locked(ui.state());
    const items = [{ kind: "head" }, ...all[r], ...(sums ? [{ kind: "sum" }] : [])];
    join(
      row,
      items,
      (item, i) => `${item.kind ?? ""}${i}`,
      (item) => (item.kind ? newLabel() : newCell()),
      (child, item, i) => {
        const at = { y: y + tall / 2 };
        if (item.kind === "head")
          set(child, {
            ...at,
            x: frame.left - 8,
            "text-anchor": "end",
            role: "rowheader",
            text: rows[r].text,
            "aria-label": rows[r].label,
            class: `token ${rows[r].kind ?? ""} ${active?.[0] === r ? "strong" : ""}`,
          });
        else if (item.kind === "sum")
          set(child, {
            ...at,
            x: middle(i - 1, frame, all[r].length),
            "text-anchor": "middle",
            role: "gridcell",
            text: sums[r].text,
            "aria-label": sums[r].label,
            class: `token ${sums[r].strong ? "strong" : ""}`,
            "data-part": sums[r].part ?? null,
          });
        else
          drawCell(
            child,
            { ...item, row: r, col: i - 1 },
            {
              x: frame.left + (i - 1) * frame.cell,
              y,
              side: frame.cell,
              tall,
              active: active?.[0] === r && active[1] === i - 1,
              locked: hold?.[0] === r && hold[1] === i - 1,
            },
          );
      },
    );
  }

  function draw(geometry, view) {
    data = geometry;
    const { frame } = data;
    set(note, { text: data.note ?? "" });
    set(picture, {
      width: frame.width,
      height: frame.height,
      viewBox: `0 0 ${frame.width} ${frame.height}`,
    });
    const lines = ["axes", "header", ...data.cells];
    const create = (_, i) =>
      s("g", i === 0 ? { class: "axis", "aria-hidden": "true" } : { role: "row" });
    join(
      picture,
      lines,
      (_, i) => i,
      create,
      (row, _, i) => {
        if (i === 0) axes(row, data);
        else if (i === 1) header(row, data, ui.active(view));
        else body(row, i - 2, view);
      },
    );
    cells.update();
  }
  return { node, draw };
}
