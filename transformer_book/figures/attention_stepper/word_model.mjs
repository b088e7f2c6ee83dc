// From a reader's text to tokens, queries, keys and values. Pure: no DOM.
import { sum } from "../kit/index.mjs";
import limits from "./limits.json" with { type: "json" };

const WORD = RegExp(limits.text.word, "u");
const PIECE = RegExp(`${limits.text.word}|\\S`, "gu");
export const MOST = limits.tokens.length[1];

/** Rows of numbers times a matrix. */
export const times = (rows, matrix) =>
  rows.map((row) => matrix[0].map((_, c) => sum(row.map((x, i) => x * matrix[i][c]))));

/** Three words that share most signs at the start with `word`, then are as long. */
export function near(word, words) {
  // where the words part; if nowhere, -1 >>> 0 is the largest number
  const shared = (other) => [...word].findIndex((sign, i) => sign !== other[i]) >>> 0;
  const apart = (other) => Math.abs(other.length - word.length);
  return [...words]
    .sort((a, b) => shared(b) - shared(a) || apart(a) - apart(b))
    .slice(0, 3);
}

/**
 * Cuts a text into the model's words: { words } or { words, problem } in plain words.
 * A sign that the model does not know is left out, a word that it does not know is not.
 */
export function split(text, model) {
  const known = new Set(model.words);
  const found = (text.toLowerCase().match(PIECE) ?? []).filter(
    (piece) => known.has(piece) || WORD.test(piece),
  );
  const unknown = found.find((word) => !known.has(word));
  const most = Math.min(MOST, model.positions?.length || MOST);
  if (unknown !== undefined)
    return {
      words: found,
      problem:
        `The model does not know “${unknown.slice(0, 24)}”. Similar ` +
        `words: ${near(unknown.slice(0, 24), model.words).join(", ")}.`,
    };
  if (found.length < 2 || found.length > most)
    return {
      words: found,
      problem: `A text must have 2 to ${most} words, got ${found.length}.`,
    };
  return { words: found };
}

/** The state's tokens, query, key and value, or those of its model and text. */
export function given(state) {
  const { model, text, tokens, query, key, value } = state;
  if (!model || !text) return { tokens, query, key, value };
  const { words, problem } = split(text, model);
  if (problem) throw Error(problem);
  const x = words.map((word, i) =>
    model.embedding[model.words.indexOf(word)].map(
      (number, d) => number + (model.positions?.length ? model.positions[i][d] : 0),
    ),
  );
  return {
    tokens: words,
    query: times(x, model.query),
    key: times(x, model.key),
    value: times(x, model.value),
  };
}
