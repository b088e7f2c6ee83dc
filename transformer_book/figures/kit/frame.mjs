// The frame around every figure: its parts, and whether somebody uses it.
import { h, set } from "./dom.mjs";

/** The parts of a figure, empty, in their order: { root, steps, error, ... }. */
export function frame(spec) {
  const say = h("p", { class: "say", role: "status", "aria-live": "polite" });
  const parts = {
    steps: h("div"),
    error: h("p", { class: "error", role: "alert", hidden: true }),
    controls: h("div", { class: "controls main" }),
    picture: h("div", { class: "picture" }),
    told: h("div", { class: "told" }, say),
    follows: h("div", { class: "picture follows" }),
    below: h("div", { class: "picture below" }),
    formula: h("div"),
    keys: h(
      "p",
      { class: "keys" },
      h("span", {
        class: "by-touch",
        text: "Tap a cell to pin it, again to unpin it.",
      }),
      h("span", {
        class: "by-key",
        text: `Keys: arrows move, Enter pins, Esc unpins${spec.keys ?? ""}.`,
      }),
    ),
    foot: h("div", { class: "foot" }),
  };
  const name = { class: "fig", role: "group", "aria-label": spec.title };
  return { root: h("div", name, ...Object.values(parts)), say, ...parts };
}

/**
 * Marks the frame while somebody uses it: its sentence stays in the window then. From the
 * end of a tap on, as what came up under the finger would take the tap away from a cell.
 */
export function watchUse(root) {
  const used = (on) => root.classList.toggle("used", on);
  const starts = () => used(true);
  for (const type of ["click", "input", "change", "keyup"])
    root.addEventListener(type, starts);
  set(root, {
    onpointerenter: ({ pointerType }) => pointerType === "touch" || starts(),
    onpointerleave: () => used(root.matches(":focus-within")),
    // a button that goes out leaves the focus nowhere: it is not gone elsewhere
    onfocusout: ({ relatedTarget: to }) => to && used(root.contains(to)),
  });
}

/** Says the sentence; its numbers keep their units on their line. */
export function say(node, text) {
  if (node.textContent === text) return;
  const parts = text.split(/(\d (?:.?B|.FLOP))/);
  node.replaceChildren(
    ...parts.map((part, i) => (i % 2 ? h("span", { text: part }) : part)),
  );
}
