// Where everything stands: heatmaps, curves, the words. Pure: no DOM.
import { line, scale, short, tokenText } from "../kit/index.mjs";
import { scoreBias } from "./values.mjs";

const STEPS = 10; // shades on each side of zero
const LEFT = 40;
const RIGHT = 58; // room for the names of the curves
const SIGN = 7.6; // width of one monospace sign

const clamp = (x, least, most) => Math.max(least, Math.min(most, x));
export const largest = (rows) =>
  rows.reduce((top, row) => row.reduce((a, x) => Math.max(a, Math.abs(x)), top), 0) || 1;

/** Whole pixels between `count` bands from `start` on. */
const edges = (start, count, size) =>
  Array.from({ length: count + 1 }, (_, i) => Math.round(start + (i * size) / count));

const bands = (all) => all.slice(1).map((end, i) => [all[i], end]);

/**
 * Paths of a heatmap, one per shade: plus[k], minus[k] for k = 1 ... STEPS, and the strokes
 * that mark what is below zero: `ink` on light shades, `chalk` on dark ones.
 * columns: [[left, right], ...]; lines: edges; at(line, column) -> value in -1..1.
 */
export function shades(columns, lines, at) {
  const paths = { plus: [], minus: [], ink: "", chalk: "" };
  const paint = (from, to, r, k) => {
    if (k === 0) return;
    const [x, y] = [columns[from][0], lines[r]];
    const [width, height] = [columns[to][1] - x, lines[r + 1] - y];
    const side = k > 0 ? paths.plus : paths.minus;
    const shade = Math.abs(k);
    side[shade] = `${side[shade] ?? ""}M${x} ${y}h${width}v${height}h${-width}z`;
    if (k > 0) return;
    const inset = Math.min(3, width / 4);
    const stroke = `M${x + inset} ${y + height / 2}h${width - 2 * inset}`;
    paths[shade > STEPS / 2 ? "chalk" : "ink"] += stroke;
  };
  for (let r = 0; r < lines.length - 1; r++) {
    const shade = (c) => Math.round(STEPS * at(r, c));
    const touches = (c) => columns[c - 1]?.[1] === columns[c]?.[0];
    let from = 0;
    for (let c = 1; c <= columns.length; c++) {
      if (c < columns.length && touches(c) && shade(c) === shade(from)) continue;
      paint(from, c - 1, r, shade(from));
      from = c;
    }
  }
  return paths;
}

/** Every how many of `count` things in `size` pixels a label fits. */
function stride(count, size, room) {
  return [1, 2, 4, 8, 16, 32].find((step) => (step * size) / count >= room) ?? 64;
}
const labels = (count, size, room) => {
  const step = stride(count, size, room);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
};

const digits = (x) => short(x, Math.abs(x) >= 0.1 ? 2 : 4);

/** The heatmap: one column per position (or key), one line per dimension (or query). */
export function heatmap(values, { width, height, alibi }) {
  const count = values.length;
  const lines = values[0].length;
  const across = width - LEFT - RIGHT;
  const top = 22;
  const [x, y] = [edges(LEFT, count, across), edges(top, lines, height)];
  const most = largest(values);
  const right = x.at(-1);
  const swatches = bands(edges(right - 12 - 7 * digits(alibi ? 0 : most).length - 60, 5, 60));
  return {
    width, height: top + height + 38, x, y, lines, count, most,
    low: digits(-most), high: alibi ? "0" : digits(most),
    paths: shades(bands(x), y, (r, c) => (alibi ? values[r][c] : values[c][r]) / most),
    swatch: swatches[0][0] - 6,
    legend: shades(swatches, [4, 15], (_, c) => (alibi ? c / 4 - 1 : c / 2 - 1)),
    ticks: labels(count, across, 26), names: labels(lines, height, 14),
    center: (c) => (x[c] + x[c + 1]) / 2,
    pick(px, py) {
      const cell = [y, x].map((all) => all.findIndex((edge) => edge > (all === x ? px : py)) - 1);
      return Math.min(...cell) >= 0 ? cell : null;
    },
    box: ([r, c]) => ({ x: x[c], y: y[r], width: x[c + 1] - x[c], height: y[r + 1] - y[r] }),
  };
}

/** Moves labels apart: wished heights in, heights at least `gap` apart out. */
function apart(wished, gap, least, most) {
  const order = [...wished.keys()].sort((a, b) => wished[a] - wished[b]);
  const placed = [];
  let next = least;
  for (const i of order) next = (placed[i] = Math.max(next, wished[i])) + gap;
  let bound = most;
  for (const i of order.toReversed()) bound = (placed[i] = Math.min(bound, placed[i])) - gap;
  return placed;
}

/** Curves [{ key, points: [[n, value], ...] }] as lines, with heights for their names. */
function plot(curves, x, [low, high], height) {
  const y = scale([low, high], [height + 10, 12]);
  const drawn = curves.map((curve) => {
    const points = curve.points.map(([n, value]) => [x(n), y(value)]);
    return { ...curve, points, d: line(points) };
  });
  const ends = apart(drawn.map(({ points }) => points.at(-1)[1]), 15, 12, height + 8);
  drawn.forEach((curve, i) => (curve.label = ends[i]));
  return { height: height + 50, bottom: height + 10, curves: drawn, y };
}

const level = (...values) => values.map((value) => ({ value, text: digits(value) }));
const grouped = (all, y, x) => all.map((curve) => line(curve.map(([n, v]) => [x(n), y(v)]))).join("");

/** The lower picture: what it draws, and what its points mean. */
export function curves(geometry, active, m) {
  const { state, values, similarity, heat, length } = geometry;
  const [left, right] = [heat.x[0], heat.x.at(-1)];
  const shared = { width: heat.width, left, right, cols: length };
  if (state.view === "similarity") {
    const every = similarity.map((row, q) => row.map((value, n) => [n - q, value]));
    const x = scale([1 - length, length - 1], [left + 4, right - 4]);
    const top = largest(similarity);
    const low = Math.min(0, ...similarity.flat());
    const range = state.kind === "alibi" ? [low, 0] : [low, top];
    const drawn = plot([{ key: `m = ${m}`, points: every[m] }], x, range, 150);
    const steps = labels(length, (right - left) / 2, 40).slice(1);
    return {
      ...shared, ...drawn, rows: 1, cursor: x(0), others: grouped(every, drawn.y, x),
      title: state.kind === "alibi" ? "Bias against distance" : "Similarity against distance",
      note: `position ${m} with every other; thin: the same for all positions`,
      at: active?.[0] === "pair" ? active[2] : m, bold: 0,
      levels: level(...new Set([range[1], 0, range[0]])),
      ticks: [...steps.map((d) => -d), 0, ...steps].map((d) => ({ x: x(d), text: d, kind: "quiet" })),
      axis: "distance n − m →", axisKind: "quiet",
      to: ([, n]) => ["pair", m, n],
      from: ([kind, , n]) => (kind === "pair" ? [0, n] : null),
    };
  }
  const alibi = state.kind === "alibi";
  const extra = active?.[0] === "cell" && !geometry.shown.includes(active[1]) ? [active[1]] : [];
  const ids = [...geometry.shown, ...extra];
  const points = (i) =>
    alibi ? scoreBias(state, length, i)[m].map((v, n) => [n, v]) : values.map((row, n) => [n, row[i]]);
  const all = ids.map((i) => ({ key: `${alibi ? "head" : "dim"} ${i}`, points: points(i) }));
  const low = alibi
    ? Math.min(...all.flatMap((curve) => curve.points.map(([, v]) => v)))
    : -heat.most;
  const range = alibi ? [low || -1, 0] : [-heat.most, heat.most];
  const at = alibi && active?.[0] === "pair" ? active[2] : m;
  return {
    ...shared, ...plot(all, heat.center, range, 150), rows: geometry.shown.length,
    cursor: heat.center(at), others: null, at,
    title: alibi ? "Bias against key position" : "Value against position",
    note: alibi ? `query ${m}` : `position ${m}`,
    bold: ids.indexOf(active?.[0] === "cell" ? active[1] : alibi ? (active?.[3] ?? geometry.head) : -1),
    levels: level(...new Set([range[1], 0, range[0]])),
    ticks: heat.ticks.map((n) => ({ x: heat.center(n), text: n, kind: alibi ? "key" : "position" })),
    axis: alibi ? "key →" : "∿ position →", axisKind: alibi ? "key" : "position",
    to: ([r, n]) => (alibi ? ["pair", m, n, ids[r]] : ["cell", ids[r], n]),
    from: ([kind, a, b, head]) =>
      kind === (alibi ? "pair" : "cell")
        ? cellOrNull(geometry.shown.indexOf(alibi ? (head ?? geometry.head) : a), b)
        : null,
  };
}
const cellOrNull = (r, c) => (r < 0 ? null : [r, c]);

/** The nearest [curve, point] of a plot to a place, or null outside of it. */
export function nearest({ curves, bottom }, px, py) {
  const first = curves[0]?.points ?? [];
  if (!first.length || py < 0 || py > bottom + 6) return null;
  const off = (p) => Math.abs(p[0] - px);
  const point = first.reduce((best, p, i) => (off(p) < off(first[best]) ? i : best), 0);
  const gap = first.length > 1 ? Math.abs(first[1][0] - first[0][0]) : 10;
  if (off(first[point]) > gap) return null;
  const high = (i) => Math.abs(curves[i].points[point][1] - py);
  const curve = [...curves.keys()].reduce((best, i) => (high(i) < high(best) ? i : best), 0);
  return [curve, point];
}

/** The two sentences above each other, every word over its input vector. */
export function sentences(state, words, room) {
  const { tokens, order } = state;
  const n = tokens.length;
  const left = 66;
  const step = clamp(Math.floor((room - left - 4) / n), 30, 84);
  const limit = Math.max(3, Math.floor(80 / SIGN));
  const texts = tokens.map((token) => tokenText(token, limit));
  const longest = SIGN * Math.max(...texts.map((text) => [...text].length));
  const slanted = longest > step - 4;
  const head = slanted ? Math.ceil(0.72 * longest) + 10 : 18;
  const strip = 72;
  const gap = Math.min(9, step / 6);
  const columns = tokens.map((_, i) => [
    Math.round(left + i * step + gap), Math.round(left + (i + 1) * step - gap),
  ]);
  const tops = [head + 22, head + 22 + strip + 44];
  const most = Math.max(largest(words.before), largest(words.after));
  const lines = (top) => edges(top, words.before[0].length, strip);
  const paint = (rows, top) => shades(columns, lines(top), (r, c) => rows[c][r] / most);
  const center = (i) => (columns[i][0] + columns[i][1]) / 2;
  const low = tops[1] + strip;
  return {
    width: left + step * n + 4, height: low + head + 74, left, step, columns, texts, tops,
    strip, slanted, center, head, low,
    before: paint(words.before, tops[0]), after: paint(words.after, tops[1]),
    links: order.map((old, place) => ({
      same: words.same[place], place,
      d: line([[center(old), tops[0] + strip + 4], [center(place), tops[1] - 4]]),
    })),
    pick(px, py) {
      const place = Math.floor((px - left) / step);
      return py > tops[1] - 20 && place >= 0 && place < n ? [0, place] : null;
    },
    box: ([, place]) => ({
      x: columns[place][0], y: tops[1], width: columns[place][1] - columns[place][0],
      height: strip,
    }),
  };
}
