// What Translator says. No DOM.
import {
  number,
  percent,
  python,
  pythonRows,
  quote,
  tokenText,
} from "../kit/index.mjs";
import { SHIPPED } from "./answers.mjs";
import { german, meantBy, numberOf } from "./numbers.mjs";

const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

/** A share in few signs: "> 99%". */
export const share = (x) =>
  percent(x).replace("more than", ">").replace("less than", "<");

/** A weight, which is stored in thousandths and is never quite 0 or 1. */
export const weight = (x) => share(Math.max(0.001, Math.min(0.999, x)));
const about = (x) => percent(x).replace(/^\d/, "about $&");

/** Whose weights are shown. */
export const headsOf = (head, weights) =>
  head.length
    ? `block ${head[0]}, head ${head[1]}`
    : `mean of ${plural(weights.flat().length, "head")}`;

/** The right translation, where a rule knows it. */
function expectedOf({ words }) {
  const n = meantBy(words);
  return n && german(n);
}

/** Whether the translation is right. */
export function verdict(answer) {
  const [expected, { translation }] = [expectedOf(answer), answer];
  if (!expected) return "no rule here can check it";
  if (translation === expected) return "✓ as expected";
  return `✗ wrong: expected ${quote(expected, 80)}`;
}

const choice = ([token, chance]) => `${quote(token)}, ${percent(chance)}`;

function attention({ shares, answer: { source }, heads }, r) {
  const two = shares[r].map((share, c) => [share, c]).sort((a, b) => b[0] - a[0]);
  const all = two
    .slice(0, 2)
    .map(([share, c]) => `${about(share)} to ${quote(source[c])}`);
  return `${all.join(" and ")} (${heads})`;
}

function overview({ answer, shares: [first], heads }) {
  const { words, source, target, translation } = answer;
  const most = first.indexOf(Math.max(...first));
  return (
    `Step ${target.length}, the last, wrote ${quote(target.at(-1))}. ${quote(words, 80)} ` +
    `(${plural(source.length, "token")}, all read at once) became ` +
    `${quote(translation, 80)}: ${verdict(answer)}. ` +
    `Step 1 attended most to token ${most + 1}, ${quote(source[most])} ` +
    `(${about(first[most])}, ${heads}), and wrote ${quote(target[0])}.`
  );
}

/** One step; also the name of its line in the picture. */
export function rowSentence(geometry, r) {
  const { answer, shown } = geometry;
  const [best, second] = answer.chances[r];
  if (r < shown) {
    const after = second ? `; runner-up ${choice(second)}` : "";
    return (
      `Step ${r + 1} wrote ${quote(answer.target[r])} (${percent(best[1])}${after}), ` +
      `attending ${attention(geometry, r)}.`
    );
  }
  const start = r ? `after ${quote(answer.target[r - 1])}` : "first";
  return (
    `Step ${r + 1} comes next, ${start}: the decoder attends ${attention(geometry, r)}. Its most ` +
    `probable token: ${choice(best)}.`
  );
}

export function cellSentence(
  { answer: { source, target }, shown, shares, heads },
  r,
  c,
) {
  const wrote =
    r < shown ? `wrote ${quote(target[r])}, attending` : "comes next, attending";
  return (
    `Step ${r + 1} ${wrote} ${about(shares[r][c])} to ${quote(source[c])}, token ${c + 1} ` +
    `of ${source.length} (${heads}).`
  );
}

/** Why what is shown does not answer what was asked, and what it answers; or nothing. */
export function waits(asked, { words }) {
  if (asked === words) return [];
  const why = numberOf(asked)
    ? "has no answer yet"
    : asked.replaceAll(",", "") > 999_999
      ? "is more than 999,999"
      : "cannot be read as an integer from 1 to 999,999";
  const n = numberOf(words);
  return [
    asked.trim() ? `${quote(asked, 80)} ${why}.` : "The field is empty.",
    `The answer shown is for ${quote(words, 80)}${n ? ` (${n})` : ""}.`,
  ];
}

/** `active` is [step], [step, token] or null. */
export function sentence(geometry, active) {
  if (geometry.waiting) return geometry.waiting;
  const at = geometry.at(active);
  if (!at) return overview(geometry);
  return at.length === 2 ? cellSentence(geometry, ...at) : rowSentence(geometry, at[0]);
}

export function table({ answer, shown, shares, heads }) {
  const cells = (pair) =>
    pair ? [tokenText(pair[0], 40), number(pair[1], 4)] : ["∅", "0.0000"];
  return {
    caption: `What each step wrote, and its attention (${heads})`,
    header: [
      "step",
      "token",
      "best",
      "probability",
      "runner-up",
      "its probability",
      ...answer.source.map((token) => tokenText(token, 40)),
    ],
    rows: shares.map((row, r) => [
      r + 1,
      r < shown ? tokenText(answer.target[r], 40) : "next",
      ...cells(answer.chances[r][0]),
      ...cells(answer.chances[r][1]),
      ...row.map((x) => number(x, 3)),
    ]),
  };
}

/** A token as a Python literal of bytes. */
function bytes(token) {
  const hex = /^(<0x[0-9A-F]{2}>)+$/.test(token) && token.match(/[0-9A-F]{2}(?=>)/g);
  const all = hex
    ? hex.map((two) => Number.parseInt(two, 16))
    : [...new TextEncoder().encode(token)];
  const sign = (byte) =>
    byte > 31 && byte < 127 && byte !== 34 && byte !== 92
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, "0")}`;
  return `b"${all.map(sign).join("")}"`;
}

const run = ({ head }, { answer, shown, shares, done }) => [
  "from transformer_book import pretrained",
  "from transformer_lib.inspection import record_attention",
  "",
  `found = pretrained.load(${python(SHIPPED)})`,
  "model, tokenizer = found.model, found.tokenizer",
  `source = torch.tensor([tokenizer.encode(${python(answer.words)})])`,
  'written, probabilities = [tokenizer.special("<start>")], []',
  "with torch.no_grad(), record_attention(model) as weights:",
  "    states = model.encode(source)  # once",
  `    for _ in range(${shares.length}):`,
  "        logits = model.decode(torch.tensor([written]), states)[0, -1]",
  "        written.append(int(logits.argmax()))",
  "        probabilities.append(logits.softmax(dim=-1).max())",
  "",
  `tokens = [tokenizer.token_bytes(i) for i in written[1:]][:${shown}]`,
  `assert tokens == [${answer.target.slice(0, shown).map(bytes).join(", ")}]`,
  ...(done && answer.target.at(-1) === "<end>"
    ? [`assert tokenizer.decode(written[1:-1]) == ${python(answer.translation)}`]
    : []),
  `best = torch.tensor([${answer.chances
    .slice(0, shares.length)
    .map(([[, p]]) => p)
    .join(", ")}])`,
  "torch.testing.assert_close(torch.stack(probabilities), best, rtol=0, atol=1e-3)",
  "",
  'cross = torch.stack([w[0] for name, w in weights.items() if ".cross." in name])',
  head.length
    ? `attention = cross[${head.join(", ")}]`
    : "attention = cross.mean(dim=(0, 1))",
  "torch.testing.assert_close(attention, shown, rtol=0, atol=2e-3)",
  "",
];

function ruled(answer) {
  const [n, { translation }] = [meantBy(answer.words), answer];
  return n
    ? [
        "from transformer_book.tasks import number_words",
        "",
        `assert number_words(${n}, "de") ${translation === expectedOf(answer) ? "=" : "!"}= ${python(translation)}`,
        "",
      ]
    : [];
}

/** What another model attended to can only be checked for what it must be. */
const trust = ({ shares, answer }) => [
  ...ruled(answer),
  `# tokens and probabilities are not checked: ${python(answer.by)} is not here`,
  `torch.testing.assert_close(shown.sum(dim=-1), torch.ones(${shares.length}), rtol=0, atol=2e-2)`,
  "",
];

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const rows = geometry.shares.map((row) => row.map((x) => Number(x.toFixed(4))));
  const rest = geometry.answer.by === SHIPPED ? run(state, geometry) : trust(geometry);
  const shown = `shown = torch.tensor(${pythonRows(rows)}, dtype=torch.float32)`;
  return ["import torch", "", shown, "", ...rest].join("\n");
}
