// The arithmetic. Nothing allocates room for numbers.
import { fastProducts } from "./wasm.mjs";

/** The definition: sums run in float64 and are stored as float32. */
const product =
  ({ weight, bias, rows, columns }) =>
  (x, n, out, at) => {
    for (let i = 0; i < n; i += 1)
      for (let r = 0; r < rows; r += 1) {
        let sum = bias[r];
        for (let k = 0; k < columns; k += 1)
          sum += weight[r * columns + k] * x[i * columns + k];
        out[(at + i) * rows + r] = sum;
      }
  };

const ofModel = new WeakMap();

/** A matrix of the model with its shift: { rows, columns, product }, made once. */
export function matrix(model, path) {
  if (!ofModel.has(model))
    ofModel.set(model, { made: new Map(), fast: fastProducts() });
  const { made, fast } = ofModel.get(model);
  if (!made.has(path)) made.set(path, createMatrix(model, path, fast));
  return made.get(path);
}

function createMatrix(model, path, fast) {
  const {
    data: weight,
    shape: [rows, columns],
  } = model.tensor(`${path}.weight`);
  const shift = `${path}.bias`;
  const bias =
    shift in model.tensors ? model.tensor(shift).data : new Float32Array(rows);
  const layer = { weight, bias, rows, columns };
  return { rows, columns, product: fast(layer) ?? product(layer) };
}

/** out[at + i] = weight · x[i] + bias: x (n, columns), out (at + n, rows). */
export function linear({ product }, x, n, out, at = 0) {
  product(x, n, out, at);
}

/** x += change, for the first `count` numbers. */
export function add(x, change, count) {
  for (let i = 0; i < count; i += 1) x[i] += change[i];
}

/** to = from, for the first `count` numbers. */
export function copy(from, to, count) {
  for (let i = 0; i < count; i += 1) to[i] = from[i];
}

/** The first `count` numbers become shares that sum to 1. */
export function softmax(scores, count) {
  let most = -Infinity;
  for (let i = 0; i < count; i += 1) if (scores[i] > most) most = scores[i];
  let total = 0;
  for (let i = 0; i < count; i += 1) total += scores[i] = Math.exp(scores[i] - most);
  for (let i = 0; i < count; i += 1) scores[i] /= total;
}

/** Index of the largest number, the first of several. */
export function argmax(numbers) {
  let best = 0;
  for (let i = 1; i < numbers.length; i += 1) if (numbers[i] > numbers[best]) best = i;
  return best;
}
