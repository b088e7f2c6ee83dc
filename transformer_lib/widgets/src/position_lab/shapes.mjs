// Where everything stands: heatmaps, curves, the words. Pure: no DOM.
import { line, scale, short, tokenText } from "../kit/index.mjs";
import { scoreBias } from "./values.mjs";

const STEPS = 10; // shades on each side of zero
const [LEFT, RIGHT] = [48, 58]; // room for numbers and for the names of the curves
const SIGN = 7.6; // width of one monospace sign

const digits = (x) => short(x, Math.abs(x) >= 0.1 ? 2 : 3);
const largest = (rows) => Math.max(...rows.flat().map(Math.abs)) || 1;
const range = (n) => [...Array(n).keys()];

/** Whole pixels between `count` bands from `start` on. */
const edges = (start, count, size) => range(count + 1).map((i) => Math.round(start + (i * size) / count));
const bands = (all) => all.slice(1).map((end, i) => [all[i], end]);

/** Of `count` things in `size` pixels, those whose labels have room. */
function labels(count, size, room) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((room * count) / size)));
  return range(count).filter((i) => i % step === 0);
}

/**
 * Paths of a heatmap: [{ d, class, "fill-opacity" }], one per shade of "plus" and "minus",
 * and the strokes that mark what is below zero, dark on light shades, light on dark ones.
 * columns: [[left, right], ...]; lines: edges; at(line, column) -> value in -1..1.
 */
function shades(columns, lines, at) {
  const paths = new Map();
  const draw = (name, shade, d) => {
    const path = paths.get(name + shade) ?? { d: "", class: name, "fill-opacity": shade };
    path.d += d;
    paths.set(name + shade, path);
  };
  range(lines.length - 1).forEach((r) => {
    const shade = (c) => Math.round(STEPS * at(r, c));
    let from = 0;
    columns.forEach(([, right], c) => {
      const next = columns[c + 1];
      if (next?.[0] === right && shade(c + 1) === shade(c)) return;
      const [x, y, k] = [columns[from][0], lines[r], shade(c)];
      const [width, height] = [right - x, lines[r + 1] - y];
      const inset = Math.min(3, width / 4);
      from = c + 1;
      if (k) draw(k > 0 ? "plus" : "minus", Math.abs(k) / STEPS, `M${x} ${y}h${width}v${height}h${-width}z`);
      if (k < 0) draw(k < -STEPS / 2 ? "chalk" : "ink", 0, `M${x + inset} ${y + height / 2}h${width - 2 * inset}`);
    });
  });
  const strokes = (path) => Number(path["fill-opacity"] === 0);
  return [...paths.values()].sort((a, b) => strokes(a) - strokes(b));
}

/** The heatmap: one column per position (or key), one line per dimension (or query). */
export function heatmap({ values, alibi }, width, height) {
  const grid = alibi ? values : values[0].map((_, i) => values.map((row) => row[i]));
  const [lines, count] = [grid.length, grid[0].length];
  const x = edges(LEFT, count, width - LEFT - RIGHT);
  const y = edges(22, lines, height);
  const [right, most] = [x.at(-1), largest(grid)];
  const high = digits(alibi ? 0 : most);
  const legend = edges(right - 66 - SIGN * high.length, 5, 60);
  return {
    width, height: height + 60, x, y, rows: lines, cols: count, most, high, low: digits(-most),
    swatch: legend[0] - 6,
    paths: shades(bands(x), y, (r, c) => grid[r][c] / most),
    legend: shades(bands(legend), [4, 15], (_, c) => (alibi ? c / 4 - 1 : c / 2 - 1)),
    ticks: labels(count, right - LEFT, 26), names: labels(lines, height, 14),
    center: (c) => (x[c] + x[c + 1]) / 2,
    pick(px, py) {
      const cell = [y.findIndex((edge) => edge > py) - 1, x.findIndex((edge) => edge > px) - 1];
      return Math.min(...cell) < 0 ? null : cell;
    },
    box: ([r, c]) => ({ x: x[c], y: y[r], width: x[c + 1] - x[c], height: y[r + 1] - y[r] }),
  };
}

/** Moves labels apart: wished heights in, heights at least `gap` apart out. */
function apart(wished, gap, most) {
  const placed = [];
  const order = range(wished.length).sort((a, b) => wished[a] - wished[b]);
  let free = 12;
  for (const i of order) free = (placed[i] = Math.max(free, wished[i])) + gap;
  free = most;
  for (const i of order.reverse()) free = (placed[i] = Math.min(free, placed[i])) - gap;
  return placed;
}

/** The curves below the heatmap, against position, or against distance from position m. */
export function curves(geometry, [kind, a, n], m) {
  const { state, values, similarity, heat, length, alibi, head, shown } = geometry;
  const [left, right] = [heat.x[0], heat.x.at(-1)];
  const far = state.view === "similarity" && !alibi;
  const pairs = far || alibi;
  const first = kind === "cell" ? a : alibi ? head : -1;
  const ids = shown.includes(first) || first < 0 ? shown : [...shown, first];
  const bold = far ? 0 : ids.indexOf(first);
  const every = similarity.map((row, q) => row.map((value, p) => [p - q, value]));
  const points = (i) => (alibi ? scoreBias(state, length, i)[m] : values.map((row) => row[i]));
  const all = far ? [every[m]] : ids.map((i) => [...points(i).entries()]);
  const seen = (far ? every : all).flat().map(([, value]) => value);
  const top = alibi ? 0 : far ? Math.max(...seen) || 1 : heat.most;
  const low = pairs ? Math.min(...seen, alibi ? -1e-9 : 0) : -heat.most;
  const x = far ? scale([1 - length, length - 1], [left + 4, right - 4]) : heat.center;
  const y = scale([low, top], [160, 12]);
  const placed = (far ? every : all).map((curve) => curve.map(([p, value]) => [x(p), y(value)]));
  const drawn = far ? [placed[m]] : placed;
  const names = apart(drawn.map((curve) => curve.at(-1)[1]), 15, 158);
  const at = kind === "pair" ? n : m;
  const main = drawn[Math.max(0, bold)];
  const ticks = far ? labels(length, (right - left) / 2, 40) : heat.ticks;
  return {
    width: heat.width, height: 200, left, right, x, y, at, bold, far,
    cursor: x(far ? 0 : at), levels: [...new Set([top, 0, low])].map((v) => [v, digits(v)]),
    lines: drawn.map((curve, i) => ({
      name: far ? `m = ${m}` : `${alibi ? "head" : "dim"} ${ids[i]}`,
      points: curve, d: line(curve), y: names[i],
    })),
    others: far ? placed.map(line).join("") : null,
    ticks: far ? [...ticks.slice(1).map((d) => -d), ...ticks] : ticks,
    rows: 1, cols: length,
    to: ([, c]) => (pairs ? ["pair", m, c] : ["cell", first < 0 ? ids[0] : first, c]),
    from: ([name, , c]) => (name === (pairs ? "pair" : "cell") ? [0, c] : null),
    pick(px, py) {
      const off = main.map(([place]) => Math.abs(place - px));
      const nearest = Math.min(...off);
      return nearest < 12 && py > 0 && py < 166 ? [0, off.indexOf(nearest)] : null;
    },
    box: ([, c]) => ({ x: main[c][0] - 4, y: main[c][1] - 4, width: 8, height: 8 }),
  };
}

/** The two sentences above each other, every word over its input vector. */
export function sentences({ tokens, order }, { before, after, same }, room) {
  const left = 66;
  const texts = tokens.map((token) => tokenText(token, 10));
  const right = 0.5 * SIGN * [...texts.at(-1)].length;
  const step = Math.max(30, Math.min(84, Math.floor((room - left - right) / tokens.length)));
  const longest = SIGN * Math.max(...texts.map((text) => [...text].length));
  const slanted = longest > step - 4;
  const head = slanted ? Math.ceil(0.72 * longest) + 10 : 18;
  const gap = Math.min(9, step / 6);
  const columns = tokens.map((_, i) => [
    Math.round(left + i * step + gap), Math.round(left + (i + 1) * step - gap),
  ]);
  const strip = 72;
  const [high, low] = [head + 22, head + 138];
  const most = largest([...before, ...after]);
  const paint = (rows, top) =>
    shades(columns, edges(top, rows[0].length, strip), (r, c) => rows[c][r] / most);
  const center = (i) => left + (i + 0.5) * step;
  return {
    width: left + step * tokens.length + right, height: low + strip + head + 74,
    rows: 1, cols: tokens.length, texts, slanted, digits: step < 36 ? 1 : 2, center, head, end: low + strip,
    paths: [...paint(before, high), ...paint(after, low)],
    links: order.map((old, place) => ({
      same: same[place], d: line([[center(old), high + strip + 4], [center(place), low - 4]]),
    })),
    pick(px, py) {
      const place = Math.floor((px - left) / step);
      return py > low - 20 && place >= 0 && place < tokens.length ? [0, place] : null;
    },
    box: ([, place]) => {
      const [from, to] = columns[place];
      return { x: from, y: low, width: to - from, height: strip };
    },
  };
}
