// The numbers that HeadsGrid shows: of a model that runs here, or stored by Python. No DOM.
import { createSession, recorder } from "../engine/index.mjs";
import { draws, range, seedOf, sum } from "../kit/index.mjs";

export const UNIT = 10_000; // stored weights are whole numbers: so many are 1
export const runners = new Map(); // by model: all figures of a page share them
export const SCORES = ["entropy", "previous", "induction"];

const mean = (list) => sum(list) / list.length;
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const sorted = (off) => [...off].sort(([a, b], [c, d]) => a - c || b - d);
export const keyOf = (off) => sorted(off).join(";");

/** After how many tokens, two or more, a text repeats itself to its end; or 0. */
export const periodOf = (ids) =>
  range((ids.length >> 1) + 1).find(
    (p) => p > 1 && ids.every((id, i) => i < p || id === ids[i - p]),
  ) ?? 0;

/** -log softmax(logits)[id], in nats. */
function lossOf(logits, id) {
  const top = Math.max(...logits);
  let total = 0;
  for (const x of logits) total += Math.exp(x - top);
  return top + Math.log(total) - logits[id];
}

/** What `rows`, a map, look like: [entropy, previous-token score, induction score]. */
function scoresOf(rows, period) {
  const entropy = (row) =>
    row.reduce((sum, w) => (w > 0 ? sum - w * Math.log(w) : sum), 0);
  const back = (far, first) =>
    mean(range(rows.length - first).map((i) => rows[first + i][first + i - far]));
  const all = [mean(rows.map(entropy)), back(1, 1)];
  return period ? [...all, back(period - 1, period)] : all;
}

/** A model as a function: (ids, off) -> { maps[layer][head][query][key], losses }. */
export function createRunner(model) {
  const { n_layers: layers, n_heads: heads } = model.config;
  const off = new Set();
  const session = createSession(model, {
    headFactor: (part, layer, head) => (off.has(`${layer},${head}`) ? 0 : 1),
  });
  const logits = new Float32Array(model.config.vocab_size);
  const known = new Map();
  function pass(ids, heads) {
    off.clear();
    for (const head of heads) off.add(String(head));
    const { attention, weights } = recorder();
    const losses = [];
    const stream = (part, layer, query, x) => {
      if (layer === layers && query + 1 < ids.length)
        losses.push(lossOf(session.logits(x, logits), ids[query + 1]));
    };
    session.rewind(0);
    session.read(ids, { attention, stream });
    return { maps: weights["decoder"], losses };
  }
  const run = (ids, heads) => {
    const key = `${ids}|${keyOf(heads)}`;
    if (known.size > 200) known.clear();
    if (!known.has(key)) known.set(key, pass(ids, heads));
    return known.get(key);
  };
  return { run, layers, heads };
}

function computed({ ids, off }, { run }, period) {
  const lossWith = (heads) => mean(run(ids, heads).losses.slice(period));
  const { maps } = run(ids, off);
  return {
    maps,
    scores: maps.map((layer) => layer.map((rows) => scoresOf(rows, period))),
    first: period ? mean(run(ids, []).losses.slice(0, period - 1)) : null,
    loss: lossWith,
    mapsOff: off,
  };
}

function unpacked(weights, n) {
  return range(n).map((q) =>
    weights.slice((q * (q + 1)) / 2, ((q + 1) * (q + 2)) / 2).map((w) => w / UNIT),
  );
}

function asStored({ ids, stored }) {
  const losses = new Map(stored.losses.map(([off, loss]) => [keyOf(off), loss]));
  return {
    maps: stored.maps.map((layer) => layer.map((map) => unpacked(map, ids.length))),
    scores: stored.scores,
    first: stored.first,
    loss: (off) => losses.get(keyOf(off)) ?? null,
    mapsOff: stored.off,
  };
}

const fits = ({ source, ids, stored }) =>
  stored.source === source && same(stored.ids, ids);

/**
 * What is shown: { period, heads, maps, scores, first, loss(off), mapsOff }, `heads` in the
 * order of the state's sort. Python's own model wins; null if nothing is known.
 */
export function numbers(state, runner) {
  const period = periodOf(state.ids);
  if (!runner && !fits(state)) return null;
  const all = runner ? computed(state, runner, period) : asStored(state);
  const heads = all.maps.flatMap((layer, l) => layer.map((_, h) => [l, h]));
  const score = ([l, h], name) => all.scores[l][h][SCORES.indexOf(name)] ?? 0;
  const rank =
    {
      entropy: (head) => score(head, "entropy"),
      loss: (head) => -all.loss([head]),
    }[state.sort] ?? ((head) => -score(head, state.sort));
  return {
    ...all,
    period,
    score,
    alone: (head) => all.loss([head]),
    heads: [...heads].sort((a, b) => rank(a) - rank(b)),
    inPlace: heads,
    columns: all.maps[0].length,
  };
}

/** The head of the highest score, the first of several. */
export const best = ({ inPlace, score }, name) =>
  inPlace.reduce((a, b) => (score(b, name) > score(a, name) ? b : a));

/** So many letters, and the same again: first those to keep, then others drawn by the ids. */
export function letters(ids, count, keep = []) {
  const draw = draws(seedOf(ids, 7));
  const drawn = range(26)
    .map((i) => [draw(), i + 1])
    .sort(([a], [b]) => a - b)
    .map(([, id]) => id);
  const copy = [...new Set([...keep, ...drawn])].slice(0, count);
  return [...copy, ...copy];
}

export const letter = (id) =>
  id >= 1 && id <= 26 ? String.fromCharCode(96 + id) : String(id);
export const isOff = ({ off }, head) => off.some((other) => same(other, head));
/** `off` with the head switched the other way. */
export const switched = ({ off }, head) =>
  isOff({ off }, head)
    ? off.filter((other) => !same(other, head))
    : sorted([...off, head]);
