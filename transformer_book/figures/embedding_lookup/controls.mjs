// The reader's words and the slider over the training of EmbeddingLookup.
import { h, quote, set } from "../kit/index.mjs";
import { MOST_WORDS } from "./numbers.mjs";
import { when } from "./text.mjs";

/** A typed text as rows: { tokens, unknown: words without a row, more: are there too many }. */
function readWords(text, words) {
  const plain = (word) => word.trim().toLowerCase();
  const find = (piece) => {
    const exact = words.indexOf(piece);
    return exact < 0 ? words.findIndex((word) => plain(word) === plain(piece)) : exact;
  };
  const cut = (piece) => piece.split(/[-,.;:!?]+/).filter(Boolean);
  const pieces = text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((piece) => (find(piece) < 0 ? cut(piece) : [piece]));
  const known = pieces.map(find).filter((row) => row >= 0);
  return {
    tokens: known.slice(0, MOST_WORDS),
    unknown: pieces.filter((piece) => find(piece) < 0),
    more: known.length > MOST_WORDS,
  };
}

/** What is answered to a typed text, on one line of a phone. */
function answer({ unknown, more }) {
  if (!unknown.length) return more ? `The first ${MOST_WORDS} words are shown.` : "";
  const some = unknown.slice(0, 2).map((word) => quote(word, 8));
  return `No row for ${some.join(", ")}${unknown.length > 2 ? ", …" : "."}`;
}

const spaced = ({ words, tokens }) => tokens.map((row) => words[row]).join(" ");

/** The reader's words, and a note that names what has no row. */
export function ownWords(ui) {
  let draft = ""; // as it was typed, as long as it means what is shown
  let isTyped = false;
  const isShown = (state) =>
    String(readWords(draft, state.words).tokens) === String(state.tokens);
  const note = h("p", { class: "note", role: "status" });
  const input = ui.text({
    label: "Your words",
    maxlength: 200,
    get: (state) => {
      isTyped = isTyped && isShown(state);
      if (!isTyped) draft = spaced(state);
      return draft;
    },
    set: (text, { words }) => {
      [draft, isTyped] = [text, true];
      return { tokens: readWords(text, words).tokens, selected: [] }; // what is typed is shown
    },
  });
  input.classList.add("go");
  ui.bind(({ words }) =>
    set(note, { text: answer(readWords(isTyped ? draft : "", words)) }),
  );
  return [h("div", { class: "own" }, input), note];
}

/** The slider over the copies of the table; hidden if there is only one. */
export function trainingSlider(ui) {
  const node = ui.slider({
    label: "Training",
    min: 0,
    max: 1,
    step: 1,
    get: ({ steps, step }) => steps.indexOf(step),
    set: (i, { steps }) => ({ step: steps[i] }),
    format: () => "",
  });
  const about = h("p", { class: "about" });
  const [, input, shown] = node.children;
  ui.bind(({ about: text }) => set(about, { text }));
  ui.bind(({ steps, step }) => {
    const text = when(step);
    set(node, { hidden: steps.length < 2 });
    set(input, { max: steps.length - 1, "aria-valuetext": text });
    set(input, { value: String(steps.indexOf(step)) });
    set(shown, { text });
  });
  return { training: node, about };
}
