// The ledger: the numbers of one query, step by step, key by key.
import {
  grid,
  hatch,
  join,
  number,
  panel,
  quote,
  s,
  set,
  tokenText,
} from "../kit/index.mjs";
import { entry, place } from "./layout.mjs";

/** As long as the focus is elsewhere, the grid's tab stop is the picked cell. */
export function stopAt(node, [row, col]) {
  if (node.matches(":focus-within")) return;
  for (const cell of node.querySelectorAll("[data-row]")) {
    const { row: r, col: c } = cell.dataset;
    cell.tabIndex = Number(r) === row && Number(c) === col ? 0 : -1;
  }
}

const DASH = { key: "4 2", value: "1 2.5" };

/** The name of a line of the ledger, which the steps to come do not give away. */
function bandLabel(geometry, band) {
  const { wide, left, top } = geometry.ledger;
  const now = band.step === geometry.step;
  const middle = band.at + band.size / 2;
  const quiet = band.step > geometry.step ? "quiet" : "";
  return {
    text: `${now && wide ? "▸ " : ""}${band.label}`,
    transform: null,
    x: wide ? left - 8 : left + middle,
    y: wide ? top + middle : top - 12,
    "text-anchor": wide ? "end" : "middle",
    class: `token ${now ? "strong" : quiet}`,
  };
}

/** The token of a key: above its column, or slanted there, or before its row. */
function keyLabel({ ledger: frame, labels, tokens }, j, strong) {
  const { wide, left, top, bands } = frame;
  const at = place(frame, bands[0], j);
  const kind = `token key ${strong ? "strong" : ""}`;
  if (!wide)
    return {
      text: `${j + 1} ${tokenText(tokens[j], Math.max(2, frame.room))}`,
      x: left - 8,
      y: at.y + at.height / 2,
      "text-anchor": "end",
      transform: null,
      class: kind,
    };
  const [x, y] = [at.x + at.width / 2, top - 11];
  return {
    text: labels[j],
    x,
    y,
    "text-anchor": frame.flat ? "middle" : "start",
    transform: frame.flat ? null : `rotate(-45 ${x - 3} ${y})`,
    class: kind,
  };
}

const newBand = () =>
  s(
    "g",
    {},
    s("rect", { class: "box" }),
    s("path"),
    s("path"),
    s("text", { "text-anchor": "middle" }),
  );

function drawBand(node, geometry, band, pair) {
  const at = place(geometry.ledger, band, pair[1]);
  const {
    text = "",
    d,
    tone,
    fill = "transparent",
    ink,
    masked,
    quiet,
  } = entry(geometry, band, pair, at);
  const [rect, base, shape, label] = node.children;
  const middle = at.y + at.height / 2;
  set(node, {
    "data-part": band.part,
    class: masked ? "masked" : band.step === geometry.step && "now",
  });
  set(rect, { ...at, fill });
  set(base, {
    d: d && `M${at.x + 4} ${middle}h${at.width - 8}`,
    class: tone && `base ${tone}`,
    "stroke-dasharray": DASH[tone],
  });
  set(shape, {
    d: masked ? hatch(at.x, at.y, at.width, at.height) : d,
    class: masked ? "hatch" : tone,
  });
  set(label, {
    x: at.x + at.width / 2,
    y: middle,
    text,
    style: ink && `fill:${ink}`,
    class: quiet && "quiet",
  });
}

const newKey = () =>
  s(
    "g",
    { role: "gridcell" },
    s("rect", { fill: "transparent" }),
    s("rect", { class: "halo" }),
    s("rect", { class: "ring" }),
  );

/**
 * Where the cell of a key stands: in one row where the ledger is wide, else in one column.
 * @returns {[number, number]}
 */
const cellOf = ({ ledger: { wide } }, j) => (wide ? [0, j] : [j, 0]);

/** What a screen reader says of a key: only what the steps so far have brought. */
function keyName({ tokens, scores, scaled, open, weights, step }, [i, j]) {
  const known = [
    step > 1 && `q · k ${number(scores[i][j])}`,
    step > 2 && `scaled ${number(scaled[i][j])}`,
    step > 3 && (open[i][j] ? "may attend" : "may not attend"),
    step > 4 && `weight ${number(weights[i][j])}`,
  ].filter(Boolean);
  return [`key ${quote(tokens[j])}`, ...known].join(", ");
}

function drawKey(node, geometry, j, [i, active]) {
  const { ledger: frame } = geometry;
  const [room, halo, ring] = node.children;
  const [row, col] = cellOf(geometry, j);
  const held = geometry.held === `${[i, j]}`;
  set(node, {
    "data-row": row,
    "data-col": col,
    "aria-selected": String(held),
    "aria-label": keyName(geometry, [i, j]),
    class: [held && "locked", active === j && "active"].join(" "),
  });
  const { x, y } = place(frame, frame.bands[0], j);
  const end = place(frame, frame.bands.at(-1), j);
  const outline = (inset) => ({
    x: x + inset,
    y: y + inset,
    width: end.x + end.width - x - 2 * inset,
    height: end.y + end.height - y - 2 * inset,
  });
  set(room, outline(0));
  set(halo, outline(2.5));
  set(ring, outline(1));
}

function drawLabels(node, geometry, [, picked]) {
  const labels = [
    ...geometry.ledger.bands.map((band) => bandLabel(geometry, band)),
    ...geometry.tokens.map((_, j) => keyLabel(geometry, j, j === picked)),
  ];
  join(
    node,
    labels,
    (_, i) => i,
    () => s("text"),
    (text, label) => set(text, label),
  );
}

/** The numbers, drawn outside the cells, whose names say the same in words. */
function drawColumns(node, geometry, [i]) {
  join(
    node,
    geometry.tokens.map((_, j) => j),
    (j) => j,
    () => s("g"),
    (column, j) =>
      join(
        column,
        geometry.ledger.bands,
        (band) => band.name ?? band.part,
        newBand,
        (child, band) => drawBand(child, geometry, band, [i, j]),
      ),
  );
}

function drawKeys(node, geometry, pair) {
  const all = geometry.tokens.map((_, j) => j);
  join(
    node,
    geometry.ledger.wide ? [all] : all.map((j) => [j]),
    (row) => String(row),
    () => s("g", { role: "row" }),
    (row, keys) =>
      join(
        row,
        keys,
        (j) => j,
        newKey,
        (cell, j) => drawKey(cell, geometry, j, pair),
      ),
  );
}

/** { node, draw(geometry, pair) }: one tab stop, a column (or row) per key. */
export function ledger(ui) {
  const labels = s("g", { "aria-hidden": "true" });
  const columns = s("g", { "aria-hidden": "true" });
  const keys = s("g", { role: "presentation" });
  const picture = s(
    "svg",
    { role: "grid", "aria-label": "Steps, key by key" },
    labels,
    columns,
    keys,
  );
  const { node, note } = panel("One query", picture);
  let geometry = null;
  const pairAt = (cell) => cell && [geometry.pair[0], cell[0] + cell[1]];
  const cells = grid(node, {
    size: () => {
      const [row, col] = cellOf(geometry, geometry.tokens.length - 1);
      return [row + 1, col + 1];
    },
    locked: () => (geometry.state.locked ? cellOf(geometry, geometry.pair[1]) : null),
    hover: (cell) => ui.hover(pairAt(cell)),
    lock: (cell) => ui.lock(pairAt(cell)),
  });

  function draw(now, pair) {
    geometry = now;
    const { width, height } = geometry.ledger;
    set(note, { text: `${quote(geometry.tokens[pair[0]], 16)} against every key` });
    set(picture, { width, height });
    drawLabels(labels, geometry, pair);
    drawColumns(columns, geometry, pair);
    drawKeys(keys, geometry, pair);
    cells.update();
    stopAt(node, cellOf(geometry, geometry.pair[1]));
  }
  return { node, draw };
}
