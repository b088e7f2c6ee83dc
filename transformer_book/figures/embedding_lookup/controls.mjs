// The reader's words and the slider over the training of EmbeddingLookup.
import { h, quote, set } from "../kit/index.mjs";
import { MOST, read } from "./numbers.mjs";
import { when } from "./text.mjs";

const spaced = ({ words, tokens }) => tokens.map((row) => words[row]).join(" ");

/** The reader's words, and a note that names what has no row. */
export function field(ui) {
  let [draft, typed] = [null, false];
  const note = h("p", { class: "note", role: "status" });
  const input = ui.text({
    label: "Your words",
    maxlength: 200,
    get: (state) => {
      typed &&= String(read(draft, state.words).tokens) === String(state.tokens);
      if (!typed) draft = spaced(state);
      return draft;
    },
    set: (text, { words }) => {
      [draft, typed] = [text, true];
      return { tokens: read(text, words).tokens, selected: [] }; // what is typed is shown
    },
  });
  ui.bind(({ words }) => {
    const { unknown, more } = read(typed ? draft : "", words);
    const some = unknown
      .slice(0, 2)
      .map((word) => quote(word, 8))
      .join(", ");
    set(note, {
      // one line on a phone
      text: some
        ? `No row for ${some}${unknown[2] ? ", …" : "."}`
        : more
          ? `The first ${MOST} words are shown.`
          : "",
    });
  });
  return [h("div", { class: "own" }, input), note];
}

/** The slider over the copies of the table; hidden if there is only one. */
export function training(ui) {
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
  return h("div", { class: "walk" }, node, about);
}
