// Where everything stands: the heatmap and the curves. Pure: no DOM.
import { line, scale, short } from "../kit/index.mjs";
import { SIGN, bands, box, edges, largest, shades } from "./shades.mjs";
import { scoreBias, times } from "./numbers.mjs";
import { pace } from "./text.mjs";

const [LEFT, RIGHT] = [48, 80]; // room for numbers and for the names of the curves
const DASHES = [null, "9 4", "2 3", "9 2 2 2", "5 2"];

const digits = (x) => short(x, Math.abs(x) >= 0.1 ? 2 : 3);
const range = (n) => times(n, (i) => i);

/** Of `count` things in `size` pixels, those whose labels have room. */
function labels(count, size, room) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((room * count) / size)));
  return range(count).filter((i) => i % step === 0);
}

/** The heatmap: one column per position (or key), one line per dimension (or query). */
export function heatmap(geometry, m) {
  const { state, values, alibi, head, length, width, room, shown } = geometry;
  const grid = alibi ? values : values[0].map((_, i) => values.map((row) => row[i]));
  const lines = grid.length;
  const height =
    state.view !== "heatmap" ? 170 : alibi ? Math.min(420, room - 106) : 320;
  const x = edges(LEFT, length, room - LEFT - RIGHT);
  const y = edges(22, lines, height);
  const [right, low, most] = [x.at(-1), y.at(-1), largest(grid)];
  const high = digits(alibi ? 0 : most);
  const legend = edges(right - 66 - SIGN * high.length, 5, 60);
  const ticks = labels(length, right - LEFT, 26);
  const center = (c) => (x[c] + x[c + 1]) / 2;
  const middle = (r) => (y[r] + y[r + 1]) / 2;
  const [across, down, quiet] = alibi
    ? ["key", "query", "query"]
    : ["position", "dimension", "quiet"];
  return {
    kind: alibi ? "pair" : "cell",
    width: room,
    height: height + 60,
    rows: lines,
    cols: length,
    right,
    most,
    ticks,
    center,
    title: alibi ? "Added to the scores" : "Added to the word vectors",
    note:
      state.kind === "none"
        ? "nothing: all positions look alike, and order is invisible."
        : alibi
          ? `head ${head}`
          : `shape (${length}, ${width})`,
    paths: [
      ...shades(bands(x), y, (r, c) => grid[r][c] / most),
      ...shades(bands(legend), [4, 15], (_, c) => (alibi ? c / 4 - 1 : c / 2 - 1)),
      [box(LEFT, 22, right, low), "thin"],
      [alibi ? box(LEFT, y[m], right, y[m + 1]) : box(x[m], 22, x[m + 1], low), "rule"],
    ],
    texts: [
      ...ticks.map((c) => [center(c), low + 13, c, across]),
      ...labels(lines, height, 14).map((r) => [LEFT - 7, middle(r), r, quiet, "end"]),
      ...(alibi ? [] : shown).map((i) => [
        right + 6,
        middle(i),
        pace(geometry, i),
        "position",
        "start",
      ]),
      [0, 9, `${down} ↓`, quiet, "start", down],
      [LEFT, low + 30, `${alibi ? "" : "∿ "}${across} →`, across, "start", across],
      [legend[0] - 6, 9, digits(-most), null, "end"],
      [right, 9, high, null, "end"],
    ],
    pick(px, py) {
      const cell = [
        y.findIndex((edge) => edge > py) - 1,
        x.findIndex((edge) => edge > px) - 1,
      ];
      return Math.min(...cell) < 0 ? null : cell;
    },
    box: ([r, c]) => ({
      x: x[c],
      y: y[r],
      width: x[c + 1] - x[c],
      height: y[r + 1] - y[r],
    }),
  };
}

/** Moves labels apart: wished heights in, heights at least 15 apart out. */
function apart(wished) {
  const placed = [];
  let free = 12;
  range(wished.length)
    .sort((a, b) => wished[a] - wished[b])
    .forEach((i, k) => {
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
    : ids.map((i) =>
        alibi ? scoreBias(state, length, i)[m] : values.map((row) => row[i]),
      );
  const [low, top] = pairs
    ? [Math.min(...rows.flat(), 0), alibi ? 0 : Math.max(...rows.flat()) || 1]
    : [-most, most];
  const x = far ? scale([1 - length, length - 1], [LEFT + 4, right - 4]) : center;
  const y = scale([low, top], [160, 12]);
  const placed = rows.map((row, q) =>
    row.map((value, p) => [x(far ? p - q : p), y(value)]),
  );
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
    kind: pairs ? "pair" : "cell",
    row: pairs ? m : ids[Math.max(0, bold)],
    width: room,
    height: 200,
    rows: 1,
    cols: length,
    title: `${alibi ? "Bias" : far ? "Similarity" : "Value"} against ${across}`,
    note: far ? "thin: others" : `${alibi ? "query" : "position"} ${m}`,
    paths: [
      [
        line([
          [LEFT, y(0)],
          [right, y(0)],
        ]),
        "thin",
      ],
      ...(far ? placed : []).map((curve) => [line(curve), "thin"]),
      [`M${cursor} 10V160`, "rule"],
      ...drawn.map((curve, i) => [
        line(curve),
        i === bold ? "curve bold" : "curve",
        null,
        DASHES[i],
      ]),
      ...drawn.map((curve) => [
        `M${curve[at].join(" ")}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0`,
        "dot",
      ]),
    ],
    texts: [
      ...[...new Set([top, 0, low])].map((value) => [
        LEFT - 7,
        y(value),
        digits(value),
        "quiet",
        "end",
      ]),
      ...names.map((place, i) => [
        right + 6,
        place,
        far
          ? `m = ${m}`
          : `${alibi ? "head" : "dim"} ${ids[i]} ${pace(geometry, ids[i])}`,
        i === bold ? "position strong" : "position",
        "start",
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
