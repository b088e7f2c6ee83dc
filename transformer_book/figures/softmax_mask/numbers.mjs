// Scores, masks and weights. No DOM.
import { sum } from "../kit/index.mjs";

export const MASKS = {
  none: () => true,
  causal: (row, col) => col <= row,
  padding: (row, col, n) => col < n - 1,
};

const LARGEST = 3.4028234663852886e38; // of float32
const NORMAL = 2 ** -126; // below it, float32 has ever fewer digits, and then 0

export const float32 = (x) =>
  x > LARGEST ? Infinity : x < NORMAL ? Math.fround(x) : x;
export const transpose = (rows) => rows[0].map((_, c) => rows.map((row) => row[c]));
export const map2 = (rows, f) => rows.map((row, r) => row.map((x, c) => f(x, r, c)));

export const powersOf = (scores, temperature) =>
  scores.map((x) => float32(Math.exp(x / temperature)));

/** exp(x) / sum(exp(x)) as written, with the range of float32: may give NaN. */
function naiveSoftmax(scores, temperature) {
  const powers = powersOf(scores, temperature);
  const total = float32(sum(powers));
  return powers.map((power) => power / total);
}

/** Subtracts the maximum first; temperature 0 shares all weight among the largest. */
function safeSoftmax(scores, temperature) {
  const top = Math.max(...scores);
  if (top === -Infinity) return scores.map(() => 0);
  const powers = scores.map((x) =>
    temperature === 0 ? Number(x === top) : Math.exp((x - top) / temperature),
  );
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/** What the softmax gets: lists of scores, the rows or the columns; -inf where masked. */
export function given({ scores, mask, axis, order }) {
  const seen = map2(scores, (x, r, c) =>
    order === "after" || mask[r][c] ? x : -Infinity,
  );
  return axis === "row" ? seen : transpose(seen);
}

/** The weights of a state, rows of numbers. */
export function weights(state) {
  const { mask, temperature, naive, axis, order } = state;
  const lists = given(state).map((list) =>
    (naive ? naiveSoftmax : safeSoftmax)(list, temperature),
  );
  const all = axis === "row" ? lists : transpose(lists);
  return order === "after" ? map2(all, (w, r, c) => (mask[r][c] ? w : 0 * w)) : all;
}

export const isOne = (x) => Math.abs(x - 1) < 1e-9;

/** Whether a row sums to 1 though the mask came after: what it took away was 0. */
export const isLuck = ({ state, sums }, row) =>
  state.order === "after" &&
  state.axis === "row" &&
  isOne(sums[row]) &&
  state.mask[row].includes(false);
