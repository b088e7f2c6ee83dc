// The numbers that SamplingDesk shows. No DOM.
// Tokens stand in the order of their logits, the likeliest first: filters cut off the end,
// and a draw takes the first token at which the summed probability reaches u.
import { draws, softmax, sum } from "../kit/index.mjs";

const RUN = 4; // tokens of a run that counts as a repeat when it comes again

/** The filters in their order, with the value at which each changes nothing. */
const OFF = { top_k: 0, top_p: 1, min_p: 0 };

/** What is on, in order, with its words and its value: [["top-k", "top_k", 8], ...]. */
export const filters = (settings) =>
  settings.temperature === 0
    ? []
    : Object.entries(OFF)
        .filter(([name, off]) => settings[name] !== off)
        .map(([name]) => [name.replace("_", "-"), name, settings[name]]);

/** The largest logit at which it and all larger ones have probability p. */
function topPFloor(kept, p) {
  const shares = softmax(kept);
  let [i, spare] = [kept.length - 1, 0];
  for (; i > 0; i--) {
    spare += shares[i]; // from the small end, where a sum loses the least
    if (spare > 1 - p) break;
  }
  return kept[i];
}

const FLOORS = {
  top_k: (kept, k) => kept[Math.min(k, kept.length) - 1],
  top_p: topPFloor,
  min_p: (kept, share) => kept[0] + Math.log(share),
};

/**
 * Logits -> next tokens, the likeliest first: { order, before, after, cut, share }, where cut
 * says what cuts a token off, or "", and `share` what the temperature alone gives to those
 * that stay (at 0, the model). The rules and their order are those of filter_logits.
 */
export function reshape(logits, settings) {
  const order = Array.from(logits, (_, i) => i).sort((a, b) => logits[b] - logits[a]);
  const ordered = order.map((i) => logits[i]);
  const cut = order.map(() => "");
  const warm = ordered.map((x) => x / (settings.temperature || 1));
  let kept = warm;
  const keep = (floor, name) => {
    const left = kept.filter((x) => x >= floor);
    cut.fill(name, left.length, kept.length);
    kept = left;
  };
  if (!settings.temperature) keep(kept[0], "temperature");
  for (const [words, name, value] of filters(settings))
    keep(FLOORS[name](kept, value), words);
  const after = softmax(kept);
  return {
    order,
    before: softmax(ordered),
    cut,
    share: sum(softmax(warm).slice(0, kept.length)),
    after: order.map((_, i) => after[i] ?? 0),
  };
}

/** For each u of `heights`, the place at which the summed probability reaches it. */
export function places(after, heights) {
  let total = 0;
  const sums = after.map((p) => (total += p));
  return heights.map((u) => sums.findIndex((reached) => reached >= u * total));
}

/** The numbers u that come `skip` draws after the seed. */
export function heights(seed, skip, count) {
  const next = draws(seed);
  for (let i = 0; i < skip; i++) next();
  return Array.from({ length: count }, next);
}

/** How often each place comes in so many draws. */
export function counts(after, { seed, drawn, count }) {
  const found = after.map(() => 0);
  for (const place of places(after, heights(seed, drawn.length, count)))
    found[place] += 1;
  return found;
}

/** Of each run of four tokens: whether it stood there before. */
function repeated(ids) {
  const seen = new Set();
  return ids.slice(RUN - 1).map((_, i) => {
    const run = ids.slice(i, i + RUN).join(" ");
    const again = seen.has(run);
    seen.add(run);
    return again;
  });
}

/** A continuation: its ids, the share of repeated runs, and which tokens stand in one. */
export function measured(ids) {
  const again = repeated(ids);
  return {
    ids,
    share: again.filter(Boolean).length / Math.max(1, again.length),
    repeats: ids.map((_, i) =>
      again.slice(Math.max(0, i - RUN + 1), i + 1).includes(true),
    ),
  };
}

/** The tokens that are not listed, together. */
export function others({ order, before, after, cut, drawn, listed }) {
  const rest = order.map((_, i) => i).filter((i) => !listed.includes(i));
  const all = (list) => sum(rest.map((i) => list[i]));
  return {
    n: rest.length,
    gone: rest.filter((i) => cut[i]).length,
    before: all(before),
    after: all(after),
    drawn: all(drawn),
  };
}
