// What reading tokens costs, with and without a cache. No DOM.
import limits from "./limits.json" with { type: "json" };
export const STEPS = 8; // after the prefill
export const MOST = limits.prompt_length.whole[1]; // tokens of a prompt that are read
export const POINTS = 16; // lengths at which the memory can be asked for

export const KNOWN = {
  "gpt2-small": {
    name: "GPT-2 small",
    n_layers: 12,
    n_heads: 12,
    n_kv_heads: 12,
    d_head: 64,
    max_len: 1024,
  },
  "llama-3.2-1b": {
    name: "Llama 3.2 1B",
    n_layers: 16,
    n_heads: 32,
    n_kv_heads: 8,
    d_head: 64,
    max_len: 131072,
  },
};

/** Sizes of the model whose memory is shown. */
export const shownOf = ({ memory, sizes }) => KNOWN[memory] ?? sizes;

const NAMES = "vocab_size d_model n_layers n_heads d_ff max_len feed_forward".split(
  " ",
);
export const SIZES = [...NAMES.slice(0, 6), "n_kv_heads", "d_head"]; // that are numbers

/** Sizes of a model from its config, which has Python's names. */
export const sizesOf = ({ name, config }) => ({
  ...Object.fromEntries(NAMES.map((size) => [size, config[size]])),
  name,
  n_kv_heads: config.n_kv_heads ?? config.n_heads,
  d_head: config.d_head ?? config.d_model / config.n_heads,
});

/** Multiply-adds of n new tokens among m: n * weights + n * m * pair + logits. */
export function parts({
  d_model: d,
  n_layers: L,
  n_heads,
  n_kv_heads,
  d_head,
  d_ff,
  feed_forward,
  vocab_size,
}) {
  const [wide, narrow] = [n_heads * d_head, n_kv_heads * d_head];
  const matrices = feed_forward === "swiglu" ? 3 : 2;
  return {
    weights: L * (2 * d * wide + 2 * d * narrow + matrices * d * d_ff),
    pair: 2 * L * wide,
    logits: vocab_size * d,
  };
}

/** Bytes that a token leaves in the cache. */
export const keptBytes = ({ n_layers, d_head }, heads, width = 4) =>
  2 * n_layers * heads * d_head * width;

function grouped(heads, own) {
  if (own > 1 && own < heads) return own;
  let g = Math.min(heads - 1, Math.max(2, Math.floor(heads / 4)));
  while (heads % g) g--;
  return g;
}

/** [{ kind, heads, bytes (of a token), own }], the most expensive first. */
export function memories(sizes, width) {
  const { n_heads: heads, n_kv_heads: own } = sizes;
  return [
    ["MHA", heads],
    ["GQA", grouped(heads, own)],
    ["MQA", 1],
  ]
    .filter(([kind, count]) => kind !== "GQA" || count > 1)
    .map(([kind, count]) => ({
      kind,
      heads: count,
      bytes: keptBytes(sizes, count, width),
      own: count === own,
    }));
}
