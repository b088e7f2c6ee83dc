// Where everything stands: heatmaps, curves, the words. Pure: no DOM.
import { line, scale, short, tokenText } from "../kit/index.mjs";
import { scoreBias, times } from "./values.mjs";
import { pace } from "./words.mjs";

const STEPS = 10; // shades on each side of zero
const [LEFT, RIGHT] = [48, 80]; // room for numbers and for the names of the curves
const SIGN = 7.6; // width of one monospace sign
const DASHES = [null, "9 4", "2 3", "9 2 2 2", "5 2"];

const digits = (x) => short(x, Math.abs(x) >= 0.1 ? 2 : 3);
const largest = (rows) => Math.max(...rows.flat().map(Math.abs)) || 1;
const range = (n) => times(n, (i) => i);

/** Whole pixels between `count` bands from `start` on. */
const edges = (start, count, size) => times(count + 1, (i) => Math.round(start + (i * size) / count));
const bands = (all) => all.slice(1).map((end, i) => [all[i], end]);
const box = (x, y, right, low) => `M${x} ${y}H${right}V${low}H${x}z`;

/** Of `count` things in `size` pixels, those whose labels have room. */
function labels(count, size, room) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((room * count) / size)));
  return range(count).filter((i) => i % step === 0);
}

/**
 * Paths of a heatmap: one per shade of "plus" and "minus", then the strokes that mark what
 * is below zero, dark ("ink") on light shades, light ("chalk") on dark ones.
 * columns: [[left, right], ...]; lines: edges; at(line, column) -> value in -1..1.
 */
function shades(columns, lines, at) {
  const [fills, strokes] = [{}, { ink: "", chalk: "" }];
  bands(lines).forEach(([y, low], r) => {
    const shade = (c) => Math.round(STEPS * at(r, c));
    let from = 0;
    columns.forEach(([, right], c) => {
      const k = shade(c);
      if (columns[c + 1]?.[0] === right && shade(c + 1) === k) return;
      const x = columns[from][0];
      const inset = Math.min(3, (right - x) / 4);
      from = c + 1;
      fills[k] = (fills[k] ?? "") + box(x, y, right, low);
      if (k < 0)
        strokes[k < -STEPS / 2 ? "chalk" : "ink"] += `M${x + inset} ${(y + low) / 2}H${right - inset}`;
    });
  });
  return [
    ...Object.entries(fills).map(([k, d]) => [d, k > 0 ? "plus" : "minus", Math.abs(k) / STEPS]),
    ...Object.entries(strokes).map(([name, d]) => [d, name]),
  ];
}

/** The heatmap: one column per position (or key), one line per dimension (or query). */
export function heatmap(geometry, m) {
  const { state, values, alibi, head, length, width, room, shown } = geometry;
  const grid = alibi ? values : values[0].map((_, i) => values.map((row) => row[i]));
  const lines = grid.length;
  const height = state.view !== "heatmap" ? 170 : alibi ? Math.min(420, room - 106) : 320;
  const x = edges(LEFT, length, room - LEFT - RIGHT);
  const y = edges(22, lines, height);
  const [right, low, most] = [x.at(-1), y.at(-1), largest(grid)];
  const high = digits(alibi ? 0 : most);
  const legend = edges(right - 66 - SIGN * high.length, 5, 60);
  const ticks = labels(length, right - LEFT, 26);
  const center = (c) => (x[c] + x[c + 1]) / 2;
  const middle = (r) => (y[r] + y[r + 1]) / 2;
  const [across, down, quiet] = alibi ? ["key", "query", "query"] : ["position", "dimension", "quiet"];
  return {
    kind: alibi ? "pair" : "cell", width: room, height: height + 60, rows: lines, cols: length,
    right, most, ticks, center,
    title: alibi ? "Added to the scores" : "Added to the word vectors",
    note: state.kind === "none" ? "nothing: all positions look alike, and order is invisible."
      : alibi ? `head ${head}` : `shape (${length}, ${width})`,
    paths: [
      ...shades(bands(x), y, (r, c) => grid[r][c] / most),
      ...shades(bands(legend), [4, 15], (_, c) => (alibi ? c / 4 - 1 : c / 2 - 1)),
      [box(LEFT, 22, right, low), "thin"],
      [alibi ? box(LEFT, y[m], right, y[m + 1]) : box(x[m], 22, x[m + 1], low), "rule"],
    ],
    texts: [
      ...ticks.map((c) => [center(c), low + 13, c, across]),
      ...labels(lines, height, 14).map((r) => [LEFT - 7, middle(r), r, quiet, "end"]),
      ...(alibi ? [] : shown).map((i) => [right + 6, middle(i), pace(geometry, i), "position", "start"]),
      [0, 9, `${down} ↓`, quiet, "start", down],
      [LEFT, low + 30, `${alibi ? "" : "∿ "}${across} →`, across, "start", across],
      [legend[0] - 6, 9, digits(-most), null, "end"],
      [right, 9, high, null, "end"],
    ],
    pick(px, py) {
      const cell = [y.findIndex((edge) => edge > py) - 1, x.findIndex((edge) => edge > px) - 1];
      return Math.min(...cell) < 0 ? null : cell;
    },
    box: ([r, c]) => ({ x: x[c], y: y[r], width: x[c + 1] - x[c], height: y[r + 1] - y[r] }),
  };
}

/** Moves labels apart: wished heights in, heights at least 15 apart out. */
function apart(wished) {
  const placed = [];
  let free = 12;
  range(wished.length).sort((a, b) => wished[a] - wished[b]).forEach((i, k) => {
    const least = 173 - 15 * (wished.length - k);
    free = (placed[i] = Math.max(free, Math.min(wished[i], least))) + 15;
  });
  return placed;
}

/** The curves below the heatmap, against position, or against distance from position m. */
export function curves(geometry, heat, [kind, a, n], m) {
  const { state, values, similarity, length, alibi, head, shown, room } = geometry;
  const { right, most, center } = heat;
  const far = state.view === "similarity" && !alibi;
  const pairs = far || alibi;
  const first = kind === "cell" ? a : alibi ? head : -1;
  const ids = shown.includes(first) || first < 0 ? shown : [...shown, first];
  const bold = far ? 0 : ids.indexOf(first);
  const rows = far
    ? similarity
    : ids.map((i) => (alibi ? scoreBias(state, length, i)[m] : values.map((row) => row[i])));
  const [low, top] = pairs
    ? [Math.min(...rows.flat(), 0), alibi ? 0 : Math.max(...rows.flat()) || 1]
    : [-most, most];
  const x = far ? scale([1 - length, length - 1], [LEFT + 4, right - 4]) : center;
  const y = scale([low, top], [160, 12]);
  const placed = rows.map((row, q) => row.map((value, p) => [x(far ? p - q : p), y(value)]));
  const drawn = far ? [placed[m]] : placed;
  const names = apart(drawn.map((curve) => curve.at(-1)[1]));
  const at = kind === "pair" ? n : m;
  const cursor = x(far ? 0 : at);
  const main = drawn[Math.max(0, bold)];
  const half = far ? labels(length, (right - LEFT) / 2, 40) : heat.ticks;
  const ticks = far ? [...half.slice(1).map((d) => -d), ...half] : half;
  const across = far ? "distance" : alibi ? "key" : "position";
  const color = far ? "quiet" : across;
  return {
    kind: pairs ? "pair" : "cell", row: pairs ? m : ids[Math.max(0, bold)],
    width: room, height: 200, rows: 1, cols: length,
    title: `${alibi ? "Bias" : far ? "Similarity" : "Value"} against ${across}`,
    note: far ? "thin: others" : `${alibi ? "query" : "position"} ${m}`,
    paths: [
      [line([[LEFT, y(0)], [right, y(0)]]), "thin"],
      ...(far ? placed : []).map((curve) => [line(curve), "thin"]),
      [`M${cursor} 10V160`, "rule"],
      ...drawn.map((curve, i) => [line(curve), i === bold ? "curve bold" : "curve", null, DASHES[i]]),
      ...drawn.map((curve) => [`M${curve[at].join(" ")}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0`, "dot"]),
    ],
    texts: [
      ...[...new Set([top, 0, low])].map((value) => [LEFT - 7, y(value), digits(value), "quiet", "end"]),
      ...names.map((place, i) => [
        right + 6, place, far ? `m = ${m}` : `${alibi ? "head" : "dim"} ${ids[i]} ${pace(geometry, ids[i])}`,
        i === bold ? "position strong" : "position", "start",
      ]),
      ...ticks.map((tick) => [x(tick), 174, tick, color]),
      [LEFT, 191, `${pairs ? "" : "∿ "}${across} →`, color, "start"],
    ],
    pick(px, py) {
      const off = main.map(([place]) => Math.abs(place - px));
      return py < 166 ? [0, off.indexOf(Math.min(...off))] : null;
    },
    box: ([, c]) => ({ x: main[c][0] - 4, y: main[c][1] - 4, width: 8, height: 8 }),
  };
}

/** A number for a narrow place: 1.64, <.01, 0. */
const brief = (x) => (x > 1e-9 && x < 0.005 ? "<.01" : short(x));

/** The two sentences above each other, every word over its input vector. */
export function sentences({ state: { tokens, order, other: picked }, words, room }) {
  const { before, after, same, change } = words;
  const texts = tokens.map((token) => tokenText(token, room < 400 ? 7 : 10));
  const wide = (text) => SIGN * [...text].length;
  const step = Math.max(30, Math.min(84, Math.floor((room - 92) / tokens.length)));
  const two = Math.max(...texts.map(wide)) > step - 4; // every other word stands lower
  const head = two ? 44 : 20;
  const center = (i) => 66 + Math.round((i + 0.5) * step);
  const bar = 2 * Math.floor(0.4 * step);
  const columns = tokens.map((_, i) => [center(i) - bar / 2, center(i) + bar / 2]);
  const [high, low] = [head + 22, head + 138];
  const end = low + 72;
  const most = largest([...before, ...after]);
  const paint = (rows, top) =>
    shades(columns, edges(top, rows[0].length, 72), (r, c) => rows[c][r] / most);
  const names = (top, row) =>
    row.map((old, i) => [center(i), top + 24 * (two && i % 2), texts[old], old]);
  const [written, shuffled] = [names(10, [...tokens.keys()]), names(end + 32, order)];
  const all = [...written, ...shuffled];
  return {
    kind: "word", width: 92 + step * tokens.length, height: end + head + 108,
    rows: 1, cols: tokens.length, title: "Tap two words to swap them",
    note: "above as written, below in the new order",
    text: ([, i]) =>
      `${texts[order[i]]}: ${same[i] ? "the same" : "new"} input vector, output changes by ${brief(change[i])}`,
    paths: [
      ...paint(before, high), ...paint(after, low),
      ...order.map((old, place) => [
        line([[center(old), high + 76], [center(place), low - 4]]),
        `link${same[place] ? "" : " broken"}${picked === place ? " bold" : ""}`,
      ]),
      ...all.filter(([, , , old]) => old === order[picked]).map(([x, y, text]) =>
        [box(x - wide(text) / 2 - 5, y - 10, x + wide(text) / 2 + 5, y + 10), "chip"]),
    ],
    texts: [
      ...all.map(([x, y, text]) => [x, y, text, "token"]),
      ...tokens.flatMap((_, i) => [
        [center(i), head + 10, i, "position"],
        [center(i), end + 13, i, "position"],
        [center(i), end + head + 52, same[i] ? "✓" : "✗"],
        [center(i), end + head + 92, brief(change[i])],
      ]),
      [0, head + 10, "∿ position", "position", "start"],
      [0, end + 13, "∿ position", "position", "start"],
      [0, end + head + 34, "Input vector: ✓ as above, ✗ new", "quiet", "start"],
      [0, end + head + 74, "Its output changes by", "quiet", "start"],
    ],
    pick(px, py) {
      const row = py < low - 31 ? written : shuffled;
      const y = py - row[0][1] - 12;
      const near = row.filter((_, i) => !two || Math.abs(y) > 24 || i % 2 === Number(y > 0));
      near.sort(([a], [b]) => Math.abs(a - px) - Math.abs(b - px));
      return px < 48 ? null : [0, order.indexOf(near[0][3])];
    },
    box: ([, place]) => ({ x: columns[place][0], y: low, width: bar, height: 72 }),
  };
}
