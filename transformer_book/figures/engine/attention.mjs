// Attention over keys and values that are kept: each token is read once.
import { linear, matrix, softmax } from "./ops.mjs";

/** Which keys a query (a token's number) may attend to: those below the result. */
export const causal = (query) => query + 1;
export const everything = (query, kept) => kept;

/** scores[j] = query · key j / sqrt(d_head) - slope * distance, for the first `count`. */
function score(scores, count, look) {
  const { query, from, keys, first, stride, width, slope, place } = look;
  const scale = 1 / Math.sqrt(width);
  for (let j = 0, row = first; j < count; j += 1, row += stride) {
    let sum = 0;
    for (let k = 0; k < width; k += 1) sum += query[from + k] * keys[row + k];
    scores[j] = sum * scale - slope * Math.abs(place - j);
  }
}

/** mixed[from ...] = factor times the sum of the values, weighted. */
function mix(weights, count, look, factor) {
  const { mixed, from, values, first, stride, width } = look;
  for (let k = 0; k < width; k += 1) {
    let sum = 0;
    for (let j = 0, row = first + k; j < count; j += 1, row += stride)
      sum += weights[j] * values[row];
    mixed[from + k] = factor * sum;
  }
}

/** Heads look from row i of room.input, the token of number `place`. */
function looker({ query, mixed, keys, values }, size, use) {
  const { heads, kvHeads, headWidth: width, capacity } = size;
  const scores = new Float32Array(capacity);
  const slopes = use.positions.slopes(heads);
  const look = {
    query,
    mixed,
    keys,
    values,
    width,
    stride: kvHeads * width,
    from: 0,
    first: 0,
    slope: 0,
    place: 0,
  };
  const oneHead = (i, head, place, count, watch) => {
    look.from = (i * heads + head) * width;
    look.first = Math.floor(head / (heads / kvHeads)) * width;
    look.slope = slopes[head];
    look.place = place;
    score(scores, count, look);
    softmax(scores, count);
    watch.attention?.(use.part, use.layer, head, place, scores.subarray(0, count));
    mix(scores, count, look, use.headFactor(use.part, use.layer, head));
  };
  return (i, place, kept, watch) => {
    const count = use.seen(place, kept);
    for (let head = 0; head < heads; head += 1) oneHead(i, head, place, count, watch);
  };
}

/**
 * One attention layer with its memory. remember(x, n, start) keeps n rows of x
 * (n, d_model) as tokens start ...; look(n, start, kept, watch) lets the n rows of
 * room.input look at the `kept` first ones and writes room.change.
 * use: { part, layer, seen, positions, headFactor }.
 */
export function attentionLayer(model, path, room, size, use) {
  const { heads, kvHeads, headWidth, capacity } = size;
  const [toQuery, toKey, toValue, out] = ["query", "key", "value", "out"].map((name) =>
    matrix(model, `${path}.${name}`),
  );
  const memory = (rows, many) => new Float32Array(rows * many * headWidth);
  const [keys, values] = [0, 1].map(() => memory(capacity, kvHeads));
  const [query, mixed] = [0, 1].map(() => memory(room.rows, heads));
  const lookFrom = looker({ query, mixed, keys, values }, size, use);
  return {
    remember(x, n, start) {
      linear(toKey, x, n, keys, start);
      linear(toValue, x, n, values, start);
      use.positions.turn(keys, start, n, kvHeads, start);
    },
    look(n, start, kept, watch) {
      linear(toQuery, room.input, n, query);
      use.positions.turn(query, 0, n, heads, start);
      for (let i = 0; i < n; i += 1) lookFrom(i, start + i, kept, watch);
      linear(out, mixed, n, room.change);
    },
  };
}
