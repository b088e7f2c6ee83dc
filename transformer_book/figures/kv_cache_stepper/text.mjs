// What KVCacheStepper says. No DOM.
import { commas, compact, number, python, quote } from "../kit/index.mjs";
import { MOST, POINTS, STEPS } from "./costs.mjs";

export const SAME = 1e-4; // logits that differ by less count as the same

const gapText = (gap) =>
  gap < SAME ? "less than 0.0001" : `up to ${number(gap, gap < 0.01 ? 4 : 2)}`;

/**
 * The first step in which both sides pick other tokens, up to this one; -1 if none.
 * @param {any} geometry
 */
export const parting = ({ said: [mine, other], step }) =>
  mine.slice(0, step + 1).findIndex((token, i) => token !== other[i]);

function verdict(geometry) {
  const {
    state,
    step,
    gaps,
    said: [mine, other],
  } = geometry;
  const gap = `he logits differ by ${gapText(gaps[step])}`;
  const start = state.bug
    ? `But each new token is given position 0: t${gap}`
    : `T${gap}`;
  const at = parting(geometry);
  if (at < 0) return `${start}, and both pick ${quote(mine[step])}.`;
  return `${start}, and step ${at} wrote ${quote(other[at])} instead of ${quote(mine[at])}.`;
}

function overview(geometry) {
  const {
    state: { left_out: out },
    each,
    length,
    step,
    most,
    cost,
  } = geometry;
  const [again, fresh] = [cost(0, step), cost(1, step)];
  const kept = compact(length * each, " ");
  if (!step)
    return (
      `Prefill: both sides process the ${out ? `first ${length} of ${length + out} tokens` : "whole prompt"}, ${compact(fresh)} multiply-adds. ` +
      `Then one side discards everything; the other keeps the keys and values, ${kept}B. ` +
      `The next token is ${quote(geometry.said[0][0])}.`
    );
  return (
    `Step ${step} of ${most}: without a cache, all ${length} tokens are computed ` +
    `(${compact(again)} multiply-adds); with one, only the last (${compact(fresh)}, ` +
    `${number(again / fresh, 1)} times fewer). The cache holds ${kept}B of keys and values. ${verdict(geometry)}`
  );
}

function cell({ first, step, texts }, side, row, column) {
  const query = `query ${row} ${quote(texts[side][row])}`;
  const key = `key ${column} ${quote(texts[side][column])}`;
  const born = Math.max(0, row - first + 1);
  const where = side ? "With a cache" : "Without a cache";
  if (side && born < step)
    return (
      `${where}: ${query} was computed in ${born ? `step ${born}` : "the prefill"}, ` +
      "then discarded: later tokens need only its key and value."
    );
  if (column > row)
    return `${where}: ${query} may not attend to ${key}: computed, then masked.`;
  if (side || born === step) {
    const kept = side && step && column < row ? "the kept " : "";
    return `${where}: ${query} and ${kept}${key}, their score first computed in this step.`;
  }
  return `${where}: ${query} and ${key}, computed ${step - born + 1} times so far.`;
}

function memory({ state, shown, memories }, row, column) {
  const { kind, heads, bytes, own } = memories[row];
  const length = Math.floor((column * shown.max_len) / POINTS);
  return (
    `${shown.name} with ${heads} key/value head${heads > 1 ? "s" : ""} for ${shown.n_heads} heads ` +
    `(${kind}, ${own ? "as built" : "hypothetical"}): ${commas(bytes)} bytes per token in ${state.memory === "own" ? "float32" : "bfloat16"}, so ` +
    `${commas(length)} tokens take ${compact(length * bytes, " ")}B.`
  );
}

/** `active` is [view, row, column] or null; after a step back it may lie outside. */
export function sentence(geometry, active) {
  if (!geometry.first) return "The prompt is empty: type at least one letter.";
  if (!active) return overview(geometry);
  const [view, row, column] = active;
  if (view > 1)
    return memory(geometry, Math.min(row, geometry.memories.length - 1), column);
  const last = geometry.length - 1;
  return cell(geometry, view, Math.min(row, last), Math.min(column, last));
}

const upTo = ({ first, step }) => (first ? [...Array(step + 1).keys()] : []);

/** The multiply-adds of a side in all steps so far. */
export const sum = (geometry, side) =>
  upTo(geometry).reduce((all, s) => all + geometry.cost(side, s), 0);

export function table(geometry) {
  const { first, length, said, gaps, cost, each, shown, memories } = geometry;
  return {
    caption: "Steps so far",
    header: [
      "step",
      "tokens",
      "multiply-adds, no cache",
      "multiply-adds, cache",
      "cache (bytes)",
      "picked, no cache",
      "picked, cache",
      "largest logit difference",
    ],
    rows: [
      ...upTo(geometry).map((s) => [
        s,
        first + s,
        cost(0, s),
        cost(1, s),
        (first + s) * each,
        said[0][s],
        said[1][s],
        number(gaps[s], 4),
      ]),
      ["total", "", sum(geometry, 0), sum(geometry, 1), length * each, "", "", ""],
      ...memories.map(({ kind, bytes }) => [
        `${shown.name}, ${kind}: per token`,
        "",
        "",
        "",
        bytes,
        "",
        "",
        "",
      ]),
    ],
  };
}

/** The texts and logits of the book's model, as the figure shows them. */
function written({ state, step, said, gaps }) {
  const gap = gaps[step];
  const text = (name, tokens) =>
    `assert [decode([i]) for i in ${name}[len(prompt) :]] == ${python(tokens.slice(0, step + 1))}`;
  return `shipped = pretrained.load("manual-lm")
model = ${state.source === "page" ? "dequantized(shipped.model)" : "shipped.model"}
config, decode = model.config, shipped.tokenizer.decode
prompt = shipped.tokenizer.encode(${python(state.prompt)})[:${MOST}]

@torch.no_grad()
def logits(tokens, **how):
    states = model.states(torch.tensor([tokens]), **how)
    return model.unembedding.logits(states[:, -1])[0]

again, kept = list(prompt), list(prompt)
cache = new_cache(config, 1, ${MOST + STEPS})
for step in range(${step + 1}):
    how = {"cache": cache}
${
  state.bug
    ? `    if step:
        how["positions"] = torch.zeros(1, 1, dtype=torch.long)
`
    : ""
}    without = logits(again)
    cached = logits(kept[cache[0].length :], **how)
    gap = (without - cached).abs().max().item()
    again.append(without.argmax().item())
    kept.append(cached.argmax().item())
${text("again", said[0])}
${text("kept", said[1])}
assert ${gap < SAME ? `gap < ${SAME}` : `abs(gap - ${gap}) < 1e-3`}
`;
}

/** A model of the same sizes; its numbers are the reader's. */
const alike = (sizes) => {
  const numbers = { ...sizes };
  delete numbers.name;
  return `config = Config(**${JSON.stringify(numbers)})\n`;
};

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const { first, step, length, cost, memories } = geometry;
  const preset =
    state.memory === "own" ? "" : state.memory.toUpperCase().replace(/\W/g, "_");
  return `from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

from transformer_book import pretrained
from transformer_lib.attention import attention
from transformer_lib.blocks import Config
from transformer_lib.cache import new_cache
from transformer_lib.decoder import ${preset ? `${preset}, ` : ""}Decoder
from transformer_book.figures.weights import dequantized

${first && state.source !== "yours" ? written(geometry) : alike(state.sizes)}
decoder = Decoder(config, attend=attention).to("meta")

def multiply_adds(new, kept):
    cache = new_cache(config, 1, new + kept, device="meta")
    for layer in cache:
        layer.length = kept
    tokens = torch.empty(1, new, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter:
        states = decoder.states(tokens, cache=cache)
        decoder.unembedding.logits(states[:, -1])
    return counter.get_total_flops() // 2

${
  first
    ? `assert multiply_adds(${length}, 0) == ${cost(0, step)}
assert multiply_adds(${step ? `1, ${length - 1}` : `${length}, 0`}) == ${cost(1, step)}
`
    : ""
}for heads, n_bytes in ${python(memories.map(({ heads, bytes }) => [heads, bytes]))}:
    like = replace(${preset || "config"}, n_kv_heads=heads)
    stores = new_cache(like, 1, 1, dtype=torch.${preset ? "bfloat16" : "float32"}, device="meta")
    assert sum(layer.n_bytes for layer in stores) == n_bytes
`;
}
