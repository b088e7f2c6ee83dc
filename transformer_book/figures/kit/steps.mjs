// The strip that leads a newcomer to a figure's lesson, in at most three steps.
import { h, set } from "./dom.mjs";

const NAME = "transformers-piece-by-piece closed steps";
const STOPS =
  ".controls :is(button, select, :checked, input:not([type=radio])):enabled";

/** The names of the figures whose strip was closed: kept in the reader's browser only. */
function closedOnes() {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "[]");
  } catch {
    return []; // a browser that keeps nothing
  }
}

function keep(names) {
  try {
    localStorage.setItem(NAME, JSON.stringify(names));
  } catch {
    // then until the page is left
  }
}

/**
 * steps(ui, name, [{ say, set }, ...]) -> { node, again }: the strip, and the button that
 * brings it back. A step says one thing to do; `set`, a patch or state -> patch, is how
 * the figure then stands. Behind the last one the figure starts again.
 */
export function steps(ui, name, list) {
  let at = 0;
  const lines = list.map(({ say }, i) =>
    h("span", {}, h("b", { text: `${i + 1} of ${list.length} ` }), say),
  );
  const go = (to) => {
    at = to;
    lines.forEach((line, i) => line.classList.toggle("off", i !== at));
    set(next, { text: at < list.length - 1 ? "Next" : "Again" });
  };
  const onclick = () => {
    if (at === list.length - 1) return ui.reset();
    go(at + 1);
    const { set: patch = {} } = list[at];
    return ui.set(typeof patch === "function" ? patch(ui.state()) : patch);
  };
  const next = h("button", { type: "button", onclick });
  const show = (on) => {
    const others = closedOnes().filter((other) => other !== name);
    keep(on ? others : [...others, name]);
    place(on);
    // the button that was pressed goes: on to the figure itself
    const stops = [...node.parentNode.querySelectorAll(STOPS)];
    (on ? next : stops.find(({ offsetParent }) => offsetParent))?.focus();
  };
  const place = (on) => {
    set(node, { hidden: !on });
    set(again, { hidden: on });
  };
  const node = h(
    "div",
    { class: "steps", role: "group", "aria-label": "Hints" },
    h("p", { "aria-live": "polite" }, ...lines),
    next,
    h("button", {
      type: "button",
      text: "✕",
      "aria-label": "✕ Close these hints",
      onclick: () => show(false),
    }),
  );
  const again = h("button", {
    type: "button",
    text: "Show the hints",
    onclick: () => show(true),
  });
  ui.onReset(() => go(0));
  go(0);
  place(!closedOnes().includes(name));
  return { node, again };
}
