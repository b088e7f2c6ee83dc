// Norms, feed-forward layers, and how a layer joins the residual stream.
import { add, copy, linear, matrix } from "./ops.mjs";
import { choose } from "./packed.mjs";

/** Each: norm(x, n, out) for n rows of width d_model; x and out may be the same. */
export const NORMS = {
  layer(model, path) {
    const { data: weight } = model.tensor(`${path}.weight`);
    const bias =
      `${path}.bias` in model.tensors
        ? model.tensor(`${path}.bias`).data
        : new Float32Array(weight.length);
    const [d, eps] = [weight.length, model.config.norm_eps];
    return (x, n, out) => {
      for (let row = 0; row < n * d; row += d) {
        let [mean, variance] = [0, 0];
        for (let k = 0; k < d; k += 1) mean += x[row + k] / d;
        for (let k = 0; k < d; k += 1) variance += (x[row + k] - mean) ** 2 / d;
        const share = 1 / Math.sqrt(variance + eps);
        for (let k = 0; k < d; k += 1)
          out[row + k] = (x[row + k] - mean) * share * weight[k] + bias[k];
      }
    };
  },
  rms(model, path) {
    const { data: weight } = model.tensor(`${path}.weight`);
    const [d, eps] = [weight.length, model.config.norm_eps];
    return (x, n, out) => {
      for (let row = 0; row < n * d; row += d) {
        let square = 0;
        for (let k = 0; k < d; k += 1) square += x[row + k] ** 2 / d;
        const share = 1 / Math.sqrt(square + eps);
        for (let k = 0; k < d; k += 1) out[row + k] = x[row + k] * share * weight[k];
      }
    };
  },
};

/** erf by its series of positive terms: exact to float64 up to 4, and 1 beyond. */
function erf(x) {
  if (Math.abs(x) > 4) return Math.sign(x);
  let [sum, term] = [0, x];
  for (let i = 1; Math.abs(term) > 1e-12 * Math.abs(sum); i += 1) {
    sum += term;
    term *= (2 * x * x) / (2 * i + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

const relu = (x) => Math.max(0, x);
const silu = (x) => x / (1 + Math.exp(-x));
const gelu = (x) => 0.5 * x * (1 + erf(x * Math.SQRT1_2));
const geluTanh = (x) =>
  0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

const widened = (activation) => (model, path, room) => {
  const [up, down] = ["up", "down"].map((name) => matrix(model, `${path}.${name}`));
  const wide = new Float32Array(room.rows * up.rows);
  return (n) => {
    linear(up, room.input, n, wide);
    for (let i = 0; i < n * up.rows; i += 1) wide[i] = activation(wide[i]);
    linear(down, wide, n, room.change);
  };
};

function gated(model, path, room) {
  const [gate, up, down] = ["gate", "up", "down"].map((name) =>
    matrix(model, `${path}.${name}`),
  );
  const [wide, open] = [0, 1].map(() => new Float32Array(room.rows * up.rows));
  return (n) => {
    linear(gate, room.input, n, open);
    linear(up, room.input, n, wide);
    for (let i = 0; i < n * up.rows; i += 1) wide[i] *= silu(open[i]);
    linear(down, wide, n, room.change);
  };
}

/** Each: run(n) reads room.input and writes room.change, both (n, d_model). */
export const FEED_FORWARDS = {
  relu: widened(relu),
  gelu: widened(gelu),
  gelu_tanh: widened(geluTanh),
  swiglu: gated,
};

/** Where a layer stands on the stream room.x (n, d_model); `last` ends a stack. */
export const RESIDUALS = {
  pre: {
    join: (room, norm, run) => (n, start, watch) => {
      norm(room.x, n, room.input);
      run(n, start, watch);
      add(room.x, room.change, n * room.width);
    },
    last: (model, path) => choose(NORMS, "norm", model.config.norm)(model, path),
  },
  post: {
    join: (room, norm, run) => (n, start, watch) => {
      copy(room.x, room.input, n * room.width);
      run(n, start, watch);
      add(room.x, room.change, n * room.width);
      norm(room.x, n, room.x);
    },
    last: (model) => (x, n, out) => copy(x, out, n * model.config.d_model),
  },
};
