// What byte-pair encoding learns from a text, merge by merge; as transformer_lib.tokens.
export const MOST = 300; // merges that the figure goes through

const WORD =
  /'(?:s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const KEY = 1024; // above every id: a pair as one number, in the order of its ids

/** The words of a text, in order; as split_words. */
export const split = (text) => text.match(WORD) ?? [];

/** Counts each pair of a word, pairs as numbers: `number` more of it than before. */
function count(counts, ids, number) {
  for (let i = 1; i < ids.length; i++) {
    const key = ids[i - 1] * KEY + ids[i];
    const sum = (counts.get(key) ?? 0) + number;
    if (sum) counts.set(key, sum);
    else counts.delete(key);
  }
}

/** The new id wherever the pair stands, from left to right. */
export function merge(ids, [left, right], made) {
  const merged = [];
  for (const id of ids)
    if (id === right && merged.at(-1) === left) merged[merged.length - 1] = made;
    else merged.push(id);
  return merged.length === ids.length ? ids : merged;
}

const pairOf = (key) => [Math.floor(key / KEY), key % KEY];

export const size = (words, numbers) =>
  words.reduce((sum, ids, w) => sum + numbers[w] * ids.length, 0);

function mostFrequent(counts) {
  let [best, most] = [null, 0];
  for (const [key, count] of counts)
    if (count > most || (count === most && key < best)) [best, most] = [key, count];
  return [best === null ? null : pairOf(best), most];
}

function learn(text) {
  const all = split(text);
  const found = new Map();
  for (const word of all) found.set(word, (found.get(word) ?? 0) + 1);
  const numbers = [...found.values()];
  const places = new Map([...found.keys()].map((word, w) => [word, w]));
  const tokens = Array.from({ length: 256 }, (_, byte) => [byte]);
  const encoder = new TextEncoder();
  let words = [...found.keys()].map((word) => [...encoder.encode(word)]);
  const [counts, steps] = [new Map(), []];
  words.forEach((ids, w) => count(counts, ids, numbers[w]));
  for (;;) {
    const [first, most] = mostFrequent(counts);
    const pair = steps.length < MOST ? first : null;
    steps.push({ words, pair, count: most, size: size(words, numbers) });
    if (!pair)
      return { numbers, tokens, steps, order: all.map((word) => places.get(word)) };
    const made = tokens.push(pair.flatMap((id) => tokens[id])) - 1;
    words = words.map((ids, w) => {
      const merged = merge(ids, pair, made);
      if (merged === ids) return ids;
      count(counts, ids, -numbers[w]);
      count(counts, merged, numbers[w]);
      return merged;
    });
  }
}

let [known, memory] = [null, null];

/**
 * { numbers: of each word, tokens: bytes of each id, steps, order: which word stands where
 * in the text }; a step has words (ids), size (tokens of the text), and the next pair, or
 * null, and its count. The last text is remembered.
 */
export function history(text) {
  if (text !== known) [known, memory] = [text, learn(text)];
  return memory;
}

/** The pairs of words, [pair, count], in the order in which they would be chosen. */
export function ranking(words, numbers) {
  const counts = new Map();
  words.forEach((ids, w) => count(counts, ids, numbers[w]));
  return [...counts]
    .sort(([a, m], [b, n]) => n - m || a - b)
    .map(([key, n]) => [pairOf(key), n]);
}

/** The step that is shown: a text may have fewer merges than asked for. */
export function at({ text, step }) {
  const { steps } = history(text);
  const most = steps.length - 1;
  const shown = Math.min(step, most);
  return { step: shown, now: steps[shown], most };
}

/** The patch that goes `by` merges on. */
export const go = (by) => (state) => {
  const { step, most } = at(state);
  return { step: Math.max(0, Math.min(most, step + by)), selected: [] };
};
