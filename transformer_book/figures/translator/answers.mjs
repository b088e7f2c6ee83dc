// What the translator answers: an answer is { words, by,
// source, target, translation, chances, weights: [layer][head][step][token] in 1/1000 }.
import { argmax, createSession, createTokenizer } from "../engine/index.mjs";
import { english } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

export const MOST = limits.step.whole[1]; // tokens of the source, and of the target
export const SHIPPED = "number-translator";
export const LONGEST = limits.text.text[1]; // signs of a text
const CHOICES = 4;

/** The words of a number, any other text as it is; null if the number is out of range. */
export function wordsOf(text) {
  const cut = text.replace(/^ +| +$/g, "");
  if (!/^[0-9][0-9,]*$/.test(cut)) return cut;
  const n = Number(cut.replaceAll(",", ""));
  return n >= 1 && n <= 999_999 ? english(n) : null;
}

/** The most probable tokens, [id, chance]. */
function choices(logits) {
  const most = logits[argmax(logits)];
  const total = logits.reduce((sum, x) => sum + Math.exp(x - most), 0);
  return [...logits.keys()]
    .sort((a, b) => logits[b] - logits[a])
    .slice(0, CHOICES)
    .map((id) => [id, Math.exp(logits[id] - most) / total]);
}

/** A token's text; bytes that are none read <0xC3>. */
function reader({ bytes }) {
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const hex = (byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
  return (id) => {
    try {
      return utf8.decode(bytes(id));
    } catch {
      return Array.from(bytes(id), hex).join("");
    }
  };
}

/** Words of at most MOST tokens, as every number's are -> an answer; the last is remembered. */
export function createAnswers(model) {
  const session = createSession(model);
  const tokenizer = createTokenizer(model.tokenizer);
  const piece = reader(tokenizer);
  const [start, end] = ["<start>", "<end>"].map(tokenizer.special);

  function answer(words) {
    const source = tokenizer.encode(words);
    const [target, chances, weights] = [[], [], []];
    const watch = {
      attention(part, layer, head, query, row) {
        if (part === "cross")
          ((weights[layer] ??= [])[head] ??= [])[query] = Array.from(row, (w) =>
            Math.round(1000 * w),
          );
      },
    };
    session.encode(source);
    let token = start;
    while (token !== end && target.length < MOST) {
      const best = choices(session.read([token], watch));
      [[token]] = best;
      target.push(token);
      chances.push(best);
    }
    return {
      words,
      weights,
      by: SHIPPED,
      source: source.map(piece),
      target: target.map(piece),
      translation: tokenizer.decode(
        target.at(-1) === end ? target.slice(0, -1) : target,
      ),
      chances: chances.map((all) => all.map(([id, p]) => [piece(id), p])),
    };
  }
  let [asked, found] = [null, null];
  return (words) => {
    if (words !== asked) [asked, found] = [words, answer(words)];
    return found;
  };
}
