// The curves below the heatmap. Pure: no DOM.
import { line, range, scale } from "../kit/index.mjs";
import { LEFT, digits, labels } from "./heatmap.mjs";
import { scoreBias } from "./numbers.mjs";
import { pace } from "./text.mjs";

const DASHES = [null, "9 4", "2 3", "9 2 2 2", "5 2"];
const [TOP, LOW] = [12, 160]; // of the curves

/** Moves labels apart: wished heights in, heights at least 15 apart out. */
function apart(wished) {
  const placed = [];
  let free = TOP;
  range(wished.length)
    .sort((a, b) => wished[a] - wished[b])
    .forEach((i, k) => {
      const least = 173 - 15 * (wished.length - k);
      free = (placed[i] = Math.max(free, Math.min(wished[i], least))) + 15;
    });
  return placed;
}

/** Similarities of all positions, by distance from each; that of position m is bold. */
function byDistance({ similarity: rows, length }, { right }, m) {
  const half = labels(length, (right - LEFT) / 2, 40);
  return {
    rows,
    ids: [m],
    bold: 0,
    range: [Math.min(...rows.flat(), 0), Math.max(...rows.flat()) || 1],
    x: scale([1 - length, length - 1], [LEFT + 4, right - 4]),
    place: (p, q) => p - q,
    ticks: [...half.slice(1).map((d) => -d), ...half],
    across: "distance",
    title: "Similarity",
    note: "thin: others",
    names: () => `m = ${m}`,
  };
}

/** What each shown head adds to the scores of query m, by key. */
function byKey(geometry, heat, m) {
  const { state, length, head, shown } = geometry;
  const ids = shown.includes(head) ? shown : [...shown, head];
  const rows = ids.map((i) => scoreBias(state, length, i)[m]);
  return {
    rows,
    ids,
    bold: ids.indexOf(head),
    range: [Math.min(...rows.flat(), 0), 0],
    x: heat.center,
    place: (p) => p,
    ticks: heat.ticks,
    across: "key",
    title: "Bias",
    note: `query ${m}`,
    names: (i) => `head ${ids[i]} `,
  };
}

/** The shown dimensions, and the one that is looked at, by position. */
function byPosition(geometry, heat, m, dimension) {
  const { values, shown } = geometry;
  const more = dimension < 0 || shown.includes(dimension) ? [] : [dimension];
  const ids = [...shown, ...more];
  return {
    rows: ids.map((i) => values.map((row) => row[i])),
    ids,
    bold: ids.indexOf(dimension),
    range: [-heat.most, heat.most],
    x: heat.center,
    place: (p) => p,
    ticks: heat.ticks,
    across: "position",
    title: "Value",
    note: `position ${m}`,
    names: (i) => `dim ${ids[i]} ${pace(geometry, ids[i])}`,
  };
}

const dot = ([x, y]) => `M${x} ${y}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0`;

function textsOf(plot, drawn, y, { right }, waves) {
  const { range: ends, bold, ticks, across, names, x } = plot;
  const color = across === "distance" ? "quiet" : across;
  const numbers = [...new Set([ends[1], 0, ends[0]])];
  const heights = apart(drawn.map((curve) => curve.at(-1)[1]));
  return [
    ...numbers.map((value) => [LEFT - 7, y(value), digits(value), "quiet", "end"]),
    ...heights.map((height, i) => {
      const kind = i === bold ? "position strong" : "position";
      return [right + 6, height, names(i), kind, "start"];
    }),
    ...ticks.map((tick) => [x(tick), 174, tick, color]),
    [LEFT, 191, `${waves ? "∿ " : ""}${across} →`, color, "start"],
  ];
}

/**
 * A shape (see picture.mjs): curves against position or key, or against distance from
 * position m; [kind, a, n] is what is looked at.
 */
export function curves(geometry, heat, [kind, a, n], m) {
  const { state, alibi, length, room } = geometry;
  const far = state.view === "similarity" && !alibi;
  const pairs = far || alibi;
  const plot = far
    ? byDistance(geometry, heat, m)
    : alibi
      ? byKey(geometry, heat, m)
      : byPosition(geometry, heat, m, kind === "cell" ? a : -1);
  const { rows, ids, bold, x } = plot;
  const y = scale(plot.range, [LOW, TOP]);
  const placed = rows.map((row, q) =>
    row.map((value, p) => [x(plot.place(p, q)), y(value)]),
  );
  const drawn = far ? [placed[m]] : placed;
  const at = kind === "pair" ? n : m;
  const main = drawn[Math.max(0, bold)];
  const zero = [LEFT, heat.right].map((end) => [end, y(0)]);
  const kindOf = (i) => (i === bold ? "curve bold" : "curve");
  return {
    kind: pairs ? "pair" : "cell",
    row: pairs ? m : ids[Math.max(0, bold)],
    width: room,
    height: 200,
    rows: 1,
    cols: length,
    title: `${plot.title} against ${plot.across}`,
    note: plot.note,
    paths: [
      [line(zero), "thin"],
      ...(far ? placed : []).map((curve) => [line(curve), "thin"]),
      [`M${x(far ? 0 : at)} 10V${LOW}`, "rule"],
      ...drawn.map((curve, i) => [line(curve), kindOf(i), null, DASHES[i]]),
      ...drawn.map((curve) => [dot(curve[at]), "dot"]),
    ],
    texts: textsOf(plot, drawn, y, heat, !pairs),
    pick(px, py) {
      const off = main.map(([left]) => Math.abs(left - px));
      return py < 166 ? [0, off.indexOf(Math.min(...off))] : null;
    },
    box: ([, c]) => ({ x: main[c][0] - 4, y: main[c][1] - 4, width: 8, height: 8 }),
  };
}
