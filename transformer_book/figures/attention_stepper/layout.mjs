// Where everything stands: the numbers of one query, one pair, the map. Pure: no DOM.
import {
  cividis,
  follow,
  inkOn,
  keep,
  matrixFrame,
  number,
  quote,
  sum,
  tokenText,
} from "../kit/index.mjs";
import { LAST, numbers, pairOf } from "./numbers.mjs";
import { given } from "./word_model.mjs";
import limits from "./limits.json" with { type: "json" };

const TALL = 26; // height of a row of the map, of a line of numbers
const ROW = 24; // height of a key's row in the narrow ledger
const FITS = 37; // a cell of this width holds a number
const LETTER = 7.5; // width of a letter of a token

const signs = (text) => [...text].length;

/** The lines of the ledger with the place where each begins; in the narrow one, columns. */
function bandsOf(root, wide) {
  const size = (w, n) => (wide ? w : n);
  const bands = [
    wide && { part: "query", step: 0, label: "q", size: 32 },
    { part: "key", step: 1, label: "k", size: size(32, 30) },
    { part: "scores", step: 2, label: size("q · k", "q·k"), size: size(TALL, 40) },
    { part: "scale", step: 3, label: `÷${root}`, size: size(TALL, 40) },
    { part: "mask", step: 4, label: "mask", size: size(TALL, 33) },
    { part: "softmax", step: 5, label: size("softmax", "w"), size: size(TALL, 34) },
    wide && { part: "output", name: "value", step: 6, label: "v", size: 32 },
    { part: "output", step: 6, label: size("w × v", "w·v"), size: size(32, 30) },
  ].filter(Boolean);
  let end = 0;
  const placed = bands.map((band) => ({ ...band, at: (end += band.size) - band.size }));
  return { bands: placed, end };
}

/** Columns of keys, with room for numbers in the cells of the map too. */
function wideFrames(labels, root, frame, beside) {
  const { bands, end } = bandsOf(root, true);
  const cut = Math.max(1, Math.floor((frame.cell - 4) / LETTER));
  const ledger = { ...frame, wide: true, bands, height: frame.top + end + 4 };
  const tall = beside
    ? Math.max(TALL, Math.min(frame.cell, end / labels.length))
    : TALL;
  const height = 26 + tall * labels.length + 6;
  const map = { ...frame, flat: true, top: 26, tall, height };
  return { ledger, map, heads: (token) => tokenText(token, cut), names: labels };
}

/** Rows of keys, and a map whose keys have numbers for names. */
function narrowFrames(labels, root, width) {
  const { bands, end } = bandsOf(root, false);
  const names = labels.map((_, i) => String(i + 1));
  const map = matrixFrame({ rows: ["▸12"], cols: names, width, max: 30, min: 19 });
  map.height += map.cell * (names.length - 1);
  const longest = 3 + Math.max(...labels.map(signs));
  const left = Math.min(Math.max(50, width - end - 2), 14 + LETTER * longest);
  const ledger = {
    wide: false,
    bands,
    left,
    top: 26,
    width: left + end + 2,
    height: 30 + ROW * labels.length,
    room: Math.floor((left - 8) / LETTER) - 1 - signs(names.at(-1)),
  };
  return { ledger, map, heads: (_, i) => names[i], names };
}

/** Ledger and map: side by side if both fit, else one below the other. */
function frames(labels, root, width) {
  const rows = [...labels.map((text) => `▸${text}`), "▸ softmax"];
  const fitting = (room) =>
    matrixFrame({ rows, cols: labels, width: room, max: 72, min: 20 });
  const half = fitting(width / 2 - 14);
  const beside = half.cell >= FITS && 2 * half.width + 24 <= width;
  const frame = beside ? half : fitting(width);
  return frame.cell >= FITS
    ? wideFrames(labels, root, frame, beside)
    : narrowFrames(labels, root, width);
}

/** Where band and key meet in the ledger. */
export function place({ wide, left, top, cell }, band, j) {
  return wide
    ? { x: left + j * cell, y: top + band.at, width: cell, height: band.size }
    : { x: left + band.at, y: top + ROW * j, width: band.size, height: ROW };
}

const largest = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));

/** One bar per number, up for positive and down for negative, as a path. */
function bars(values, most, { x, y, width, height }) {
  const [inner, middle] = [width - 8, y + height / 2];
  const step = inner / values.length;
  return values
    .map((value, d) => {
      const left = number(x + 4 + d * step);
      const top = number(middle - (value / most) * (height / 2 - 2));
      return `M${left} ${middle}V${top}h${number(step * 0.8)}V${middle}z`;
    })
    .join("");
}

/** A number in at most five signs. */
export function fit(x) {
  const size = Math.abs(x);
  return size < 1e4
    ? number(x, size < 9.995 ? 2 : size < 99.95 ? 1 : 0)
    : x.toExponential(0);
}

/** "= 2.60", or "≈ 2.60" where it, or what it is made from, is shown with too few digits. */
export const is = (x, ...from) =>
  `${[x, ...from].every((y) => Math.abs(y - fit(y)) < 1e-9) ? "=" : "≈"} ${fit(x)}`;

/** Text, fill and bars of one cell of the ledger; nothing before its step has come. */
export function entry(geometry, band, [i, j], at) {
  const { query, key, value, scores, scaled, open, weights, most } = geometry;
  if (band.step > geometry.step) return { text: "·", quiet: true };
  const shapes = {
    query: () => ({ d: bars(query[i], most.match, at), tone: "query" }),
    key: () => ({ d: bars(key[j], most.match, at), tone: "key" }),
    value: () => ({ d: bars(value[j], most.value, at), tone: "value" }),
    output: () => ({
      d: bars(
        value[j].map((x) => x * weights[i][j]),
        most.value,
        at,
      ),
      tone: "value",
    }),
    scores: () => ({ text: fit(scores[i][j]) }),
    scale: () => ({ text: fit(scaled[i][j]) }),
    mask: () => ({
      text: open[i][j] ? (geometry.ledger.wide ? fit(scaled[i][j]) : "✓") : "-inf",
      masked: !open[i][j],
    }),
    softmax: () =>
      open[i][j]
        ? {
            text: number(weights[i][j]),
            fill: cividis(weights[i][j]),
            ink: inkOn(weights[i][j]),
          }
        : { text: "0", masked: true },
  };
  return shapes[band.name ?? band.part]();
}

/**
 * A line of the close-up, of one number per dimension; it is seen from step `from` on.
 * @typedef {{ label: string, values: number[], total?: number, from?: number,
 *   tone?: string, strong?: boolean }} Line
 * @typedef {{ text: string, x: number, y: number, tone?: string, strong?: boolean,
 *   head?: boolean }} Text
 */

/**
 * What the close-up shows: three lines of numbers, one place per dimension.
 * @returns {Line[]}
 */
function closeLines({ query, key, value, weights, output, step }, [i, j]) {
  if (step === LAST) {
    const part = value[j].map((x) => x * weights[i][j]);
    return [
      { label: "v", tone: "value", values: value[j] },
      { label: "w × v", values: part },
      { label: "output", values: output[i], strong: true },
    ];
  }
  const products = query[i].map((x, d) => x * key[j][d]);
  return [
    { label: "q", tone: "query", values: query[i] },
    { label: "k", tone: "key", values: key[j], from: 1 },
    { label: "q × k", values: products, from: 2, total: sum(products), strong: true },
  ];
}

/** Dimensions with the largest products, as many as there is room for, in their order. */
function largestDimensions(values, room) {
  const size = values.map(Math.abs);
  const order = [...size.keys()].sort((a, b) => size[b] - size[a]);
  return order.slice(0, room).sort((a, b) => a - b);
}

/** Texts with their places: side by side where there is room, else one below the other. */
export function closeUp(geometry, pair) {
  const { query, value, width, step } = geometry;
  const lines = closeLines(geometry, pair);
  const most = width < 620 ? Math.max(4, query[0].length) : 12;
  const room = Math.min(12, most, Math.max(query[0].length, value[0].length));
  const dims = largestDimensions(lines[2].values, room);
  const all = lines[2].values.length;
  const flat = 56 + (room + 1.3) * 42 <= width;
  const column = flat ? Math.min(72, (width - 58) / (room + 1.3)) : 56;
  const at = (line, place) =>
    flat
      ? { x: place < 0 ? 48 : 56 + (place + 0.5) * column, y: 10 + 20 * (line + 1) }
      : { x: 40 + (line + 0.5) * column, y: 12 + 20 * (place + 1) };
  /** @returns {Text[]} */
  const textsOf = (/** @type {Line} */ line, l) => {
    const { label, tone, strong, values, total, from = 0 } = line;
    const shown = (text) =>
      step < from ? { text: "·", tone: "quiet" } : { text, tone };
    const sum = total !== undefined && {
      ...shown(is(total, ...values)),
      strong,
      ...at(l, dims.length + (flat ? 0.15 : 0)),
    };
    return [
      { text: label, tone, strong, ...at(l, -1), head: flat },
      ...dims.map((d, c) => ({ ...shown(fit(values[d])), ...at(l, c) })),
      ...(sum ? [sum] : []),
    ];
  };
  /** @type {Text[]} */
  const heads = dims.map((d, c) => ({
    text: String(d + 1),
    tone: "quiet",
    ...at(-1, c),
  }));
  return {
    lines,
    texts: [...heads, ...lines.flatMap(textsOf)],
    width: flat ? 58 + (room + 1.3) * column : 40 + 3 * column,
    height: flat ? 80 : 24 + 20 * (room + 1),
    rest: all > room ? `, ${room} of ${all} dimensions` : "",
  };
}

/** The map of all weights, as the kit's matrix takes it. */
export function mapData(geometry, active) {
  const { tokens, weights, open, map, heads, names, step } = geometry;
  const [i, j] = active;
  const done = step > 4; // nothing of a step that is to come
  const label = (kind) => (token, c) => ({
    text: kind === "key" ? heads(token, c) : `${c === i ? "▸" : ""}${names[c]}`,
    kind,
    label: `${kind} ${quote(token)}`,
  });
  return {
    frame: map,
    rows: tokens.map(label("query")),
    cols: tokens.map(label("key")),
    note: done
      ? `weight of ${quote(tokens[i], 12)} → ${quote(tokens[j], 12)}: ${number(weights[i][j])}`
      : "weights appear at softmax",
    cells: weights.map((row, r) =>
      row.map((w, c) => ({
        text: done && open[r][c] ? number(w) : "",
        masked: step > 3 && !open[r][c],
        area: done && w,
        part: r === i ? "softmax" : undefined,
        fill: done && open[r][c] ? cividis(w) : "transparent",
        ink: inkOn(w),
        label:
          `query ${quote(tokens[r])}, key ${quote(tokens[c])}` +
          (done ? `: weight ${number(w)}` : "") +
          (step < 4 || open[r][c] ? "" : ", may not attend"),
      })),
    ),
  };
}

/** Refuses what cannot be drawn; returns the vectors that the page shows. */
function check(state) {
  const { tokens, query, key, value, mask, ...own } = limits;
  // what follows from the model does not count
  keep(state.model ? { ...state, query: 0, key: 0, value: 0 } : state, own);
  const read = given(state);
  follow({ ...state, ...read }, { tokens, query, key, value, mask });
  return read;
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, width = 680) {
  const vectors = check(state);
  const { tokens, query, key, value } = vectors;
  const root = `√${query[0].length}`;
  const labels = tokens.map((token) => tokenText(token, 10));
  return {
    ...vectors,
    ...numbers(vectors, state),
    ...frames(labels, root, width),
    state,
    width,
    labels,
    root,
    step: state.step,
    pair: pairOf(state),
    held: state.locked && `${pairOf(state)}`,
    most: { match: largest([...query, ...key]), value: largest(value) },
  };
}
