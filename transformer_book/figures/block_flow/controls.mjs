// What the reader asks of BlockFlow: a prompt, a token to follow, whose numbers.
import { bring } from "../engine/index.mjs";
import { h, join, set, tokenText } from "../kit/index.mjs";
import { problemWith, runHere, runsHere, SIGNS, TOKENS } from "./numbers.mjs";

/** The prompt; what cannot be read stays a draft, and the line below says why. */
export function promptField(ui) {
  const said = h("span", { role: "status" });
  let draft = null;
  const field = ui.text({
    label: "Your prompt",
    maxlength: SIGNS,
    get: ({ prompt }) => draft ?? prompt,
    disabled: (state) => !runsHere(state),
    set(typed) {
      const prompt = typed.replace(/\p{Surrogate}/gu, "\ufffd"); // half a character
      const problem = problemWith(prompt);
      draft = problem ? prompt : null;
      set(said, { text: problem && `${problem}. The previous prompt is shown.` });
      return problem ? {} : { prompt, position: TOKENS - 1, selected: [] };
    },
  });
  const onfocusout = () => {
    draft = null;
    set(said, { text: "" });
    ui.repaint();
  };
  return [set(field, { onfocusout }), said];
}

/** The prompt's tokens: one radio for each, and the chosen one is followed. */
export function tokenChoice(ui) {
  const options = h("span", { class: "options" });
  const legend = h("legend", { class: "name" });
  const node = h("fieldset", { class: "control choice tokens go" }, legend, options);
  /** The line fades out where tokens are out of sight. */
  const ends = () => {
    const { scrollLeft: from, clientWidth: room, scrollWidth: all } = options;
    set(options, { "data-before": from > 4, "data-after": from + room < all - 4 });
  };
  /** Home and End would scroll the page. */
  const onkeydown = (event) => {
    const to = { Home: options.firstChild, End: options.lastChild }[event.key]
      ?.firstChild;
    if (!to || event.altKey) return;
    event.preventDefault();
    to.focus();
    to.click();
  };
  set(options, { onscroll: ends, onkeydown });
  let last = null;
  /** Where the prompt is wider than its line, the followed token comes into sight. */
  function reveal({ flow: { position, tokens } }) {
    const { scrollLeft: from, clientWidth: room } = options;
    const now = `${position} of ${tokens} in ${room}`;
    if (now === last) return;
    last = now;
    const { offsetLeft: x, offsetWidth: wide } = options.children[position];
    if (x < from || x + wide > from + room) options.scrollLeft = x - room / 2;
  }
  const create = (_, i) =>
    h(
      "label",
      {},
      h("input", {
        type: "radio",
        name: "token",
        onchange: () => ui.set({ position: i, selected: [] }),
      }),
      h("span"),
    );
  return {
    node,
    draw(geometry) {
      const { flow, state } = geometry;
      join(
        options,
        flow.tokens,
        (_, i) => i,
        create,
        ({ children: [radio, name] }, token, i) => {
          set(radio, { checked: i === flow.position, disabled: !runsHere(state) });
          set(name, { text: tokenText(token, 12) });
        },
      );
      set(options, { tabindex: runsHere(state) ? null : "0" }); // what scrolls has a tab stop
      set(legend, {
        text: `Follow token ${flow.position + 1} of ${flow.tokens.length}`,
      });
      reveal(geometry);
      ends();
    },
  };
}

/** Says whose numbers are shown; the book's model comes when it is asked. */
export function origin(ui) {
  const node = h("div", { class: "origin" });
  const own = h("span", { text: "These numbers come from your own model. " });
  const ask = ui.button({
    label: "Use the book's model",
    action: () => ({ source: "page", selected: [] }),
  });
  let asked = null;
  ui.bind(({ source }) => {
    if (source === "page") asked ??= bring(ui, "manual-lm", runHere);
    const parts = source === "page" ? [asked] : [own, ask];
    if (node.firstChild !== parts[0]) node.replaceChildren(...parts);
  });
  return node;
}
