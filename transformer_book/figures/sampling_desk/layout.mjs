// The state of SamplingDesk, checked, and whose answer is shown. No DOM.
import {
  any,
  finite,
  flag,
  keep,
  list,
  real,
  text,
  whole,
  wholes,
} from "../kit/index.mjs";
import { MODEL, ROOM, answer, continuations } from "./reader.mjs";
import { ROWS, frame } from "./shapes.mjs";
import { counts, reshape } from "./numbers.mjs";

export const SIGNS = 300;
const RANGES = { top_k: [0, 50], seed: [1, 1000], count: [0, 1000] };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { text: read, tokens } = state;
  const id = whole(0, tokens?.length - 1);
  const ids = list(id, 0, ROOM);
  keep(state, {
    ...wholes(RANGES),
    temperature: real(0, 2),
    top_p: real(0.01, 1),
    min_p: real(0, 1),
    text,
    source: text,
    tokens: list(text, 2, 512),
    logits: list(finite, tokens?.length),
    drawn: ids,
    trap: flag,
    held: (x, name) => x === -1 || id(x, name),
    asked: (all, name) => {
      list(any, 1, ROOM + 1)(all, name);
      text(all[0], `${name}[0]`);
      ids(all.slice(1), name);
    },
  });
  whole(0, SIGNS)([...read].length, "signs of text");
}

/** Whose logits are shown: the stored ones, the page's, or with a problem the stored ones of another text. */
export function source(state) {
  const { text, drawn, asked, logits, tokens } = state;
  const now = [text, ...drawn];
  const found =
    JSON.stringify(now) !== JSON.stringify(asked) &&
    (state.source === MODEL
      ? (answer(state) ?? { problem: "This text waits for the model." })
      : { problem: "Python answers other texts, where it runs." });
  const [first, ...ids] = found.logits ? now : asked;
  return { logits, ...found, read: first + ids.map((id) => tokens[id]).join("") };
}

/** Whether no token fits behind the text. */
export const isFull = (state) =>
  state.drawn.length >= ROOM ||
  (state.source === MODEL && answer(state)?.ids?.length >= ROOM);

/** Everything that is drawn or said, from the state and from the model if it is here. */
export function layout(state, room = 680) {
  check(state);
  const from = source(state);
  const shares = reshape(from.logits, state);
  const drawn = counts(shares.after, state);
  const place = shares.order.indexOf(state.held);
  const listed = shares.order.slice(0, ROWS).map((_, i) => i);
  if (place >= ROWS) listed[ROWS - 1] = place;
  const trap = state.trap && state.source === MODEL && (continuations(state) ?? {});
  const geometry = { ...from, ...shares, state, drawn, listed, room, trap };
  return { ...geometry, frame: frame(geometry) };
}
