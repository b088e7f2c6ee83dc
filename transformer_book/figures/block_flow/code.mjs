// The shown state as PyTorch that asserts it. No DOM.
import { python } from "../kit/index.mjs";
import { leader } from "./text.mjs";

const numbers = (flow) =>
  python([best(flow), flow.lengths, flow.changes, flow.cosines]);
const leaders = (flow) => flow.top.map((_, r) => leader(flow, r));
const best = (flow) => flow.top.map(([[, p]]) => p);

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
        looks = {"mask": mask, "rotate": rotate}
        for place, how in ((block.attention, looks), (block.feed_forward, {})):
            change = place.layer(place.norm(x), **how)
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
# your model is not in this page, so its numbers are only held against each other; to compute them:
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

const BOOKS = { pre: 24.59, post: 8 }; // how long the stream of the book's stacks ends
export function pytorch({ source, residual, stacks }, { flow }) {
  const random = stacks[residual];
  const book = Math.abs(random.lengths.at(-1) - BOOKS[residual]) < 0.01;
  const library = book
    ? "from transformer_book.figures.block_flow.streams import random_stacks\n"
    : "";
  const stream = (source === "Python" ? sums : again)(flow);
  return `import torch\n${library}${stream}${book ? rebuilt(random, residual) : "\n# your stack is not in this page\n"}`;
}
