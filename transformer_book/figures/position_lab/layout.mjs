// What PositionLab shows of a state: numbers, and what is held. Pure: no DOM.
import {
  dot,
  keep,
  list,
  one,
  real,
  table,
  text,
  whole,
  wholes,
} from "../kit/index.mjs";
import { positionVectors, scoreBias, shuffle } from "./numbers.mjs";

export const RANGES = {
  length: [2, 64],
  d_model: [2, 64],
  base: [1, 1e6],
  n_heads: [1, 16],
  head: [0, 15],
  position: [0, 63],
  other: [-1, 63],
  dimension: [-1, 63],
};

function check(state) {
  const { tokens, rows, d_model: d } = state;
  const n = tokens?.length;
  keep(state, {
    ...wholes(RANGES),
    base: real(1, 1e6),
    kind: one("none", "sinusoidal", "learned", "alibi"),
    view: one("curves", "heatmap", "similarity", "order"),
    dimensions: list(whole(0, 63), 0, 5),
    tokens: list(text, 2, 10),
    order: list(whole(0, n - 1), n),
    rows: table(rows?.length && Math.max(n, Math.min(64, rows.length)), rows, 64),
  });
  if (d % 2 || new Set(state.order).size < n)
    throw Error(`d_model must be even, order each index once, got ${[d, state.order]}`);
}

/** How much is shown: a table ends somewhere, and so what is held may be beyond. */
export function sizes({
  kind,
  rows,
  length,
  d_model: width,
  position,
  n_heads: heads,
  head,
}) {
  const table = kind === "learned" && rows.length ? rows : null;
  const most = Math.min(length, table?.length ?? length);
  return {
    length: most,
    width: Math.min(width, table?.[0].length ?? width),
    m: Math.min(position, most - 1),
    head: Math.min(head, heads - 1),
    alibi: kind === "alibi",
  };
}

/**
 * The lines of the curves: heads for ALiBi, else a fast dimension and a slow one, the
 * slowest that leaves the zero line.
 */
function shownDimensions(
  { dimensions, n_heads: heads, base },
  { alibi, width, length },
) {
  const count = alibi ? heads : width;
  const own = dimensions.filter((i) => i < count);
  if (own.length) return own;
  let slow = width > 2 ? 2 : 0;
  while (slow + 2 < width && (length - 1) * base ** (-(slow + 2) / width) >= 0.5)
    slow += 2;
  return [...new Set(alibi ? [0, Math.floor(count / 3), count - 1] : [0, slow])];
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const size = sizes(state);
  const { length, width, head, alibi } = size;
  const values = alibi
    ? scoreBias(state, length, head)
    : positionVectors(state, length, width);
  const similarity = alibi ? values : values.map((a) => values.map((b) => dot(a, b)));
  const geometry = {
    state,
    ...size,
    room,
    values,
    similarity,
    shown: shownDimensions(state, size),
  };
  if (state.view !== "order") return geometry;
  const n = state.tokens.length;
  const added = positionVectors(state, n, width);
  return {
    ...geometry,
    added,
    words: shuffle(state.tokens, state.order, added, scoreBias(state, n, head)),
  };
}

/** What the reader holds: ["cell", dimension, m], ["pair", m, n], ["word", 0, place] or null. */
export function locked(state) {
  const { view, tokens, other, dimension } = state;
  const { m, length, width, alibi } = sizes(state);
  if (view === "order") return other in tokens ? ["word", 0, other] : null;
  if ((view === "similarity" || alibi) && other >= 0 && other < length)
    return ["pair", m, other];
  return !alibi && dimension >= 0 && dimension < width ? ["cell", dimension, m] : null;
}
