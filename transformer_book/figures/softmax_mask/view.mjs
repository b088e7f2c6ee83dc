// SoftmaxMask: scores, a mask and a temperature become weights.
import { h, matrix, number, quote, set, tokenText } from "../kit/index.mjs";
import { atLeast0, finite, flag, keep, list, one, place, text } from "../kit/schema.mjs";
import { cells, framed } from "./layout.mjs";
import { MASKS, isLuck, isOne, map2, sum, weights } from "./numbers.mjs";
import { formula, plural, pytorch, sentence, sumText, table } from "./text.mjs";

export { pytorch, sentence, table };

function check(state) {
  const n = state.tokens?.length;
  keep(state, {
    tokens: list(text, 2, 8), scores: list(list(finite, n), n), mask: list(list(flag, n), n),
    temperature: atLeast0, naive: flag,
    axis: one("row", "column"), order: one("before", "after"), selected: place(n, n),
  });
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, width = 680) {
  check(state);
  const { tokens } = state;
  const all = weights(state);
  const labels = tokens.map((token) => tokenText(token, width < 480 ? 7 : 10));
  const heads = (kind) =>
    labels.map((text, i) => ({ text, kind, label: `${kind} ${quote(tokens[i])}` }));
  const sums = all.map((row) => sum(row));
  return { state, weights: all, sums, frame: framed(labels, width), rows: heads("query"), cols: heads("key") };
}

const replaced = (rows, [row, col], value) =>
  map2(rows, (x, r, c) => (r === row && c === col ? value : x));
const chosen = (state) => (state.selected.length === 2 ? state.selected : null);
const limit = (x) => Math.max(-1000, Math.min(1000, Math.round(1000 * x) / 1000));
const largest = (state) => Math.max(...state.scores.flat().map(Math.abs));
const isPreset = (state, name) =>
  state.mask.every((row, r) =>
    row.every((open, c) => open === MASKS[name](r, c, row.length)),
  );

/** What is done to the cell that the reader holds; stands with the scores. */
function editor(ui) {
  const none = (state) => !chosen(state);
  const at = (state) => chosen(state) ?? [0, 0];
  const name = h("span", { class: "name", "aria-hidden": "true" });
  ui.bind((state) => {
    const [query, key] = at(state).map((i) => quote(state.tokens[i], 10));
    set(name, { text: none(state) ? "Tap a cell to change its score." : `Held: query ${query}, key ${key}.` });
  });
  return h(
    "div", { class: "control held", role: "group", "aria-label": "Held cell" }, name,
    ui.number({
      label: "score", min: -1000, max: 1000, step: 0.5, disabled: none,
      get: (state) => (none(state) ? "" : state.scores[at(state)[0]][at(state)[1]]),
      set: (value, state) => ({ scores: replaced(state.scores, at(state), limit(value)) }),
    }),
    ui.toggle({
      label: "may look", disabled: none,
      get: (state) => !none(state) && state.mask[at(state)[0]][at(state)[1]],
      set: (open, state) => ({ mask: replaced(state.mask, at(state), open) }),
    }),
  );
}

function build(ui) {
  const keys = (event, cell) => {
    const { scores, mask } = ui.state();
    const step = { "+": 0.5, "=": 0.5, "-": -0.5 }[event.key];
    const score = scores[cell[0]][cell[1]];
    if (step) ui.set({ scores: replaced(scores, cell, limit(score + step)) });
    else if (event.key === " ") ui.set({ mask: replaced(mask, cell, !mask[cell[0]][cell[1]]) });
    else return false;
    return true;
  };
  const left = matrix(ui, { title: "Scores", label: "Scores, queries by keys", key: keys });
  left.node.append(editor(ui));
  const right = matrix(ui, { title: "Weights", label: "Weights, queries by keys", key: keys });
  const presets = [["none", "none"], ["causal", "causal"], ["padding", "last is padding"]];
  const naive = ui.toggle({ label: "naive", trait: "naive" });
  naive.lastChild.append(h("span", { class: "long", text: ": do not subtract the maximum" }));
  const heat = h("div", { class: "controls heat" }, ui.slider({
    label: "Temperature", trait: "temperature", min: 0, max: 3, step: 0.05,
    format: (t) => number(t),
  }));
  return {
    controls: [
      ui.select({
        label: "Mask",
        options: (state) =>
          presets.some(([name]) => isPreset(state, name)) ? presets : [...presets, ["own", "your own"]],
        get: (state) => presets.find(([name]) => isPreset(state, name))?.[0] ?? "own",
        set: (name, state) =>
          name in MASKS
            ? { mask: map2(state.mask, (_, r, c) => MASKS[name](r, c, state.mask.length)) }
            : {},
      }),
      ui.button({
        label: "Scores × 100",
        text: (state) => (largest(state) > 10 ? "Scores ÷ 100" : "Scores × 100"),
        action: (state) => {
          const factor = largest(state) > 10 ? 0.01 : 100;
          return { scores: map2(state.scores, (x) => limit(x * factor)) };
        },
      }),
      ui.choice({
        label: "Mask comes", trait: "order",
        options: [["before", "before softmax"], ["after", "after it"]],
      }),
      ui.choice({
        label: "Softmax per", trait: "axis", options: [["row", "row"], ["column", "column"]],
      }),
      naive,
    ],
    formula: { equation: (s) => formula(s).equation, code: (s) => formula(s).code },
    picture: [heat, left.node, right.node],
    draw: (geometry, view) => {
      const { rows, cols, frame, state, sums } = geometry;
      const shared = { rows, cols, frame };
      const total = sums.map((x) => ({
        text: sumText(x), label: `row sum ${sumText(x)}`, strong: !isOne(x), part: "softmax",
      }));
      const wrong = sums.filter((x) => !isOne(x)).length;
      const note = wrong
        ? `✗ ${plural(wrong, "row")} ${wrong === 1 ? "does" : "do"} not sum to 1`
        : `✓ each row sums to 1${sums.some((_, r) => isLuck(geometry, r)) ? ", by chance" : ""}`;
      // where the matrices stand one above the other, the weights are next to all that moves them
      const low = Boolean(frame.tall);
      if (low !== (heat.previousSibling === right.node)) low ? heat.before(right.node) : left.node.after(right.node);
      left.draw({ ...shared, note: "hatched: may not look", cells: cells(geometry, "scores") }, view);
      right.draw({ ...shared, cells: cells(geometry, "weights"), note, sums: total }, view);
    },
  };
}

export default {
  name: "softmax_mask",
  title: "Softmax and mask",
  tip:
    "pull the temperature down to 0 and back. Put the mask after the softmax: which rows " +
    "no longer sum to 1? Multiply the scores by 100 and switch to naive, which does not " +
    "subtract the maximum.",
  keys: ", + and − change the score, Space masks the cell",
  traits: ["tokens", "scores", "mask", "temperature", "naive", "axis", "order", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked: chosen,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
