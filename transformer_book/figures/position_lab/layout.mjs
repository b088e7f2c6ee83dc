// What PositionLab shows of a state: numbers, and what is held. Pure: no DOM.
import { dot, keep } from "../kit/index.mjs";
import { positionVectors, scoreBias, shuffle } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

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
  keep(state, limits);
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
