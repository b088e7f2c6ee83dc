// A text written twice in this page: read anew in every step, and with a cache.
import { argmax, createSession, createTokenizer } from "../engine/index.mjs";
import { MOST, sizesOf } from "./costs.mjs";

const largest = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

/** written(prompt, step) -> the traits of a text that is written up to that step. */
export function createWriter(model) {
  const tokenizer = createTokenizer(model.tokenizer);
  let first = 0;
  const again = createSession(model);
  const kept = createSession(model);
  const bug = createSession(model, { placeOf: (token) => (token < first ? token : 0) });
  let text = null;

  function begin(prompt) {
    const ids = tokenizer.encode(prompt);
    const read = ids.slice(0, MOST);
    first = read.length;
    const side = (session) => ({ session, ids: [...read], gaps: [] });
    text = {
      prompt,
      out: ids.length - first,
      again: [...read],
      kept: side(kept),
      bug: side(bug),
    };
    for (const session of [kept, bug]) session.rewind(0);
  }

  function advance() {
    again.rewind(0);
    const logits = again.read(text.again);
    const write = ({ session, ids, gaps }) => {
      const own = session.read(ids.slice(session.length));
      gaps.push(largest(logits, own));
      ids.push(argmax(own));
    };
    write(text.kept);
    if (text.bug.gaps.length) write(text.bug);
    else {
      // the prompt stands right on both sides: the bug's session reads it in the next step
      text.bug.gaps.push(text.kept.gaps[0]);
      text.bug.ids.push(text.kept.ids.at(-1));
    }
    text.again.push(argmax(logits));
  }

  return function written(prompt, step) {
    if (text?.prompt !== prompt) begin(prompt);
    while (first && text.kept.gaps.length <= step) advance();
    const words = (ids) => ids.map((id) => tokenizer.decode([id]));
    return {
      prompt,
      prompt_length: first,
      left_out: text.out,
      tokens: words(text.again),
      picks: words(text.kept.ids.slice(first)),
      gaps: [...text.kept.gaps],
      wrong_picks: words(text.bug.ids.slice(first)),
      wrong_gaps: [...text.bug.gaps],
      source: "page",
      sizes: sizesOf(model),
    };
  };
}
