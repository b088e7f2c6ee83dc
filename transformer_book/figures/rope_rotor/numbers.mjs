// Speeds of the clocks, turned vectors and what each pair adds. No DOM.
import { range } from "../kit/index.mjs";
import limits from "./limits.json" with { type: "json" };

export const LAST = limits.m.whole[1]; // position
const DEGREES = 180 / Math.PI;

/** Radians per position of each pair's clock. */
export const frequencies = (width, base) =>
  range(width / 2).map((i) => base ** -((2 * i) / width));

/** The vector with the plane of dimensions (i, i + d / 2) turned by position * speed. */
export function applyRotary(x, position, speeds) {
  const half = speeds.length;
  const cos = speeds.map((speed) => Math.cos(position * speed));
  const sin = speeds.map((speed) => Math.sin(position * speed));
  return [
    ...speeds.map((_, i) => x[i] * cos[i] - x[i + half] * sin[i]),
    ...speeds.map((_, i) => x[i + half] * cos[i] + x[i] * sin[i]),
  ];
}

/** A vector as hands of clocks, [x, y] of each pair. */
const handsOf = (x) => range(x.length / 2).map((i) => [x[i], x[i + x.length / 2]]);

const dot = (a, b) => a[0] * b[0] + a[1] * b[1];
const cross = (a, b) => a[0] * b[1] - a[1] * b[0];

/** What each pair adds to the dot product of the turned vectors. */
export function partsOf({ query, key }, m, n, speeds) {
  const q = handsOf(applyRotary(query, m, speeds));
  const k = handsOf(applyRotary(key, n, speeds));
  return q.map((hand, i) => dot(hand, k[i]));
}

/**
 * Per pair: speed, the turned hands as [x, y], the product of their lengths, what it adds
 * to the dot product, and the angle between the hands in degrees, 0 to 180.
 */
export function pairsOf({ query, key, m, n, base }) {
  const speeds = frequencies(query.length, base);
  const queries = handsOf(applyRotary(query, m, speeds));
  const keys = handsOf(applyRotary(key, n, speeds));
  return speeds.map((speed, i) => {
    const [q, k] = [queries[i], keys[i]];
    const part = dot(q, k);
    return {
      i,
      dims: [i, i + speeds.length],
      speed,
      q,
      k,
      part,
      most: Math.hypot(...q) * Math.hypot(...k),
      between: Math.abs(Math.atan2(cross(k, q), part)) * DEGREES,
    };
  });
}
