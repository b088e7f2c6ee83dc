// The numbers that RoPERotor shows; its twin in Python uses the library. No DOM.
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));
const DEGREES = 180 / Math.PI;

/** Radians per position of each pair's clock. */
export const speedsOf = (width, base) =>
  times(width / 2, (i) => base ** -((2 * i) / width));

/** The vector with the plane of dimensions (i, i + d / 2) turned by position * speed. */
export function rotate(x, position, speeds) {
  const half = speeds.length;
  const [cos, sin] = [Math.cos, Math.sin].map((f) =>
    speeds.map((speed) => f(position * speed)),
  );
  return [
    ...speeds.map((_, i) => x[i] * cos[i] - x[i + half] * sin[i]),
    ...speeds.map((_, i) => x[i + half] * cos[i] + x[i] * sin[i]),
  ];
}

/** What each pair adds to the dot product of the turned vectors. */
export function partsOf({ query, key }, m, n, speeds) {
  const [q, k] = [rotate(query, m, speeds), rotate(key, n, speeds)];
  const half = speeds.length;
  return speeds.map((_, i) => q[i] * k[i] + q[i + half] * k[i + half]);
}

export const sum = (list) => list.reduce((total, x) => total + x, 0);

/**
 * Per pair: speed, the turned hands as [x, y], the product of their lengths, what it adds
 * to the dot product, and the angle between the hands in degrees, 0 to 180.
 */
export function pairs(state) {
  const { query, key, m, n, base } = state;
  const speeds = speedsOf(query.length, base);
  const half = speeds.length;
  const [q, k] = [rotate(query, m, speeds), rotate(key, n, speeds)];
  return partsOf(state, m, n, speeds).map((part, i) => {
    const hands = { q: [q[i], q[i + half]], k: [k[i], k[i + half]] };
    const cross = hands.k[0] * hands.q[1] - hands.k[1] * hands.q[0];
    return {
      i,
      part,
      dims: [i, i + half],
      speed: speeds[i],
      ...hands,
      most: Math.hypot(...hands.q) * Math.hypot(...hands.k),
      between: Math.abs(Math.atan2(cross, part)) * DEGREES,
    };
  });
}
