// What Translator is told.
import { h, set } from "../kit/index.mjs";
import { LONGEST, wordsOf } from "./answers.mjs";
import { english, meantBy } from "./numbers.mjs";

/** The patch of a walk by so many steps. */
export const walk =
  (by) =>
  ({ shown, answer }) => ({
    step: Math.max(0, Math.min(answer.target.length, shown + by)),
    selected: [],
  });

export const placeOf = ({ text, step }) => text + step;

/**
 * The field: words that are joined in another way are taken for those that the model has
 * learned; what is refused is told why. What is typed stays until text or step are others.
 */
export function field(ui, page) {
  const warning = h("p", { class: "warning", role: "status" });
  ui.onReset(() => {
    page.of = null;
  });
  ui.bind(() => set(warning, { text: page.now.refusal || "" }));
  const node = ui.text({
    label: "English number",
    maxlength: LONGEST,
    get: ({ text }) => page.typed ?? text,
    set: (text) => {
      const words = wordsOf(text) ?? "";
      const n = meantBy(words);
      page.typed = text;
      page.refused = n ? null : text;
      const patch = n
        ? {
            text: english(n) === words ? text : english(n),
            step: 1, // German appears, and there is more to come
            selected: [],
          }
        : {};
      page.of = placeOf({ ...ui.state(), ...patch });
      return patch;
    },
  });
  return [node, warning];
}
