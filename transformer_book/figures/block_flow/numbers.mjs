// One token's stream through a model in the page: lengths, angles, the logit lens. No DOM.
import { dot, softmax } from "../kit/index.mjs";
import { createSession, createTokenizer } from "../engine/index.mjs";
import limits from "./limits.json" with { type: "json" };

export const SIGNS = limits.prompt.text[1]; // most of a prompt
export const TOKENS = limits.flow.parts.tokens.length[1]; // most of a prompt
const LEADERS = 3;
const round = (x) => Math.round(1e4 * x) / 1e4;
const length = (x) => Math.sqrt(dot(x, x));
const cosine = (a, b) => dot(a, b) / Math.max(length(a) * length(b), 1e-8);

/** The ids of the largest, the first of equals first. */
const leaders = (shares) =>
  [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b).slice(0, LEADERS);

/** What is wrong with a prompt, and what to do; or "". */
function problemOf(prompt, tokenizer) {
  const not = (most, what, count) =>
    (count < 1 || count > most) &&
    `A prompt must be 1 to ${most} ${what}, this one has ${count}: ${count ? "delete some" : "type a letter"}`;
  return (
    not(SIGNS, "characters", [...prompt].length) ||
    not(TOKENS, "tokens", tokenizer.encode(prompt).length) ||
    ""
  );
}

/** All that is shown of a stream, but for its prompt: four digits of each number. */
function measured({ states, changes }, logits, tokenizer) {
  const depths = logits.map(softmax);
  const order = depths.map((shares) => leaders(shares.slice(0, tokenizer.size)));
  const answer = order.at(-1)[0];
  return {
    lengths: states.map((x) => round(length(x))),
    changes: changes.map((x) => round(length(x))),
    cosines: changes.map((x, i) => round(cosine(x, states[i]))),
    top: order.map((some, r) =>
      some.map((id) => [tokenizer.decode([id]), round(depths[r][id])]),
    ),
    answer: depths.map((shares) => round(shares[answer])),
  };
}

/** Keeps each token's { states, changes } while a session reads. */
function recording() {
  const kept = [];
  const watch = {
    stream(part, layer, query, x) {
      if (layer === 0) kept[query] = { states: [x.slice()], changes: [] };
    },
    added(part, layer, what, query, change, x) {
      kept[query].changes.push(change.slice());
      kept[query].states.push(x.slice());
    },
  };
  return { kept, watch };
}

/**
 * { problem(prompt) -> words or "", logits(prompt, position) of each depth,
 * flow(prompt, position) } of an unpacked decoder with a tokenizer.
 */
export function createFlow(model) {
  const session = createSession(model, { capacity: TOKENS });
  const tokenizer = createTokenizer(model.tokenizer);
  const { kept, watch } = recording();
  let ids = [];

  const problem = (prompt) => problemOf(prompt, tokenizer);
  /** Reads what is new of the prompt; the place of the followed token comes back. */
  function read(prompt, position) {
    if (problem(prompt)) throw Error(problem(prompt));
    const next = tokenizer.encode(prompt);
    let same = 0;
    while (same < Math.min(ids.length, next.length) && ids[same] === next[same])
      same += 1;
    session.rewind(same);
    ids = next;
    if (same < ids.length) session.read(ids.slice(same), watch);
    return Math.min(position, ids.length - 1);
  }
  const logits = (prompt, position) =>
    kept[read(prompt, position)].states.map((state) => session.logits(state));

  function follow(prompt, position) {
    const depths = logits(prompt, position);
    const place = read(prompt, position);
    return {
      prompt,
      position: place,
      tokens: ids.map((id) => tokenizer.decode([id])),
      norm: model.config.residual,
      ...measured(kept[place], depths, tokenizer),
    };
  }
  let last = null;
  function flow(prompt, position) {
    if (last?.prompt !== prompt || last.position !== position)
      last = { prompt, position, flow: follow(prompt, position) };
    return last.flow;
  }
  return { problem, logits, flow };
}

let page = null; // what follows tokens in this page, once the model is here

/** The model is here: from now on the page follows tokens itself. */
export const runHere = (model) => (page ??= createFlow(model));
export const runsHere = ({ source }) => source === "page" && page !== null;
/** What is shown: of the model that runs here, else what is stored. */
export const flowOf = (state) =>
  runsHere(state) ? page.flow(state.prompt, state.position) : state.flow;
export const problemWith = (prompt) => page.problem(prompt);
