// What opens and closes: a fold, the controls that wait under More, a term's explanation.
import { h, set } from "./dom.mjs";

/** A part that opens and closes; Escape closes it. */
export function fold(text, props, ...children) {
  const head = h("summary", { text });
  const onkeydown = (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    set(node, { open: false });
    head.focus();
  };
  const node = h("details", { ...props, onkeydown }, head, ...children);
  return node;
}

/** The controls that a first look does not need. */
export const more = (controls) => fold("More", {}, h("div", {}, ...controls));

/**
 * A word that opens its explanation, over what stands below it; Escape, or whatever the
 * reader goes on to, closes it.
 */
export function term(root, word, explanation) {
  const note = h("span", { role: "note", hidden: true, text: explanation });
  const open = (on) => {
    set(note, { hidden: !on });
    set(button, { "aria-expanded": String(on) });
  };
  const onkeydown = (event) => {
    if (event.key !== "Escape" || note.hidden) return;
    event.stopPropagation(); // what is around it stays open
    open(false);
  };
  const button = h("button", {
    type: "button",
    text: word,
    "aria-expanded": "false",
    onclick: () => open(note.hidden),
    onkeydown,
  });
  const node = h("span", { class: "term" }, button, note);
  root.addEventListener("click", ({ target }) => node.contains(target) || open(false));
  node.addEventListener("focusout", ({ relatedTarget: to }) => to && open(false));
  return node;
}
