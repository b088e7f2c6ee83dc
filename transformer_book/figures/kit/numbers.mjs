// Small sums that many figures need. No DOM.
const PRIME = 2 ** 31 - 1;

export const range = (n) => [...Array(n).keys()];
export const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));
export const sum = (list) => list.reduce((total, x) => total + x, 0);
export const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);

/** Scores, at least one of them, as shares that sum to 1, in float64. */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = Array.from(scores, (x) => Math.exp(x - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/** A seed for `draws` from whole numbers, below its prime. */
export const seedOf = (numbers, start) =>
  numbers.reduce((seed, x) => (31 * seed + x) % PRIME, start) + 1;

/**
 * Random numbers in 0..1 without end, exact everywhere. Source: Park and Miller 1988,
 * "Random number generators: good ones are hard to find".
 */
export function draws(seed) {
  const next = () => (seed = (48271 * seed) % PRIME);
  for (let i = 0; i < 3; i++) next();
  return () => next() / PRIME;
}
