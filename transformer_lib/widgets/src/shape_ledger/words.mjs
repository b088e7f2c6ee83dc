// What ShapeLedger says; shape_words.py says the same. No DOM.
import { number, percent, python } from "../kit/index.mjs";
import { ownPlaces, total } from "./lines.mjs";

export const commas = (x) => String(x).replace(/\B(?=(\d{3})+$)/g, ",");

/** Three digits and a unit: 124M, 9.66G, 7. */
export function compact(x, space = "") {
  if (x < 1000) return `${number(x, 0)}${space}`;
  let power = 0;
  for (; x >= 999.5; power++) x /= 1000;
  return `${number(x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0)}${space}${" kMGTPE"[power]}`;
}

export const shapeText = ({ copies, shape }) =>
  `${copies > 1 ? `${copies} × ` : ""}(${shape.join(", ")})`;

function overview({ state, lines, params, flops }) {
  const share = (...parts) =>
    percent(total(lines.filter(({ part }) => parts.includes(part)), "params") / params);
  const products = total(lines.filter(({ name }) => name.includes("@")), "flops") / flops;
  return (
    `${commas(params)} parameters, ${compact(4 * params, " ")}B: ` +
    `${share("embed", "end")} in embeddings, ${share("attention")} in attention, ` +
    `${share("ff")} in feed-forward. One pass over ${state.batch} × ${state.length} tokens ` +
    `takes ${compact(flops, " ")}FLOP, ${percent(products)} of it between tokens ` +
    "(the products that grow with T²)."
  );
}

function one(geometry, line) {
  const many = line.blocks > 1;
  const [params, flops] = [line.blocks * line.params, line.blocks * line.flops];
  const has =
    `${commas(line.params)} parameters` +
    (line.params ? `${many ? " a block" : ""}, ${percent(params / geometry.params)} of all` : "");
  const takes =
    `${compact(flops, " ")}FLOP` +
    (line.flops ? `${many ? " in all" : ""}, ${percent(flops / geometry.flops)}` : "");
  const keeps = line.view
    ? "a view, which copies nothing" : `${compact(line.blocks * line.bytes, " ")}B of results`;
  const where = many ? `, in each of ${line.blocks} blocks,` : "";
  return `${line.name}${where} makes ${shapeText(line)}: ${has}; ${takes}; ${keeps}.`;
}

function mixed({ length, n_heads: heads }) {
  const [own, places] = [ownPlaces(length, heads), length * heads];
  const start =
    "Wrong reshape: view without transpose. Shapes, parameters and FLOPs stay the same, " +
    "so no error says it";
  if (own === places) return `${start}; with one head or one token, nothing moves.`;
  return (
    `${start}, but tokens are mixed: only ${commas(own)} of ${commas(places)} places in the ` +
    "heads hold their own token. Head 0 reads token 0 at position 1."
  );
}

const LETTERS = {
  batch: "B", length: "T", d_model: "d", n_heads: "h", n_layers: "L", vocab_size: "V", d_ff: "f",
  max_len: "P",
};
const inner = ({ d_ff: f, d_model: d }) => f || 4 * d;

/** What changed between two states, and why more than one size did. */
export function changes(before, now) {
  const sizes = (state) => ({ ...state, d_ff: inner(state) });
  const [from, to] = [sizes(before), sizes(now)];
  const names = Object.keys(LETTERS).filter((name) => from[name] !== to[name]);
  const all = names.length > 3
    ? ["sizes of another model"]
    : names.map((name) => `${LETTERS[name]} ${from[name]} → ${to[name]}`);
  if (from.tied !== to.tied) all.push(to.tied ? "now tied" : "no longer tied");
  const why = {
    "length,max_len": "each position needs its row",
    "d_model,n_heads": "all heads are equally wide", "d_model,d_ff": "f stays 4 d",
  }[names.filter((name) => name !== "d_ff" || names.length === 2).join()];
  return all.join(", ") + (why ? `: ${why}` : "");
}

/** The three numbers to watch: [name, text], each with what it was `before`. */
export function watched(before, now) {
  const scores = ({ lines }) => lines.filter(({ name }) => name === "query @ key.mT");
  const numbers = (geometry) =>
    [geometry.params, geometry.flops, total(scores(geometry), "bytes")].map((x) => compact(x));
  const [from, to] = [numbers(before), numbers(now)];
  return ["parameters", "FLOPs", "bytes of scores"].map((name, i) =>
    [name, from[i] === to[i] ? to[i] : `${from[i]} → ${to[i]}`]);
}

/** Why nobody notices, in a few words for the place where it is switched on. */
export function unnoticed({ length, n_heads: heads }) {
  const start = "No number notices: every shape stays the same, so there is no error.";
  if (length === 1 || heads === 1) return `${start} With one head or one token, nothing moves.`;
  return `${start} But head 0 reads token 0 at position 1 (✗): tokens are mixed.`;
}

/** `active` is [line] or null. */
export function sentence(geometry, active) {
  const line = active && geometry.lines[active[0]];
  if (geometry.state.wrong && (!line || line.name === "split_heads")) return mixed(geometry.state);
  return line ? one(geometry, line) : overview(geometry);
}

/** A count as a spreadsheet reads it; beyond what a browser counts exactly, 4 digits of it. */
const count = (x) => (Number.isSafeInteger(x) ? x : x.toExponential(3));

export function table({ lines, params, flops, bytes }) {
  return {
    caption: "Lines of the forward pass; those of a block count for all blocks",
    header: ["line", "blocks", "shape of the result", "parameters (count)", "compute (FLOPs)", "results (bytes)"],
    rows: [
      ...lines.map((line) => [
        line.name, line.blocks, shapeText(line),
        ...[line.params, line.flops, line.bytes].map((x) => count(line.blocks * x)),
      ]),
      ["sum", "", "", ...[params, flops, bytes].map(count)],
    ],
  };
}

/** Names of the program's tensors, line by line; `split_heads` gives views. */
const MADE = [
  "tokens", "embedded", "x", "norm", "projected", "split", "scores", "weights", "mixed", "merged",
  "out", "attended", "norm_2", "up", "gelu", "down", "after", "end", "logits",
];

/** The block again, each result by its name, and what the figure says of it. */
const walked = ({ lines, bytes }, heads) => [
  "block = model.stack.blocks[0]",
  "layer, forward = block.attention.layer, block.feed_forward.layer",
  "embedded = model.embedding(tokens)",
  "x, *_ = model.stack.enter(embedded, None, None, 0)  # + positions",
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
  "end = model.stack.norm(after)", "",
  "lines = [  # result, blocks, shape, bytes in all blocks",
  ...lines.map((line, i) =>
    `    (${MADE[i]}, ${line.blocks}, ${python(line.shape)}, ${line.blocks * line.bytes}),`),
  "]",
  "total = 0",
  "for result, blocks, shape, size in lines:",
  "    results = result if isinstance(result, list) else [result]",
  "    assert [list(one.shape) for one in results] == [shape] * len(results)",
  "    kept = 0 if result is split else blocks * sum(one.nbytes for one in results)",
  "    assert kept == size",
  "    total += kept",
  `assert total == ${bytes}`, "",
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
    `assert own == ${ownPlaces(T, h)}  # of ${T * h} places hold their own token`,
  ];
  return [
    "import torch", "from torch.utils.flop_counter import FlopCounterMode", "",
    "from transformer_lib.attention import attention",
    "from transformer_lib.blocks import Config",
    "from transformer_lib.decoder import Decoder",
    "from transformer_lib.multihead import merge_heads, split_heads", "",
    "config = Config(",
    `    vocab_size=${state.vocab_size},`, `    d_model=${d},`, `    n_layers=${state.n_layers},`,
    `    n_heads=${h},`, `    d_ff=${state.d_ff || 4 * d},`, `    max_len=${state.max_len},`,
    '    norm="layer",', '    feed_forward="gelu_tanh",', '    positions="learned",',
    "    bias=True,", `    tied=${state.tied ? "True" : "False"},`,
    ")",
    'with torch.device("meta"):  # shapes without numbers',
    "    model = Decoder(config, attend=attention)",
    `    tokens = torch.empty(${B}, ${T}, dtype=torch.long)`,
    "parameters = sum(p.numel() for p in model.parameters())",
    `assert parameters == ${params}`, "",
    "with FlopCounterMode(display=False) as counter:",
    "    logits = model(tokens)",
    exact
      ? `assert counter.get_total_flops() == ${flops}`
      : `assert abs(counter.get_total_flops() / ${flops} - 1) < 1e-9`,
    "", ...walked(geometry, h), ...(wrong ? split : []),
  ].join("\n");
}
