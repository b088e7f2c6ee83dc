// The heatmap: one column per position (or key), one line per dimension (or query).
// Pure: no DOM.
import { range, short } from "../kit/index.mjs";
import { SIGN, bands, box, edges, largest, shades } from "./shades.mjs";
import { pace } from "./text.mjs";

export const LEFT = 48; // room for numbers
const RIGHT = 80; // room for the names of the curves

export const digits = (x) => short(x, Math.abs(x) >= 0.1 ? 2 : 3);

/** Of `count` things in `size` pixels, those whose labels have room. */
export function labels(count, size, room) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2((room * count) / size)));
  return range(count).filter((i) => i % step === 0);
}

/** What columns and lines are, and the class of the lines' numbers. */
const axesOf = (alibi) =>
  alibi ? ["key", "query", "query"] : ["position", "dimension", "quiet"];

function noteOn({ state, alibi, head, length, width }) {
  if (state.kind === "none")
    return "nothing, so all positions are alike: without a mask, order is invisible.";
  return alibi ? `head ${head}` : `shape (${length}, ${width})`;
}

/** Edges of columns (x) and lines (y), which lines and columns have room for a number. */
function frameOf({ state, alibi, length, room }, lines) {
  const tall = alibi ? Math.min(420, room - 106) : 320;
  const height = state.view === "heatmap" ? tall : 170;
  const x = edges(LEFT, length, room - LEFT - RIGHT);
  const y = edges(22, lines, height);
  const [right, low] = [x.at(-1), y.at(-1)];
  return { x, y, right, low, height, ticks: labels(length, right - LEFT, 26) };
}

function textsOf(geometry, frame, most, legend) {
  const { alibi, shown } = geometry;
  const { x, y, right, low, height, ticks } = frame;
  const [across, down, quiet] = axesOf(alibi);
  const center = (c) => (x[c] + x[c + 1]) / 2;
  const middle = (r) => (y[r] + y[r + 1]) / 2;
  const paces = alibi ? [] : shown;
  return [
    ...ticks.map((c) => [center(c), low + 13, c, across]),
    ...labels(y.length - 1, height, 14).map((r) => [
      LEFT - 7,
      middle(r),
      r,
      quiet,
      "end",
    ]),
    ...paces.map((i) => [right + 6, middle(i), pace(geometry, i), "position", "start"]),
    [0, 9, `${down} ↓`, quiet, "start", down],
    [LEFT, low + 30, `${alibi ? "" : "∿ "}${across} →`, across, "start", across],
    [legend[0] - 6, 9, digits(-most), null, "end"],
    [right, 9, digits(alibi ? 0 : most), null, "end"],
  ];
}

/** A shape (see picture.mjs) whose column m, or query m, is framed. */
export function heatmap(geometry, m) {
  const { values, alibi, length, room } = geometry;
  const grid = alibi ? values : values[0].map((_, i) => values.map((row) => row[i]));
  const frame = frameOf(geometry, grid.length);
  const { x, y, right, low, height, ticks } = frame;
  const most = largest(grid);
  const high = digits(alibi ? 0 : most);
  const legend = edges(right - 66 - SIGN * high.length, 5, 60);
  const held = alibi ? box(LEFT, y[m], right, y[m + 1]) : box(x[m], 22, x[m + 1], low);
  return {
    kind: alibi ? "pair" : "cell",
    width: room,
    height: height + 60,
    rows: grid.length,
    cols: length,
    right,
    most,
    ticks,
    center: (c) => (x[c] + x[c + 1]) / 2,
    title: alibi ? "Added to the scores" : "Added to the embeddings",
    note: noteOn(geometry),
    paths: [
      ...shades(bands(x), y, (r, c) => grid[r][c] / most),
      ...shades(bands(legend), [4, 15], (_, c) => (alibi ? c / 4 - 1 : c / 2 - 1)),
      [box(LEFT, 22, right, low), "thin"],
      [held, "rule"],
    ],
    texts: textsOf(geometry, frame, most, legend),
    pick(px, py) {
      const below = (edge) => (at) => at > edge;
      const cell = [y.findIndex(below(py)) - 1, x.findIndex(below(px)) - 1];
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
