// The lines of a decoder's forward pass. No DOM.
export const SMALL = 4; // tokens and heads in the picture of the reshape
const product = (shape) => shape.reduce((all, n) => all * n, 1);

/** [{ name, part, blocks, shape, copies, params, flops, bytes, view }], of one block. */
export function lines(state) {
  const {
    batch: B,
    length: T,
    d_model: d,
    n_heads: h,
    n_layers: L,
    vocab_size: V,
  } = state;
  const f = state.d_ff || 4 * d;
  const line =
    (part, blocks) =>
    (name, shape, params = 0, flops = 0, copies = 1, width = 4) => ({
      name,
      part,
      blocks,
      shape,
      copies,
      params,
      flops,
      bytes: width * copies * product(shape),
      view: width === 0,
    });
  const [embed, attention, mlp, end] = [
    line("embed", 1),
    line("attention", L),
    line("ff", L),
    line("end", 1),
  ];
  const [x, wide, heads, scores] = [
    [B, T, d],
    [B, T, f],
    [B, h, T, d / h],
    [B, h, T, T],
  ];
  const [weights, square, products] = [d * d + d, 2 * B * T * d * d, 2 * B * T * T * d];
  return [
    embed("tokens", [B, T], 0, 0, 1, 8),
    embed("embedding", x, V * d),
    embed("x + positions", x, state.max_len * d),
    attention("norm(x)", x, 2 * d),
    attention("query, key, value", x, 3 * weights, 3 * square, 3),
    attention("split_heads", heads, 0, 0, 3, 0),
    attention("query @ key.mT", scores, 0, products),
    attention("softmax(scores)", scores),
    attention("weights @ value", heads, 0, products),
    attention("merge_heads", x),
    attention("out", x, weights, square),
    attention("x + attention", x),
    mlp("norm(x)", x, 2 * d),
    mlp("up", wide, d * f + f, 2 * B * T * d * f),
    mlp("gelu", wide),
    mlp("down", x, d * f + d, 2 * B * T * d * f),
    mlp("x + feed_forward", x),
    end("norm(x)", x, 2 * d),
    end("logits", [B, T, V], state.tied ? 0 : V * d, 2 * B * T * d * V),
  ];
}

export const total = (all, name) =>
  all.reduce((sum, line) => sum + line.blocks * line[name], 0);

/** How many places in all heads hold their own token after a view without transpose. */
export function ownSlots(length, heads) {
  let own = 0;
  for (let t = 0; t < length; t++)
    own +=
      Math.floor(((t + 1) * (heads - 1)) / length) -
      Math.ceil((t * (heads - 1)) / length) +
      1;
  return own;
}

/** Which token each position of each head gets its piece from. */
export const sources = (length, heads, wrong) =>
  Array.from({ length: heads }, (_, j) =>
    Array.from({ length }, (_, t) =>
      wrong ? Math.floor((j * length + t) / heads) : t,
    ),
  );
