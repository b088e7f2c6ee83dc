// What byte-pair encoding learns from a text, merge by merge. No DOM.
import limits from "./limits.json" with { type: "json" };

export const MOST_MERGES = limits.step.whole[1]; // that the figure goes through
export const BYTES = 256; // ids of single bytes; merges get the ids after them

// GPT-2's pattern: Radford et al. 2019, section 2.2, and the code published with it.
const WORD =
  /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** The words of a text, in order. */
export const splitWords = (text) => text.match(WORD) ?? [];

const KEY = 1024; // above every id: a pair as one number, in the order of its ids
const keyOf = (left, right) => left * KEY + right;
const pairOf = (key) => [Math.floor(key / KEY), key % KEY];

export const isSame = (pair, other) => String(pair) === String(other);

/** Counts the pairs of a word, keys of pairs -> times; a negative number takes away. */
function countPairs(counts, ids, times) {
  for (let i = 1; i < ids.length; i++) {
    const key = keyOf(ids[i - 1], ids[i]);
    const total = (counts.get(key) ?? 0) + times;
    if (total) counts.set(key, total);
    else counts.delete(key);
  }
}

function pairsOf(words, numbers) {
  const counts = new Map();
  words.forEach((ids, w) => countPairs(counts, ids, numbers[w]));
  return counts;
}

/** The new id wherever the pair stands, from left to right; the same list if nowhere. */
export function merge(ids, [left, right], made) {
  const merged = [];
  for (const id of ids)
    if (id === right && merged.at(-1) === left) merged[merged.length - 1] = made;
    else merged.push(id);
  return merged.length === ids.length ? ids : merged;
}

/** How many tokens a text has, from its words and how often each of them occurs. */
export const countTokens = (words, numbers) =>
  words.reduce((total, ids, w) => total + numbers[w] * ids.length, 0);

/** The most frequent pair, of equal ones that with the smallest ids, and its count. */
function mostFrequent(counts) {
  let [best, most] = [null, 0];
  for (const [key, count] of counts)
    if (count > most || (count === most && key < best)) [best, most] = [key, count];
  return { pair: best === null ? null : pairOf(best), count: most };
}

/** The steps from bytes to the last merge; `tokens` grows by what each merge makes. */
function learn(bytes, numbers, tokens) {
  const steps = [];
  const counts = pairsOf(bytes, numbers);
  let words = bytes;
  for (;;) {
    const next = mostFrequent(counts);
    const pair = steps.length < MOST_MERGES ? next.pair : null;
    steps.push({ words, pair, count: next.count, size: countTokens(words, numbers) });
    if (!pair) return steps;
    const made = tokens.push([...tokens[pair[0]], ...tokens[pair[1]]]) - 1;
    words = words.map((ids, w) => {
      const merged = merge(ids, pair, made);
      if (merged !== ids) {
        countPairs(counts, ids, -numbers[w]);
        countPairs(counts, merged, numbers[w]);
      }
      return merged;
    });
  }
}

function historyOf(text) {
  const all = splitWords(text);
  const times = new Map(); // a word -> how often it occurs
  for (const word of all) times.set(word, (times.get(word) ?? 0) + 1);
  const distinct = [...times.keys()];
  const places = new Map(distinct.map((word, w) => [word, w]));
  const numbers = [...times.values()];
  const encoder = new TextEncoder();
  const bytes = distinct.map((word) => [...encoder.encode(word)]);
  const tokens = Array.from({ length: BYTES }, (_, byte) => [byte]);
  const steps = learn(bytes, numbers, tokens);
  return { numbers, tokens, steps, order: all.map((word) => places.get(word)) };
}

let last = { text: null, history: null };

/**
 * { numbers: of each word, tokens: bytes of each id, steps, order: which word stands where
 * in the text }; a step has words (ids), size (tokens of the text), and the next pair, or
 * null, and its count. The last text is remembered.
 */
export function history(text) {
  if (text !== last.text) last = { text, history: historyOf(text) };
  return last.history;
}

/** The pairs of words, [pair, count], in the order in which they would be chosen. */
export const ranking = (words, numbers) =>
  [...pairsOf(words, numbers)]
    .sort(([key, count], [otherKey, other]) => other - count || key - otherKey)
    .map(([key, count]) => [pairOf(key), count]);

/** The step that is shown: a text may have fewer merges than asked for. */
export function shownStep({ text, step }) {
  const { steps } = history(text);
  const most = steps.length - 1;
  const shown = Math.min(step, most);
  return { step: shown, now: steps[shown], most };
}

/** The change of the state that goes `by` merges on. */
export const goBy = (by) => (state) => {
  const { step, most } = shownStep(state);
  return { step: Math.max(0, Math.min(most, step + by)), selected: [] };
};
