// One token's stream through a model in the page; the twin of block_streams.py. No DOM.
import { createSession, createTokenizer } from "../engine/index.mjs";

export const [SIGNS, TOKENS, LEADERS] = [300, 64, 3];
const round = (x) => Math.round(1e4 * x) / 1e4;
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const length = (x) => Math.sqrt(dot(x, x));
const cosine = (a, b) => dot(a, b) / Math.max(length(a) * length(b), 1e-8);

/** Logits as probabilities, in float64. */
function softmax(logits) {
  const top = Math.max(...logits);
  const powers = Array.from(logits, (x) => Math.exp(x - top));
  const total = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / total);
}

/** The ids of the largest, the first of equals first. */
const leaders = (shares) =>
  [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b).slice(0, LEADERS);

/**
 * { problem(prompt) -> words or "", logits(prompt, position) of each depth,
 * flow(prompt, position) } of an unpacked decoder with a tokenizer.
 */
export function createFlow(model) {
  const session = createSession(model, { capacity: TOKENS });
  const tokenizer = createTokenizer(model.tokenizer);
  const name = (id) => tokenizer.decode([id]);
  let ids = [];
  const kept = []; // of each token: { states, changes }
  const watch = {
    stream(part, layer, query, x) {
      if (layer === 0) kept[query] = { states: [x.slice()], changes: [] };
    },
    added(part, layer, what, query, change, x) {
      kept[query].changes.push(change.slice());
      kept[query].states.push(x.slice());
    },
  };

  /** What is wrong with a prompt, and what to do; or "". */
  function problem(prompt) {
    const not = (most, what, count) =>
      (count < 1 || count > most) &&
      `A prompt must be 1 to ${most} ${what}, this one has ${count}: ${count ? "delete some" : "type a letter"}`;
    return (
      not(SIGNS, "characters", [...prompt].length) ||
      not(TOKENS, "tokens", tokenizer.encode(prompt).length) ||
      ""
    );
  }
  /** Reads what is new of the prompt; the place of the followed token comes back. */
  function read(prompt, position) {
    if (problem(prompt)) throw Error(problem(prompt));
    const next = tokenizer.encode(prompt);
    let same = 0;
    while (same < Math.min(ids.length, next.length) && ids[same] === next[same]) same++;
    session.rewind(same);
    ids = next;
    if (same < ids.length) session.read(ids.slice(same), watch);
    return Math.min(position, ids.length - 1);
  }
  const logits = (prompt, position) =>
    kept[read(prompt, position)].states.map((state) => session.logits(state));

  let last = null;
  function flow(prompt, position) {
    if (last?.asked !== `${position} ${prompt}`)
      last = { asked: `${position} ${prompt}`, told: follow(prompt, position) };
    return last.told;
  }
  function follow(prompt, position) {
    const depths = logits(prompt, position).map(softmax);
    const place = read(prompt, position);
    const { states, changes } = kept[place];
    const order = depths.map((shares) => leaders(shares.slice(0, tokenizer.size)));
    const answer = order.at(-1)[0];
    return {
      prompt,
      position: place,
      tokens: ids.map(name),
      norm: model.config.residual,
      lengths: states.map((x) => round(length(x))),
      changes: changes.map((x) => round(length(x))),
      cosines: changes.map((x, i) => round(cosine(x, states[i]))),
      top: order.map((some, r) => some.map((id) => [name(id), round(depths[r][id])])),
      answer: depths.map((shares) => round(shares[answer])),
    };
  }
  return { problem, logits, flow };
}
