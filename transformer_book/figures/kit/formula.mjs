// The equation and the PyTorch line: hover or focus on one part lights its twins.
import { h, join, set } from "./dom.mjs";

/** Lights every element of `root` whose data-part holds `part`. */
export function light(root, part) {
  for (const node of root.querySelectorAll("[data-part]"))
    node.classList.toggle(
      "lit",
      part !== null && node.dataset.part.split(" ").includes(part),
    );
}

const key = (item, i) => `${i}${typeof item === "string" ? "" : item[0]}`;
const create = (item) =>
  typeof item === "string" ? h("span") : h("button", { type: "button" });
const update = (node, item) =>
  typeof item === "string"
    ? set(node, { text: item })
    : set(node, { text: item[1], "data-part": item[0], class: item[2] ?? null });

/**
 * formula(ui, { equation, code }): lists of plain strings and [part, text, class] parts,
 * or state -> such lists. One tab stop; left and right move; Enter holds, Esc lets go.
 */
export function formula(ui, { equation, code }) {
  const rows = [h("div", { class: "equation" }), h("div", { class: "code" })];
  const node = h(
    "div",
    { class: "formula", role: "group", "aria-label": "Equation, linked to the cells" },
    ...rows,
  );
  const parts = () => [...node.querySelectorAll("button")];
  let held = null;
  let at = 0;
  const partOf = (event) => event.target.closest("[data-part]")?.dataset.part ?? null;
  const hold = (part) => {
    held = part;
    for (const button of parts())
      set(button, { "aria-pressed": String(button.dataset.part === held) });
    ui.light(held);
  };
  const rove = (to) => {
    const all = parts();
    at = Math.max(0, Math.min(all.length - 1, to));
    all.forEach((button, i) => set(button, { tabindex: i === at ? "0" : "-1" }));
    return all[at];
  };
  const keys = (event) => {
    const step = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: Infinity }[
      event.key
    ];
    if (event.key === "Escape") hold(null);
    else if (step !== undefined) rove(step)?.focus();
    else return;
    event.preventDefault();
  };
  node.addEventListener("keydown", keys);
  node.addEventListener("click", (event) => {
    const part = partOf(event);
    if (!part) return;
    rove(parts().indexOf(event.target.closest("button")));
    hold(part === held ? null : part);
  });
  for (const type of ["pointerover", "focusin"])
    node.addEventListener(type, (event) => ui.light(partOf(event) ?? held));
  for (const type of ["pointerleave", "focusout"])
    node.addEventListener(type, () => ui.light(held));
  const list = (value, state) => (typeof value === "function" ? value(state) : value);
  ui.onReset(() => hold(null));
  ui.bind((state) => {
    join(rows[0], list(equation, state), key, create, update);
    join(rows[1], list(code, state), key, create, update);
    rove(at);
    hold(held);
  });
  return node;
}
