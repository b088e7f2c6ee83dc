// The numbers of the seven steps. No DOM.
import { dot, sum } from "../kit/index.mjs";
import { split, times } from "./word_model.mjs";

export const TITLES = ["Q", "K", "scores", "scale", "mask", "softmax", "weights × V"];
export const LAST = TITLES.length - 1;

/** Weights of one query; all 0 where it may attend to nothing. */
function softmax(scores, open) {
  const top = Math.max(...scores.filter((_, j) => open[j]));
  const powers = scores.map((x, j) => (open[j] ? Math.exp(x - top) : 0));
  const total = sum(powers);
  return powers.map((power) => (total ? power / total : 0));
}

/** From vectors and a mask to scores, scaled scores, the open cells, weights and output. */
export function numbers({ query, key, value }, { mask }) {
  const scores = query.map((q) => key.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((x) => x / Math.sqrt(query[0].length)));
  const open = scores.map((row, i) =>
    row.map((_, j) => (mask === "causal" ? j <= i : mask === "none" || mask[i][j])),
  );
  const weights = scaled.map((row, i) => softmax(row, open[i]));
  return { scores, scaled, open, weights, output: times(weights, value) };
}

/** A [query, key] that is there: tokens may have changed under the reader's hand. */
export const within = (pair, n) => pair.map((i) => Math.min(i, n - 1));

/** The selected [query, key]; a number past the end means the last token. */
export const pairOf = ({ model, text, tokens, selected }) =>
  within(selected, model && text ? split(text, model).words.length : tokens.length);
