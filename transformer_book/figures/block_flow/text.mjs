// What BlockFlow says, in words, table and code. No DOM.
import { number, percent, python, quote, sum, tokenText } from "../kit/index.mjs";

/** The layer behind which a row of the picture stands. */
export const part = (row) =>
  row ? ["feed-forward", "attention"][row % 2] : "embedding";
/** The number of the block, from 1, that a row belongs to. */
export const block = (row) => Math.floor((row + 1) / 2);

/** The angle of an addition against the stream that it meets. */
export const degrees = (cosine) =>
  Math.round((180 / Math.PI) * Math.acos(Math.max(-1, Math.min(1, cosine))));

/** A probability in words; what is rounded to 0 or 1 is neither. */
const share = (x) => percent(Math.min(Math.max(x, 1e-9), 1 - 1e-9));
export const brief = (x) =>
  share(x).replace("less than ", "<").replace("more than ", ">");

export const leader = (flow, row) => flow.top.at(row)[0][0];

/** The first row from which on the answer leads the lens. */
function answerFrom(flow) {
  const answer = leader(flow, -1);
  return flow.top.findLastIndex(([[text]]) => text !== answer) + 1;
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);
const token = ({ position, tokens }) =>
  `token ${position + 1} of ${tokens.length}, ${quote(tokens[position])}`;

const LINKS = ["", ", then ", ", finally "]; // before each leader that is named

function emergence(flow) {
  const first = answerFrom(flow);
  const answer = quote(leader(flow, -1));
  if (first === 0) return `The logit lens reads ${answer} from the embedding on`;
  const said = flow.top
    .slice(0, first)
    .map(([[text]]) => text)
    .filter((text, i, all) => text !== all[i - 1])
    .filter((_, i, all) => i < 2 || i === all.length - 1);
  return (
    `At first the logit lens reads ${said.map((text, i) => LINKS[i] + quote(text)).join("")}; ${answer} ` +
    `leads from block ${block(first)}'s ${part(first)} on`
  );
}

function overview(flow) {
  const { lengths } = flow;
  return (
    `${capital(token(flow))}: ${lengths.length - 1} additions take its stream from length ` +
    `${number(lengths[0], 1)} to ${number(lengths.at(-1), 1)}. ${emergence(flow)}, and ends at ` +
    `${share(flow.answer.at(-1))}.`
  );
}

const way = (angle) =>
  angle <= 70
    ? "partly along"
    : angle < 110
      ? "nearly perpendicular to"
      : "partly against";

/** What row r adds, and what the lens reads there. */
export function sentenceOf(flow, r) {
  const { lengths, changes, cosines, norm } = flow;
  const reads = flow.top[r]
    .map(([text, p]) => `${quote(text)} (${share(p)})`)
    .join(", ");
  const now = number(lengths[r], 1);
  if (r === 0)
    return `The embedding of ${token(flow)}, has length ${now}. The lens reads ${reads}.`;
  const angle = degrees(cosines[r - 1]);
  const added = changes[r - 1]
    ? `a vector of length ${number(changes[r - 1], 1)} at ${angle}°, ${way(angle)}`
    : "nothing to";
  const end =
    norm === "post"
      ? `the norm rescales the sum to ${now}`
      : `the sum has length ${now}`;
  return (
    `Block ${block(r)}, ${part(r)}, adds ${added} ` +
    `the stream of length ${number(lengths[r - 1], 1)}; ${end}. The lens reads ${reads}.`
  );
}

/** `active` is [row, 0] or null. */
export const sentence = ({ flow }, active) =>
  active ? sentenceOf(flow, active[0]) : overview(flow);

/** What becomes of length and shares in a random stack. */
export function caption(kind, { lengths, shares }) {
  const now = number(lengths.at(-1), 1);
  const what =
    kind === "pre"
      ? "Pre-norm: nothing rescales the stream, so it grows roughly with the square root of " +
        `depth, from ${number(lengths[0], 1)} to ${now} in ${shares.length / 2} blocks. On the ` +
        "whole, though not at every step, additions matter less"
      : `Post-norm: each norm resets the stream to the same length, ${now}. New additions ` +
        "stay large, and earlier ones shrink";
  return `${what}: the first has ${percent(shares[0])} of the length of the sum, the last ${percent(shares.at(-1))}.`;
}

const nameOf = (r) => (r ? `block ${block(r)}, ${part(r)}` : "embedding");

function row({ lengths, changes, cosines, top, answer }, r) {
  const added = r ? [number(changes[r - 1]), `${degrees(cosines[r - 1])}°`] : ["", ""];
  const best = top[r].map(([text, p]) => `${tokenText(text, 40)} ${number(p, 4)}`);
  return [nameOf(r), number(lengths[r]), ...added, ...best, number(answer[r], 4)];
}

export function table({ flow, state: { residual, stacks } }) {
  const ranks = flow.top[0].map((_, i) => `no. ${i + 1}`);
  const stack = stacks[residual];
  return {
    caption: "The stream behind each layer, and a random stack below",
    header: [
      "after",
      "length",
      "addition",
      "angle",
      ...ranks,
      `answer ${quote(leader(flow, -1), 40)}`,
    ],
    rows: [
      ...flow.lengths.map((_, r) => row(flow, r)),
      ...stack.lengths.map((x, r) => [
        `random ${residual}-norm stack: ${nameOf(r)}`,
        number(x),
        r ? `${percent(stack.shares[r - 1])} of the sum` : "",
        "",
        "",
        ...ranks.map(() => ""),
      ]),
    ],
  };
}

/** The two additions and the lens, for a norm before or after each layer. */
export function formula({ norm }) {
  const add = (kind, name) =>
    norm === "post"
      ? ["x ← norm(x + ", [kind, `${name}(x)`, kind], ")"]
      : ["x ← x + ", [kind, `${name}(norm(x))`, kind]];
  return [...add("attention", "attention"), ",  ", ...add("ff", "feed_forward")];
}

const best = (flow) => flow.top.map(([[, p]]) => p);
const numbers = (flow) =>
  python([best(flow), flow.lengths, flow.changes, flow.cosines]);
const leaders = (flow) => flow.top.map((_, r) => leader(flow, r));

/** The book's model does it all again. */
const again = (flow) => `from transformer_book import pretrained
from transformer_book.figures.weights import dequantized

shipped = pretrained.load("manual-lm")
model, tokenizer = dequantized(shipped.model), shipped.tokenizer  # int8
tokens = torch.tensor([tokenizer.encode(${python(flow.prompt)})])

said, probability, length, change_length, cosine = [], [], [], [], []

def read(x):  # the logit lens
    logits = model.unembedding.logits(model.stack.norm(x))[0, ${flow.position}]
    best = int(logits[: tokenizer.vocab_size].argmax())
    said.append(tokenizer.decode([best]))
    probability.append(logits.softmax(-1)[best])
    length.append(x[0, ${flow.position}].norm())

with torch.no_grad():
    x, mask, rotate = model.stack.enter(model.embedding(tokens), mask="causal")
    read(x)
    for block in model.stack.blocks:
        options = {"mask": mask, "rotate": rotate}
        for residual, how in ((block.attention, options), (block.feed_forward, {})):
            change = residual.layer(residual.norm(x), **how)
            change_length.append(change[0, ${flow.position}].norm())
            cosine.append(torch.cosine_similarity(change, x, dim=-1)[0, ${flow.position}])
            x = x + change
            read(x)

assert said == ${python(leaders(flow))}
for got, want in zip((probability, length, change_length, cosine), ${numbers(flow)}):
    want = torch.tensor(want, dtype=torch.float32)
    torch.testing.assert_close(torch.stack(got), want, rtol=1e-3, atol=1e-3)
`;

/** Numbers of a model that is not here: that sums have the length they must have. */
const sums = (flow) => `
# your model is not on this page, so its numbers are only checked against each other; to compute them:
# BlockFlow.followed(model, tokenizer, ${python(flow.prompt)}, ${flow.position})
said = ${python(leaders(flow))}
probability, length, change, cosine = (torch.tensor(x, dtype=torch.float32) for x in ${numbers(flow)})

assert len(said) == len(length) == len(change) + 1
assert bool(((0 <= probability) & (probability <= 1)).all())
before = length[:-1]
total = (before**2 + change**2 + 2 * before * change * cosine).sqrt()
${
  flow.norm === "pre"
    ? "torch.testing.assert_close(total, length[1:], rtol=1e-2, atol=1e-2)"
    : "assert bool(total.isfinite().all())  # a norm follows"
}
`;

/** The library builds the random stack again. */
const rebuilt = ({ lengths, shares }, kind) => `
shown = {"lengths": ${python(lengths)}, "shares": ${python(shares)}}
for name, numbers in random_stacks()["${kind}"].items():
    torch.testing.assert_close(torch.tensor(numbers), torch.tensor(shown[name]), rtol=0, atol=1e-4)
`;

const BOOKS = { pre: 396.7265, post: 207.4316 }; // all numbers of the book's stacks, added up

/** The shown state as a program that computes it again and asserts it. */
export function pytorch({ source, residual, stacks }, { flow }) {
  const random = stacks[residual];
  const isBooks =
    Math.abs(sum([...random.lengths, ...random.shares]) - BOOKS[residual]) < 0.005;
  const library = isBooks
    ? "from transformer_book.figures.block_flow.streams import random_stacks\n"
    : "";
  const stream = source === "Python" ? sums(flow) : again(flow);
  const stack = isBooks
    ? rebuilt(random, residual)
    : "\n# your stack is not on this page\n";
  return `import torch\n${library}${stream}${stack}`;
}
