// The shown sizes as PyTorch that asserts them. No DOM.
import { python } from "../kit/index.mjs";
import { ownSlots } from "./lines.mjs";

/** Names of the program's tensors, line by line; `split_heads` gives views. */
const MADE = [
  "tokens",
  "embedded",
  "x",
  "norm",
  "projected",
  "split",
  "scores",
  "weights",
  "mixed",
  "merged",
  "out",
  "attended",
  "norm_2",
  "up",
  "gelu",
  "down",
  "after",
  "end",
  "logits",
];

/** The block again, each result by its name, and what the figure says of it. */
const walked = ({ lines, bytes }, heads) => [
  "block = model.stack.blocks[0]",
  "layer, forward = block.attention.layer, block.feed_forward.layer",
  "embedded = model.embedding(tokens)",
  "x, *_ = model.stack.enter(embedded)  # + positions",
  "norm = block.attention.norm(x)",
  "projected = [linear(norm) for linear in (layer.query, layer.key, layer.value)]",
  `query, key, value = split = [split_heads(one, ${heads}) for one in projected]`,
  "assert all(one._is_view() for one in split)  # which copies nothing",
  "scores = query @ key.mT",
  "weights = scores.softmax(-1)",
  "mixed = weights @ value",
  "merged = merge_heads(mixed)",
  "out = layer.out(merged)",
  "attended = x + out",
  "norm_2 = block.feed_forward.norm(attended)",
  "up = forward.up(norm_2)",
  "gelu = forward.activation(up)",
  "down = forward.down(gelu)",
  "after = attended + down",
  "end = model.stack.norm(after)",
  "",
  "lines = [  # result, blocks, shape, bytes in all blocks",
  ...lines.map(
    (line, i) =>
      `    (${MADE[i]}, ${line.blocks}, ${python(line.shape)}, ${line.blocks * line.bytes}),`,
  ),
  "]",
  "total = 0",
  "for result, blocks, shape, size in lines:",
  "    results = result if isinstance(result, list) else [result]",
  "    assert [list(one.shape) for one in results] == [shape] * len(results)",
  "    kept = 0 if result is split else blocks * sum(one.nbytes for one in results)",
  "    assert kept == size",
  "    total += kept",
  `assert total == ${bytes}`,
  "",
];

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const { params, flops } = geometry;
  const { batch: B, length: T, d_model: d, n_heads: h, wrong } = state;
  const exact = Number.isSafeInteger(flops);
  const split = [
    `x = torch.arange(${T}).repeat_interleave(${d}).view(1, ${T}, ${d})  # each token's number`,
    `good = x.view(1, ${T}, ${h}, ${d / h}).transpose(1, 2)`,
    `bad = x.view(1, ${h}, ${T}, ${d / h})  # the same shape`,
    "assert good.shape == bad.shape",
    `own = (bad == torch.arange(${T})[:, None]).all(dim=-1).sum().item()`,
    `assert own == ${ownSlots(T, h)}  # of ${T * h} slots hold their own token`,
  ];
  return [
    "import torch",
    "from torch.utils.flop_counter import FlopCounterMode",
    "",
    "from transformer_lib.attention import attention",
    "from transformer_lib.blocks import Config",
    "from transformer_lib.decoder import Decoder",
    "from transformer_lib.multihead import merge_heads, split_heads",
    "",
    "config = Config(",
    `    vocab_size=${state.vocab_size},`,
    `    d_model=${d},`,
    `    n_layers=${state.n_layers},`,
    `    n_heads=${h},`,
    `    d_ff=${state.d_ff || 4 * d},`,
    `    max_len=${state.max_len},`,
    '    norm="layer",',
    '    feed_forward="gelu_tanh",',
    '    positions="learned",',
    "    bias=True,",
    `    tied=${state.tied ? "True" : "False"},`,
    ")",
    'with torch.device("meta"):  # shapes without numbers',
    "    model = Decoder(config, attend=attention)",
    `    tokens = torch.empty(${B}, ${T}, dtype=torch.long)`,
    "parameters = sum(p.numel() for p in model.parameters())",
    `assert parameters == ${params}`,
    "",
    "with FlopCounterMode(display=False) as counter:",
    "    logits = model(tokens)",
    exact
      ? `assert counter.get_total_flops() == ${flops}`
      : `assert abs(counter.get_total_flops() / ${flops} - 1) < 1e-9`,
    "",
    ...walked(geometry, h),
    ...(wrong ? split : []),
  ].join("\n");
}
