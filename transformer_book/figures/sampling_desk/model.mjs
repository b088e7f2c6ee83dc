// The model in the page, shared by all desks: the next token's logits, and what follows.
import { argmax, createSession, createTokenizer } from "../engine/index.mjs";
import { heights, measured, places, reshape } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

export const MODEL = "manual-lm";
export const LONGER = 96; // tokens of a continuation
export const ROOM = limits.drawn.length[1]; // tokens of a text: a continuation must have its place behind

let page = null;
const written = new Map();

/** ids -> logits of the next token; what was read before and fits is not read again. */
function reader(model, nTexts) {
  const session = createSession(model);
  let [known, logits] = [[], null];
  return (ids) => {
    let same = 0;
    while (same < known.length && known[same] === ids[same]) same += 1;
    if (same === ids.length && same === known.length) return logits;
    session.rewind(Math.min(same, ids.length - 1));
    const all = session.read(ids.slice(session.length)).subarray(0, nTexts);
    logits = Array.from(all, (x) => Math.round(1e4 * x) / 1e4); // as Python's state
    known = ids;
    return logits;
  };
}

/** Takes the model when it has come. */
export function settle(model) {
  if (page) return;
  const { merges } = model.tokenizer;
  const [now, greedy, sampled] = [0, 1, 2].map(() =>
    reader(model, 256 + merges.length),
  );
  page = { encode: createTokenizer(model.tokenizer).encode, now, greedy, sampled };
}

/** What the model in the page answers: { logits }, { problem }, or null if it is not here. */
export function answer({ text, drawn }) {
  if (!page) return null;
  const ids = [...page.encode(text), ...drawn];
  if (ids.length < 1) return { problem: "The text is empty: type one." };
  if (ids.length > ROOM)
    return { problem: `This text is too long: ${ids.length} tokens, at most ${ROOM}.` };
  return { ids, logits: page.now(ids) };
}

const CHOICES = {
  greedy: (logits) => argmax(logits),
  sampled(logits, state, skip) {
    const { order, after } = reshape(logits, state);
    return order[places(after, heights(state.seed, skip, 1))[0]];
  },
};
const keyOf = (state, kind) => {
  const { text, drawn, temperature, top_k, top_p, min_p, seed } = state;
  const all = kind === "greedy" ? [] : [temperature, top_k, top_p, min_p, seed];
  return JSON.stringify([kind, text, drawn, ...all]);
};

/** What follows, measured, as far as they are written; null without the model or a text. */
export function continuations(state) {
  if (!answer(state)?.ids) return null;
  return Object.fromEntries(
    Object.keys(CHOICES).map((kind) => [
      kind,
      measured(written.get(keyOf(state, kind)) ?? []),
    ]),
  );
}

/** Writes on for some milliseconds; false if all is written. */
export function writeOn(state, patience = 10) {
  const { ids } = answer(state) ?? {};
  if (!ids) return false;
  const end = performance.now() + patience;
  for (const kind of Object.keys(CHOICES)) {
    const key = keyOf(state, kind);
    const said = [...(written.get(key) ?? [])];
    if (said.length === LONGER) continue;
    while (said.length < LONGER && performance.now() < end)
      said.push(
        CHOICES[kind](
          page[kind]([...ids, ...said]),
          state,
          state.drawn.length + said.length,
        ),
      );
    if (written.size > 400) written.clear();
    written.set(key, said);
    return true;
  }
  return false;
}
