// Where everything stands: the two sides, their costs, the memory. Pure: no DOM.
import { hatch, number, scale, tokenText } from "../kit/index.mjs";
import { commas, compact } from "../shape_ledger/words.mjs";
import { POINTS, STEPS } from "./costs.mjs";
import { SAME, parting, sum } from "./words.mjs";

const [TALL, TOP] = [14, 86]; // of the grid: a row, what stands above
const box = (x, y, width, height) => `M${x} ${y}h${width}v${height}h${-width}z`;
const path = (d, kind) => ({ d, class: kind });
const word = (x, y, text, kind = null, anchor = null) =>
  ({ x, y, text, class: kind, "text-anchor": anchor });
const many = (list, draw) => list.map(draw).join("");

/** The room of the labels, the width of a column, and the most columns. */
export function frame({ first, half }) {
  const most = Math.max(4, first) + STEPS; // columns that the text can have
  const left = half < 260 ? 64 : 92;
  const wide = Math.min(20, ((half - left - 2) / most) | 0);
  return { left, wide, most, height: TOP + most * TALL + 42 };
}

/** Which rows are computed in this step: all, or the last. */
const fresh = ({ length, step }, side, row) => side === 0 || step === 0 || row === length - 1;

/** Paths by their class: what is computed, masked, kept, gone. */
function cells(geometry, side, { left, wide }) {
  const { length } = geometry;
  const all = [...Array(length).keys()];
  const now = all.filter((i) => fresh(geometry, side, i));
  const old = all.filter((i) => !now.includes(i));
  const [x, y] = [(i) => left + i * wide, (i) => TOP + i * TALL];
  const strip = (top) => (i) => box(x(i), top, wide - 1, 16);
  const row = (i) => many(all.slice(0, i + 1), (j) => box(x(j), y(i), wide - 1, TALL - 1));
  const masked = (i) =>
    i + 1 < length ? hatch(x(i + 1), y(i), (length - i - 1) * wide - 1, TALL - 1, 6) : "";
  const query = (i) => box(left - 12, y(i), 9, TALL - 1);
  return [
    ["gone", many(old, row) + many(old, query)],
    ["masked", many(now, masked)],
    ["done", many(now, row)],
    ["query", many(now, query)],
    ["key kept", many(old, strip(TOP - 40))],
    ["value kept", many(old, strip(TOP - 22))],
    ["key", many(now, strip(TOP - 40))],
    ["value", many(now, strip(TOP - 22))],
  ].map(([kind, d]) => path(d, kind));
}

/** Whether both sides answer the same. */
const verdict = (geometry) =>
  `${geometry.gaps[geometry.step] < SAME && parting(geometry) < 0 ? "✓ the same" : "✗ other"} logits`;

/** One side: { paths, texts, width, height, pick, box }. */
export function side(geometry, view) {
  const { half, first, step, length, texts, cost, each } = geometry;
  const size = frame(geometry);
  const { left, wide, most, height } = size;
  const own = cost(view, step);
  const bar = (half * own) / (cost(0, step) || 1);
  const y = (i) => TOP + i * TALL;
  const label = (token, i) => word(
    left - 17, y(i) + 6.5,
    (token === texts[0][i] ? "" : "✗") + tokenText(token, (left - 17) >> 3).replaceAll(" ", "␣"),
    `token${i < first ? "" : " strong"}${fresh(geometry, view, i) ? "" : " quiet"}`, "end",
  );
  const words = [
    word(0, 12, compact(own), "number strong"),
    word(left - 6, 14, "multiply-adds"),
    word(left - 14, TOP - 32, "K", "key strong", "end"),
    word(left - 14, TOP - 14, "V", "value strong", "end"),
    word(left - 2, TOP - 8, "Q", "query strong", "end"),
    ...texts[view].map(label),
    word(0, y(most) + 14, `keeps ${view ? `${compact(length * each, " ")}B` : "nothing"}`),
    word(0, y(most) + 33, view && first ? verdict(geometry) : "", "strong"),
  ];
  const inside = (i) => i >= 0 && i < length;
  return {
    paths: [path(box(0, 27, half, 9), "work"), path(box(0, 27, bar, 9), "done"), ...cells(geometry, view, size)],
    texts: words, width: half, height,
    pick(px, py) {
      const cell = [Math.floor((py - TOP) / TALL), Math.floor((px - left) / wide)];
      return cell.every(inside) ? cell : null;
    },
    box: ([row, column]) => ({ x: left + column * wide, y: y(row), width: wide - 1, height: TALL - 1 }),
  };
}

/** Multiply-adds of each step on both sides, those to come in outline. */
export function bars(geometry) {
  const { full: half, step, cost, most } = geometry;
  const [wide, low] = [half / (STEPS + 1), 72];
  const y = scale([0, cost(0, most)], [low, 4]);
  const place = (s, side) => (s + side * 0.42) * wide;
  const paths = [path(`M0 ${low}H${half}`, "axis")];
  const texts = [word(0, low + 30, "filled without, outlined with; 0: prefill", "quiet")];
  for (let s = 0; s <= most; s++) {
    texts.push(word(place(s, 1), low + 12, s, s === step ? "strong" : "quiet", "middle"));
    for (const side of [0, 1]) {
      const top = y(cost(side, s));
      paths.push(path(box(place(s, side), top, wide * 0.38, low - top), `bar side${side}${s > step ? " later" : ""}`));
    }
  }
  return { paths, texts, width: half, height: low + 38 };
}

/** Bytes against length, a line for each way to share keys and values. */
export function memory(geometry) {
  const { full: half, shown, memories, length, state } = geometry;
  const [left, right, low, high] = [4, half - 100, 96, 12];
  const x = scale([0, shown.max_len], [left, right]);
  const y = scale([0, memories[0].bytes * shown.max_len], [low, high]);
  const at = (column) => Math.floor((column * shown.max_len) / POINTS);
  const ends = memories.map(({ bytes }) => bytes * shown.max_len);
  const paths = memories.map(({ own, kind }, i) =>
    path(`M${left} ${low}L${right} ${y(ends[i])}`, `line ${kind}${own ? " own" : ""}`));
  if (state.memory === "own") paths.push(path(`M${x(length)} ${low}V${high}`, "now"));
  const texts = [
    ...memories.map(({ kind, own }, i) =>
      word(right + 6, y(ends[i]), `${kind} ${compact(ends[i], " ")}B`, own ? "strong" : "quiet")),
    ...[0, 0.5, 1].map((part, i) =>
      word(x(part * shown.max_len), low + 12, commas(Math.round(part * shown.max_len)), "quiet", ["start", "middle", "end"][i])),
    word(right + 6, low + 12, "tokens →", "quiet"),
  ];
  const place = ([row, column]) => [x(at(column)), y(at(column) * memories[row].bytes)];
  return {
    paths: [path(`M${left} ${low}H${right}`, "axis"), ...paths], texts, width: half, height: low + 24,
    rows: memories.length, cols: POINTS + 1,
    pick(px, py) {
      const column = Math.round(((px - left) / (right - left)) * POINTS);
      if (column < 0 || column > POINTS || py > low + 8) return null;
      const away = memories.map((_, row) => Math.abs(place([row, column])[1] - py));
      return [away.indexOf(Math.min(...away)), column];
    },
    box(cell) {
      const [cx, cy] = place(cell);
      return { x: cx - 4, y: cy - 4, width: 8, height: 8 };
    },
  };
}

/** How the whole compares, for the title of the costs. */
export function total(geometry) {
  const [without, own] = [0, 1].map((side) => sum(geometry, side));
  return `${compact(without)} against ${compact(own)}: ${number(without / own, 1)} times less`;
}
