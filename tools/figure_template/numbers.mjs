// The numbers of the figure: from its state alone, no DOM.

/** Softmax of a list of scores; the maximum is subtracted first. */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, x) => sum + x, 0);
  return powers.map((power) => power / total);
}
