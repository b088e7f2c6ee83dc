// Labeled controls bound to traits. Each takes { label, trait } or { label, get, set }:
// get(state) -> value, set(value, state) -> patch; `disabled(state)` where needed.
import { h, join, set } from "./dom.mjs";

/** How a control reads its value from the state, and puts one into it. */
const bound = (ui, { trait, get, set: patch }) => ({
  get: get ?? ((state) => state[trait]),
  put: (value, state = ui.state()) =>
    ui.set(patch ? patch(value, state) : { [trait]: value }),
});

const isOff = (option, state) => option.disabled?.(state) ?? false;

const labeled = (label, ...parts) =>
  h("label", { class: "control" }, h("span", { class: "name", text: label }), ...parts);

/** An <input> that puts read(node, event) into the state; undefined is no answer. */
function input(ui, option, type, events, props, read) {
  const { get, put } = bound(ui, option);
  const answer = (event) => {
    const value = read(node, event);
    if (value === undefined) return;
    node.focus({ preventScroll: true }); // a finger on a slider does not: the sentence would not stick
    put(value);
  };
  const node = h("input", { type, ...props });
  for (const each of events) node.addEventListener(each, answer);
  ui.bind((state) => set(node, { disabled: isOff(option, state) }));
  return { node, get };
}

/**
 * Reads a slider. A finger that lands on it may go on to scroll the page: what it has
 * changed by then waits until the finger moves along, or leaves.
 */
function patientReader(ui) {
  let [landed, held] = [false, false];
  const touch = ({ type, pointerType }) => {
    [landed, held] = [type === "pointerdown" && pointerType === "touch", false];
    ui.repaint();
  };
  const read = (node, event) => {
    if (event.type === "input") [landed, held] = [false, landed];
    if (held === (event.type === "change")) return Number(node.value);
    event.stopPropagation();
    return undefined;
  };
  return { touch, read };
}

/** { min, max, step, format(value) -> text } */
function slider(ui, option) {
  const { min, max, step, format = String } = option;
  const { touch, read } = patientReader(ui);
  const props = { min, max, step, onpointerdown: touch, onpointercancel: touch };
  const { node, get } = input(ui, option, "range", ["input", "change"], props, read);
  const shown = h("output");
  ui.bind((state) => {
    const text = format(get(state));
    set(node, { value: String(get(state)), "aria-valuetext": text });
    set(shown, { text });
  });
  return labeled(option.label, node, shown);
}

/**
 * { min, max, step }: a field that answers while one types. `set` gets the state from
 * before the typing; a number out of range waits, is told the range, and is cut when
 * one leaves.
 */
function number(ui, option) {
  const { min, max, step } = option;
  const { get, put } = bound(ui, option);
  const limit = h("small", { role: "status" });
  let before, cut;
  const read = ({ type }) => {
    const end = type === "change";
    const typed = node.valueAsNumber;
    const value = end ? Math.min(max, Math.max(min, typed)) : typed;
    before ??= ui.state();
    if (!end) {
      const out = typed < min || typed > max;
      set(limit, { text: out ? `only ${min} to ${max}` : "" });
    }
    if (value >= min && value <= max) put(value, before);
    else if (end) ui.repaint();
    if (end) [before, cut] = [null, value];
  };
  const on = { oninput: read, onchange: read };
  const node = h("input", { type: "number", min, max, step, ...on });
  const forget = () => set(limit, { text: "" });
  ui.onReset(forget);
  ui.bind((state) => {
    if (cut !== undefined && cut !== get(state)) forget(); // another came since
    // what is typed stays as it is typed: 1. or 1.50
    if (node.valueAsNumber !== get(state)) set(node, { value: String(get(state)) });
    set(node, { disabled: isOff(option, state) });
  });
  return labeled(option.label, node, limit);
}

/** { maxlength } */
function text(ui, option) {
  const { maxlength } = option;
  const props = { maxlength, spellcheck: "false", autocomplete: "off" };
  const { node, get } = input(ui, option, "text", ["input"], props, (n) => n.value);
  ui.bind((state) => set(node, { value: String(get(state)) }));
  return labeled(option.label, node);
}

/** A box to tick. */
function toggle(ui, option) {
  const { node, get } = input(ui, option, "checkbox", ["change"], {}, (n) => n.checked);
  ui.bind((state) => set(node, { checked: Boolean(get(state)) }));
  return h("label", { class: "control" }, node, h("span", { text: option.label }));
}

/** { options: [[value, text], ...] or state -> that }: a drop-down list. */
function select(ui, option) {
  const { get, put } = bound(ui, option);
  const list = (state) =>
    typeof option.options === "function" ? option.options(state) : option.options;
  const node = h("select", {
    onchange: () => put(list(ui.state())[node.selectedIndex][0]),
  });
  ui.bind((state) => {
    join(
      node,
      list(state),
      ([value]) => value,
      () => h("option"),
      (item, [, shown]) => set(item, { text: shown }),
    );
    node.selectedIndex = list(state).findIndex(([value]) => value === get(state));
    set(node, { disabled: isOff(option, state) });
  });
  return labeled(option.label, node);
}

/** { options: [[value, text], ...] }: two to four choices side by side. */
function choice(ui, option) {
  const { get, put } = bound(ui, option);
  const name = option.label; // of a group of radios within this shadow root
  const radios = option.options.map(([value]) =>
    h("input", { type: "radio", name, onchange: () => put(value) }),
  );
  ui.bind((state) =>
    radios.forEach((radio, i) =>
      set(radio, {
        checked: option.options[i][0] === get(state),
        disabled: isOff(option, state),
      }),
    ),
  );
  const labels = radios.map((radio, i) =>
    h("label", {}, radio, h("span", { text: option.options[i][1] })),
  );
  return h(
    "fieldset",
    { class: "control choice" },
    h("legend", { class: "name", text: option.label }),
    h("span", { class: "options" }, ...labels),
  );
}

/** { action(state) -> patch or nothing, text(state) } */
function button(ui, option) {
  const { label, action, text: shown = () => label } = option;
  const onclick = () => {
    const state = ui.state();
    const patch = !isOff(option, state) && action(state);
    if (patch) ui.set(patch);
  };
  const node = h("button", { type: "button", text: label, onclick });
  // a button that went out under the keyboard would take the focus with it
  ui.bind((state) => {
    const [off, kept] = [isOff(option, state), node.matches(":focus-visible")];
    set(node, {
      disabled: off && !kept,
      "aria-disabled": off && kept ? "true" : null,
      text: shown(state),
    });
  });
  node.addEventListener("blur", ui.repaint);
  return node;
}

/** The controls of one figure; `ui` has state(), set(patch), bind(update) and repaint(). */
export const controls = (ui) => ({
  slider: (option) => slider(ui, option),
  number: (option) => number(ui, option),
  text: (option) => text(ui, option),
  toggle: (option) => toggle(ui, option),
  select: (option) => select(ui, option),
  choice: (option) => choice(ui, option),
  button: (option) => button(ui, option),
});
