// Where everything stands: the numbers of one query, one pair, the map. Pure: no DOM.
import {
  cividis,
  inkOn,
  matrixFrame,
  number,
  quote,
  tokenText,
} from "../kit/index.mjs";
import { sum } from "./model.mjs";
import { LAST } from "./numbers.mjs";

const TALL = 26; // height of a row of the map, of a line of numbers
const FITS = 37; // a cell of this width holds a number

const signs = (text) => [...text].length;

/** The lines of the ledger; in the narrow one they are columns. */
function bandsOf(root, wide) {
  const size = (w, n) => (wide ? w : n);
  return [
    wide && { part: "query", step: 0, kind: "bars", label: "q", size: 32 },
    { part: "key", step: 1, kind: "bars", label: "k", size: size(32, 30) },
    { part: "scores", step: 2, label: size("q · k", "q·k"), size: size(TALL, 40) },
    { part: "scale", step: 3, label: `÷${root}`, size: size(TALL, 40) },
    { part: "mask", step: 4, label: "mask", size: size(TALL, 33) },
    { part: "softmax", step: 5, label: size("softmax", "w"), size: size(TALL, 34) },
    wide && {
      part: "output",
      name: "value",
      step: 6,
      kind: "bars",
      label: "v",
      size: 32,
    },
    {
      part: "output",
      step: 6,
      kind: "bars",
      label: size("w × v", "w·v"),
      size: size(32, 30),
    },
  ].filter(Boolean);
}

export function frames(labels, root, width) {
  const rows = [...labels.map((text) => `▸${text}`), "▸ softmax"];
  const fitting = (room) =>
    matrixFrame({ rows, cols: labels, width: room, max: 72, min: 20 });
  const half = fitting(width / 2 - 14);
  const frame =
    half.cell >= FITS && 2 * half.width + 24 <= width ? half : fitting(width);
  const wide = frame.cell >= FITS;
  const bands = bandsOf(root, wide);
  let at = 0;
  for (const band of bands) {
    band.at = at;
    at += band.size;
  }
  if (wide) {
    const cut = Math.max(1, Math.floor((frame.cell - 4) / 7.5));
    const ledger = { ...frame, wide, bands, height: frame.top + at + 4 };
    const tall =
      frame === half ? Math.max(TALL, Math.min(frame.cell, at / labels.length)) : TALL;
    const map = { ...frame, flat: true, top: 26, tall };
    map.height = map.top + tall * labels.length + 6;
    return { ledger, map, heads: (token) => tokenText(token, cut), names: labels };
  }
  const names = labels.map((_, i) => String(i + 1));
  const map = matrixFrame({ rows: ["▸12"], cols: names, width, max: 30, min: 19 });
  map.height += map.cell * (names.length - 1);
  const longest = 3 + Math.max(...labels.map(signs));
  const left = Math.min(Math.max(50, width - at - 2), 14 + 7.5 * longest);
  const ledger = {
    wide,
    bands,
    left,
    top: 26,
    width: left + at + 2,
    height: 30 + 24 * labels.length,
    room: Math.floor((left - 8) / 7.5) - 1 - signs(names.at(-1)),
  };
  return { ledger, map, heads: (_, i) => names[i], names };
}

/** Where band and key meet in the ledger. */
export function place({ wide, left, top, cell }, band, j) {
  return wide
    ? { x: left + j * cell, y: top + band.at, width: cell, height: band.size }
    : { x: left + band.at, y: top + 24 * j, width: band.size, height: 24 };
}

export const largest = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));

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

/** What the close-up shows: three lines of numbers, one place per dimension. */
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

/** Texts with their places: side by side where there is room, else one below the other. */
export function closeUp(geometry, pair) {
  const { query, value, width } = geometry;
  const lines = closeLines(geometry, pair);
  const size = lines[2].values.map(Math.abs);
  const order = [...size.keys()].sort((a, b) => size[b] - size[a]);
  const most = width < 620 ? Math.max(4, query[0].length) : 12;
  const room = Math.min(12, most, Math.max(query[0].length, value[0].length));
  const dims = order.slice(0, room).sort((a, b) => a - b);
  const flat = 56 + (room + 1.3) * 42 <= width;
  const column = flat ? Math.min(72, (width - 58) / (room + 1.3)) : 56;
  const at = (line, place) =>
    flat
      ? { x: place < 0 ? 48 : 56 + (place + 0.5) * column, y: 10 + 20 * (line + 1) }
      : { x: 40 + (line + 0.5) * column, y: 12 + 20 * (place + 1) };
  const texts = dims.map((d, c) => ({
    text: String(d + 1),
    tone: "quiet",
    ...at(-1, c),
  }));
  lines.forEach((line, l) => {
    const { label, tone, strong, values, total } = line;
    const shown = (text) =>
      geometry.step < line.from ? { text: "·", tone: "quiet" } : { text, tone };
    texts.push({ text: label, tone, strong, ...at(l, -1), head: flat });
    dims.forEach((d, c) => texts.push({ ...shown(fit(values[d])), ...at(l, c) }));
    if (total !== undefined)
      texts.push({
        ...shown(is(total, ...values)),
        strong,
        ...at(l, dims.length + 0.15 * flat),
      });
  });
  return {
    lines,
    texts,
    width: flat ? 58 + (room + 1.3) * column : 40 + 3 * column,
    height: flat ? 80 : 24 + 20 * (room + 1),
    rest:
      size.length > room ? `, the ${room} largest of ${size.length} dimensions` : "",
  };
}

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
      : "weights come at softmax",
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
          (step < 4 || open[r][c] ? "" : ", may not look"),
      })),
    ),
  };
}
