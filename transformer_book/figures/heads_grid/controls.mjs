// What the reader does to HeadsGrid beside its pictures: switches, orders, texts, the model.
import { bring } from "../engine/index.mjs";
import { h, set } from "../kit/index.mjs";
import { MOST, SIZES, SORTS, sizeOf } from "./layout.mjs";
import {
  createRunner,
  isOff,
  letter,
  letters,
  periodOf,
  runners,
  switched,
} from "./numbers.mjs";
import { name } from "./text.mjs";

/** The model comes, unless Python has one of the reader's own. */
export function source(ui) {
  const own = h("p", {
    class: "coming",
    text: "Computed in Python, from another model: to switch several heads off, run the code.",
  });
  const { source: asked } = ui.state();
  if (!SIZES[asked]) return [own];
  const line = bring(ui, asked, (model) => runners.set(asked, createRunner(model)));
  ui.bind(({ source: now }) => {
    set(line, { hidden: now !== asked });
    set(own, { hidden: now !== "Python" });
  });
  return [line, own];
}

export function switches(ui) {
  const go = ui.button({
    label: "Switch",
    text: (state) =>
      `Switch ${name(state.shown[0])} ${isOff(state, state.shown[0]) ? "on" : "off"}`,
    action: (state) => ({ off: switched(state, state.shown[0]) }),
  });
  go.classList.add("go");
  return [go];
}

function everyHead(state) {
  const [layers, heads] = sizeOf(state);
  return Array.from({ length: layers * heads }, (_, i) => [
    Math.floor(i / heads),
    i % heads,
  ]);
}

const compare = (ui) =>
  ui.select({
    label: "Compare with",
    options: (state) => [
      ["", "nothing"],
      ...everyHead(state).map((head) => [String(head), name(head)]),
    ],
    get: ({ shown }) => String(shown[1] ?? ""),
    set: (text, { shown }) => ({
      shown: text ? [shown[0], text.split(",").map(Number)] : [shown[0]],
    }),
  });

const ENTROPY =
  "How widely a head spreads its attention: 0 if each query attends to one key alone, " +
  "large if it attends to many keys alike.";
const INDUCTION =
  "A head that attends to the token after an earlier copy of the current one, and so can " +
  "continue what repeats.";

/** What is not for the first look. */
export function others(ui) {
  const still = ({ source: now }) => !runners.has(now); // nothing here could read others
  const reading = (ids) => ({ ids, tokens: ids.map(letter), pair: [] });
  return [
    ui.button({
      label: "All on",
      disabled: ({ off }) => !off.length,
      action: () => ({ off: [] }),
    }),
    ui.select({ label: "Sort by", trait: "sort", options: SORTS }),
    ui.term("entropy", ENTROPY),
    ui.term("induction", INDUCTION),
    compare(ui),
    ui.slider({
      label: "Letters",
      min: 2,
      max: MOST / 2,
      step: 1,
      disabled: still,
      get: ({ ids }) => periodOf(ids) || ids.length >> 1,
      set: (count, { ids }) =>
        reading(letters(ids, count, ids.slice(0, periodOf(ids)))),
    }),
    ui.button({
      label: "Other letters",
      disabled: still,
      action: ({ ids }) => reading(letters(ids, periodOf(ids) || 10)),
    }),
  ];
}
