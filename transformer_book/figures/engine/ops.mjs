// The arithmetic: sums run in float64 and are stored as float32. Nothing allocates.

/** A matrix of the model with its shift: { weight, bias, rows, columns }. */
export function matrix(model, path) {
  const {
    data,
    shape: [rows, columns],
  } = model.tensor(`${path}.weight`);
  const shift = `${path}.bias`;
  const bias =
    shift in model.tensors ? model.tensor(shift).data : new Float32Array(rows);
  return { weight: data, bias, rows, columns };
}

function oneRow({ weight, bias, columns }, r, x, from, out, to) {
  let sum = bias[r];
  for (let k = 0, w = r * columns; k < columns; k += 1, w += 1)
    sum += weight[w] * x[from + k];
  out[to + r] = sum;
}

// Four rows share each number of x, and their sums need not wait for each other: more
// than twice as fast as one row after the other.
function fourRows({ weight, bias, columns }, r, x, from, out, to) {
  const w0 = r * columns;
  const [w1, w2, w3] = [w0 + columns, w0 + 2 * columns, w0 + 3 * columns];
  let [sum0, sum1, sum2, sum3] = [bias[r], bias[r + 1], bias[r + 2], bias[r + 3]];
  for (let k = 0; k < columns; k += 1) {
    const number = x[from + k];
    sum0 += weight[w0 + k] * number;
    sum1 += weight[w1 + k] * number;
    sum2 += weight[w2 + k] * number;
    sum3 += weight[w3 + k] * number;
  }
  out[to + r] = sum0;
  out[to + r + 1] = sum1;
  out[to + r + 2] = sum2;
  out[to + r + 3] = sum3;
}

/** out[at + i] = weight · x[i] + bias: x (n, columns), out (at + n, rows). */
export function linear(layer, x, n, out, at = 0) {
  const { rows, columns } = layer;
  const fours = rows - (rows % 4);
  for (let i = 0; i < n; i += 1) {
    const [from, to] = [i * columns, (at + i) * rows];
    for (let r = 0; r < fours; r += 4) fourRows(layer, r, x, from, out, to);
    for (let r = fours; r < rows; r += 1) oneRow(layer, r, x, from, out, to);
  }
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
