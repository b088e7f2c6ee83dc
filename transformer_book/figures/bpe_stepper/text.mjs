// What BPEStepper says, in words, table and code. No DOM.
import { number, python, quote } from "../kit/index.mjs";
import { BYTES, MOST_MERGES, isSame } from "./numbers.mjs";

const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
export const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, "0");

/** The text of bytes, at most `most` of them; null if they are no UTF-8. */
export function decoded(bytes, most = Infinity) {
  const all = Uint8Array.from(bytes);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(all);
  } catch {
    return null;
  }
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    all.subarray(0, most),
    { stream: true },
  );
  return bytes.length > most ? `${text}…` : text;
}

/** A token in a sentence: “enty”, or bytes E2 80 where it is no text. */
export function named(bytes) {
  const text = decoded(bytes, 16);
  if (text !== null) return quote(text);
  const some = bytes.slice(0, 8).map(hex).join(" ");
  return `${bytes.length === 1 ? "byte" : "bytes"} ${some}${bytes.length > 8 ? " …" : ""}`;
}

export const rate = (bytes, tokens) => number(tokens ? bytes / tokens : 0);

const both = ({ tokens }, pair) =>
  pair.map((id) => (tokens[id] ? named(tokens[id]) : `token ${id}`)).join(" + ");

const END = "No pairs are left: each word is one token.";
const STOP = `The figure stops at ${MOST_MERGES} merges.`;

/** What is merged next, and why that pair. */
function next({ step, now, ranked, tokens }) {
  const ties = ranked.filter(([, count]) => count === now.count).length;
  const why =
    ties > 1 ? `; of ${ties} tied pairs, the first by left id, then right id` : "";
  const made = BYTES + step;
  return (
    `Next, the most frequent pair, ${both({ tokens }, now.pair)} ` +
    `(${plural(now.count, "time")}${why}), becomes token ${made}, ${named(tokens[made])}.`
  );
}

function overview(geometry) {
  const { step, bytes, now, ranked } = geometry;
  if (bytes === 0)
    return "The text is empty. Type one: its bytes are the first tokens.";
  const before = step ? `After ${plural(step, "merge")}` : "Before any merge";
  const start =
    `${before}, ${plural(bytes, "byte")} ${bytes === 1 ? "is" : "are"} ${plural(now.size, "token")}: ` +
    `${rate(bytes, now.size)} bytes per token.`;
  if (now.pair) return `${start} ${next(geometry)}`;
  return `${start} ${ranked.length ? STOP : END}`;
}

/** What merging a pair would do. */
function effect(geometry, pair) {
  const { ranked, now, bytes, sizeWith } = geometry;
  const rank = ranked.findIndex(([other]) => isSame(other, pair));
  const name = both(geometry, pair);
  if (rank < 0) return `${name} do not occur side by side in a word at this step.`;
  const left = sizeWith(pair);
  const best = sizeWith(ranked[0][0]);
  const other = rank ? `; the top pair leaves ${best}` : "";
  const chosen = rank === 0 && now.pair ? " It is merged next." : "";
  return (
    `${name} occurs ${plural(ranked[rank][1], "time")}, rank ${rank + 1} of ` +
    `${plural(ranked.length, "pair")}. Merging it would leave ` +
    `${plural(left, "token")}, ${rate(bytes, left)} bytes per token${other}.${chosen}`
  );
}

/** The live sentence; `active` is a pair of ids, ["row", place in the list], or null. */
export function sentence(geometry, active) {
  const pair = geometry.pairOf(active);
  const { selected } = geometry.state;
  if (!pair) return overview(geometry);
  const other = selected.length && !isSame(pair, selected);
  return (
    effect(geometry, pair) + (other ? ` Pinned: ${both(geometry, selected)}.` : "")
  );
}

/** The merges so far, then the first pairs of this step. */
export function table({ step, steps, tokens, shown, sizeWith, bytes }) {
  const row = (name, pair, count, left) => [
    name,
    ...pair.map((id) => named(tokens[id])),
    ...pair,
    count,
    left,
    rate(bytes, left),
  ];
  return {
    caption: "Merges so far, then the most frequent pairs now",
    header: [
      "entry",
      "left",
      "right",
      "left id",
      "right id",
      "count",
      "tokens after",
      "bytes per token",
    ],
    rows: [
      ["bytes", "", "", "", "", "", bytes, rate(bytes, bytes)],
      ...steps
        .slice(0, step)
        .map(({ pair, count }, k) =>
          row(`merge ${k + 1}: ${BYTES + k}`, pair, count, steps[k + 1].size),
        ),
      ...shown.map(([pair, count, rank]) =>
        row(`pair ${rank}`, pair, count, sizeWith(pair)),
      ),
    ],
  };
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch({ text }, { step, steps, now, order, bytes, ranked }) {
  const merges = steps.slice(0, step).map(({ pair }) => `(${pair.join(", ")})`);
  const ids = order.flatMap((w) => now.words[w]);
  const [first] = ranked;
  return [
    "from collections import Counter",
    "",
    "import torch",
    "",
    "from transformer_lib.tokens import Tokenizer, count_pairs, learn_merges, split_words",
    "",
    `text = ${python(text)}`,
    "words = Counter(tuple(word.encode()) for word in split_words(text))",
    `merges = learn_merges(words, ${step})`,
    `assert merges == [${merges.join(", ")}]`,
    "",
    "tokenizer = Tokenizer(tuple(merges))",
    "ids = torch.tensor(tokenizer.encode(text), dtype=torch.long)",
    `shown = torch.tensor([${ids.join(", ")}], dtype=torch.long)`,
    "torch.testing.assert_close(ids, shown, rtol=0, atol=0)",
    `assert (len(text.encode()), len(ids)) == (${bytes}, ${now.size})`,
    "",
    "words = {tuple(tokenizer.encode(bytes(word).decode())): n for word, n in words.items()}",
    "pairs = count_pairs(words)",
    `assert len(pairs) == ${ranked.length}`,
    ...(first
      ? [
          "most_frequent = min(pairs, key=lambda pair: (-pairs[pair], pair))",
          `assert most_frequent == (${first[0].join(", ")})`,
          `assert pairs[most_frequent] == ${first[1]}`,
          "ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))",
          "shown = [",
          ...ranked
            .slice(0, 6)
            .map(([pair, times]) => `    ((${pair.join(", ")}), ${times}),`),
          "]",
          "assert ranked[: len(shown)] == shown",
        ]
      : []),
    "",
  ].join("\n");
}
