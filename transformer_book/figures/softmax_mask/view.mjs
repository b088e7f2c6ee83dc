// SoftmaxMask: scores, a mask and a temperature become weights.
import { h, matrix, number, quote, set } from "../kit/index.mjs";
import { cells, layout } from "./layout.mjs";
import { MASKS, isLuck, isOne, map2 } from "./numbers.mjs";
import { formula, plural, pytorch, sentence, sumText, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

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
    set(name, {
      text: none(state)
        ? "Tap a cell to change its score."
        : `Pinned: query ${query}, key ${key}.`,
    });
  });
  return h(
    "div",
    { class: "control held", role: "group", "aria-label": "Pinned cell" },
    name,
    ui.number({
      label: "score",
      min: -1000,
      max: 1000,
      step: 0.5,
      disabled: none,
      get: (state) => (none(state) ? "" : state.scores[at(state)[0]][at(state)[1]]),
      set: (value, state) => ({
        scores: replaced(state.scores, at(state), limit(value)),
      }),
    }),
    ui.toggle({
      label: "may attend",
      disabled: none,
      get: (state) => !none(state) && state.mask[at(state)[0]][at(state)[1]],
      set: (open, state) => ({ mask: replaced(state.mask, at(state), open) }),
    }),
  );
}

/** The keys that change a cell of either matrix; whether a key was one of them. */
function keysOf(ui) {
  const steps = { "+": 0.5, "=": 0.5, "-": -0.5 };
  return (event, cell) => {
    const { scores, mask } = ui.state();
    const [row, col] = cell;
    const step = steps[event.key];
    if (step)
      ui.set({ scores: replaced(scores, cell, limit(scores[row][col] + step)) });
    else if (event.key === " ") ui.set({ mask: replaced(mask, cell, !mask[row][col]) });
    else return false;
    return true;
  };
}

const PRESETS = [
  ["none", "none"],
  ["causal", "causal"],
  ["padding", "last is padding"],
];
const presetOf = (state) => PRESETS.find(([name]) => isPreset(state, name))?.[0];

const masks = (ui) =>
  ui.select({
    label: "Mask",
    options: (state) => (presetOf(state) ? PRESETS : [...PRESETS, ["own", "your own"]]),
    get: (state) => presetOf(state) ?? "own",
    set: (name, { mask }) =>
      name in MASKS
        ? { mask: map2(mask, (_, r, c) => MASKS[name](r, c, mask.length)) }
        : {},
  });

const hundredfold = ({ scores }, factor) => map2(scores, (x) => limit(x * factor));

/** A hundred times the scores, so that a naive softmax overflows, and back. */
const times100 = (ui) =>
  ui.button({
    label: "Scores × 100",
    text: (state) => (largest(state) > 10 ? "Scores ÷ 100" : "Scores × 100"),
    action: (state) => {
      return { scores: hundredfold(state, largest(state) > 10 ? 0.01 : 100) };
    },
  });

const temperature = (ui) =>
  ui.slider({
    label: "Temperature",
    trait: "temperature",
    min: 0,
    max: 3,
    step: 0.05,
    format: (t) => number(t),
  });

function naive(ui) {
  const toggle = ui.toggle({ label: "naive", trait: "naive" });
  toggle.lastChild.append(
    h("span", { class: "long", text: ": do not subtract the maximum" }),
  );
  return toggle;
}

/** What stands beside the weights: whether their rows sum to 1. */
function noteOn(geometry) {
  const wrong = geometry.sums.filter((x) => !isOne(x)).length;
  if (wrong)
    return `✗ ${plural(wrong, "row")} ${wrong === 1 ? "does" : "do"} not sum to 1`;
  const luck = geometry.sums.some((_, r) => isLuck(geometry, r));
  return `✓ each row sums to 1${luck ? ", by chance" : ""}`;
}

const sumsOf = ({ sums }) =>
  sums.map((x) => ({
    text: sumText(x),
    label: `row sum ${sumText(x)}`,
    strong: !isOne(x),
    part: "softmax",
  }));

function build(ui) {
  const key = keysOf(ui);
  const left = matrix(ui, { title: "Scores", label: "Scores, queries by keys", key });
  left.node.append(editor(ui));
  const right = matrix(ui, {
    title: "Weights",
    label: "Weights, queries by keys",
    key,
  });
  left.node.classList.add("after");
  /** Where the matrices are stacked, the weights are next to what moves them. */
  const arrange = (stacked) => {
    const [first, second] = stacked ? [right, left] : [left, right];
    if (first.node.parentNode !== second.node.parentNode) return; // the kit moved one
    if (first.node.nextSibling !== second.node) first.node.after(second.node);
  };
  const heat = temperature(ui);
  heat.classList.add("go");
  return {
    controls: [heat],
    more: [
      masks(ui),
      times100(ui),
      ui.choice({
        label: "Mask comes",
        trait: "order",
        options: [
          ["before", "before softmax"],
          ["after", "after it"],
        ],
      }),
      ui.choice({
        label: "Softmax per",
        trait: "axis",
        options: [
          ["row", "row"],
          ["column", "column"],
        ],
      }),
      naive(ui),
    ],
    formula: { equation: (s) => formula(s).equation, code: (s) => formula(s).code },
    picture: [left.node, right.node],
    draw: (geometry, view) => {
      const { rows, cols, frame } = geometry;
      arrange(Boolean(frame.tall));
      const of = (kind, rest) => ({
        rows,
        cols,
        frame,
        cells: cells(geometry, kind),
        ...rest,
      });
      left.draw(of("scores", { note: "hatched: masked" }), view);
      right.draw(
        of("weights", { note: noteOn(geometry), sums: sumsOf(geometry) }),
        view,
      );
    },
  };
}

export default {
  name: "softmax_mask",
  title: "Softmax and mask",
  steps: [
    {
      say: "Drag the temperature to 0, then to 3. What happens to the largest weight of each row?",
    },
    {
      say: "The mask now comes after the softmax. Which rows no longer sum to 1? Why is the last one right?",
      set: (state) => ({
        order: "after",
        axis: "row",
        temperature: 1,
        mask: map2(state.mask, (_, r, c) => c <= r),
        scores: largest(state) > 10 ? hundredfold(state, 0.01) : state.scores,
      }),
    },
    {
      say: "How large are the scores? Tick naive under More: does it fail? How does the other softmax avoid it?",
      set: (state) => ({
        order: "before",
        temperature: 1,
        scores: largest(state) > 10 ? state.scores : hundredfold(state, 100),
      }),
    },
  ],
  keys: ", + and − change the score, Space masks the cell",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked: chosen,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
