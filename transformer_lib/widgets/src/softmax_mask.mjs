// SoftmaxMask: scores, a mask and a temperature become weights.
import {
  cividis, figure, h, inkOn, matrix, matrixFrame, number, percent, python, pythonRows, quote, set,
  short, tokenText,
} from "./kit/index.mjs";
import { atLeast0, finite, flag, keep, list, one, place, text } from "./rules/index.mjs";

const MASKS = {
  none: () => true,
  causal: (row, col) => col <= row,
  padding: (row, col, n) => col < n - 1,
};
const LARGEST = 3.4028234663852886e38; // of float32
const SMALLEST = 2 ** -150; // at or below half its tiniest number, float32 has 0

const float32 = (x) => (x > LARGEST ? Infinity : x <= SMALLEST ? 0 : x);
const sum = (list) => list.reduce((total, x) => total + x, 0);
const transpose = (rows) => rows[0].map((_, c) => rows.map((row) => row[c]));
const map2 = (rows, f) => rows.map((row, r) => row.map((x, c) => f(x, r, c)));

const powersOf = (scores, temperature) => scores.map((x) => float32(Math.exp(x / temperature)));

/** exp(x) / sum(exp(x)) as written, with the range of float32: may give NaN. */
function naiveSoftmax(scores, temperature) {
  const powers = powersOf(scores, temperature);
  const total = float32(sum(powers));
  return powers.map((power) => power / total);
}

/** Subtracts the maximum first; temperature 0 shares all weight among the largest. */
function safeSoftmax(scores, temperature) {
  const top = Math.max(...scores);
  if (top === -Infinity) return scores.map(() => 0);
  const powers = scores.map((x) =>
    temperature === 0 ? Number(x === top) : Math.exp((x - top) / temperature),
  );
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/** What the softmax gets: lists of scores, the rows or the columns; -inf where masked. */
function given({ scores, mask, axis, order }) {
  const seen = map2(scores, (x, r, c) => (order === "after" || mask[r][c] ? x : -Infinity));
  return axis === "row" ? seen : transpose(seen);
}

/** The weights of a state, rows of numbers; the same as SoftmaxMask.weights in Python. */
export function weights(state) {
  const { mask, temperature, naive, axis, order } = state;
  const lists = given(state).map((list) => (naive ? naiveSoftmax : safeSoftmax)(list, temperature));
  const all = axis === "row" ? lists : transpose(lists);
  return order === "after" ? map2(all, (w, r, c) => (mask[r][c] ? w : 0 * w)) : all;
}

function check(state) {
  const n = state.tokens?.length;
  keep(state, {
    tokens: list(text, 2, 8), scores: list(list(finite, n), n), mask: list(list(flag, n), n),
    temperature: atLeast0, naive: flag,
    axis: one("row", "column"), order: one("before", "after"), selected: place(n, n),
  });
}

const LOW = 34; // height of a row where the matrices stand one above the other

const lower = (frame, n) => {
  const tall = Math.min(frame.cell, LOW);
  return { ...frame, tall, height: frame.height - n * (frame.cell - tall) };
};

/** Everything that is drawn or said, from the state alone. */
export function layout(state, width = 680) {
  check(state);
  const { tokens } = state;
  const all = weights(state);
  const labels = tokens.map((token) => tokenText(token, width < 480 ? 7 : 10));
  const framed = (room) =>
    matrixFrame({ rows: labels, cols: labels, width: room, extra: 1, max: 48 });
  const half = framed((width - 24) / 2);
  // side by side, or one above the other: then lower, so that a phone shows both
  const frame = half.cell >= 36 ? half : lower(framed(width), labels.length);
  const heads = (kind) =>
    labels.map((text, i) => ({ text, kind, label: `${kind} ${quote(tokens[i])}` }));
  const sums = all.map((row) => sum(row));
  return { state, weights: all, sums, frame, rows: heads("query"), cols: heads("key") };
}

const isOne = (x) => Math.abs(x - 1) < 1e-9;
const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

/** Why the naive way fails for the softmaxes that make this row, or all rows, or why not. */
function naively({ state }, row) {
  const { temperature: t, axis } = state;
  if (t === 0) return " Dividing by temperature 0 without care gives inf / inf, which is NaN.";
  const lists = given(state).filter((_, i) => axis === "column" || i === (row ?? i));
  const sums = lists.map((list) => float32(sum(powersOf(list, t))));
  const tops = lists.map((list) => Math.max(...list) / t);
  const low = Math.min(...tops);
  const upTo = (top) => `score / T goes up to ${short(top, 1)}`;
  const up = upTo(Math.max(...tops));
  if (sums.includes(Infinity))
    return ` Naive fails here: ${up}, exp fits in float32 up to 88.7 only, and inf / inf is NaN.`;
  const why = low === -Infinity ? `a whole ${axis} is masked` : `${upTo(low)} only`;
  if (sums.includes(0))
    return ` Naive fails here: ${why}, exp of that is 0 in float32, and 0 / 0 is NaN.`;
  return ` Naive works here: ${up}, and exp fits in float32 up to 88.7.`;
}

/** What the numbers say where something went wrong or is special, in words. */
function remark(geometry, row) {
  const { mask, naive } = geometry.state;
  if (naive) return naively(geometry, row);
  return row === undefined || mask[row].some(Boolean) ? ""
    : " It may look at nothing, so its row is all zeros.";
}

/** How many columns sum to 1. */
const goodColumns = ({ weights: all }) => transpose(all).filter((col) => isOne(sum(col))).length;

function rowSum(geometry, row) {
  const { state, sums } = geometry;
  const total = `the row sums to ${short(sums[row], 2)}`;
  const others = sums.filter((x) => !isOne(x)).length;
  if (isOne(sums[row]) && others)
    return `${total}, ${plural(others, "other")} ${others === 1 ? "does" : "do"} not.`;
  if (isOne(sums[row]) || !Number.isFinite(sums[row])) return `${total}.`;
  const late = state.order === "after";
  if (state.axis === "column") {
    const ends =
      late && !state.mask.flat().every(Boolean) ? " and the mask came after it."
      : goodColumns(geometry) === sums.length ? ": they sum to 1, rows do not." : ".";
    return `${total}, because softmax ran down the columns${ends}`;
  }
  if (late && !state.mask[row].every(Boolean))
    return `${total}, because the mask came after the softmax.`;
  return `${total}.`;
}

const masked = (list, thing) => {
  const closed = list.filter((open) => !open).length;
  return `${closed} of ${plural(list.length, thing)} ${closed === 1 ? "is" : "are"} masked`;
};

/** The live sentence; SoftmaxMask.summary() says the same in Python. */
export function sentence(geometry, active) {
  const { state, weights: all, sums } = geometry;
  const { tokens, mask } = state;
  if (!active) {
    const good = sums.filter(isOne).length;
    const down = state.axis === "column" ? `, ${goodColumns(geometry)} columns do` : "";
    return (
      `${good} of ${tokens.length} rows sum to 1${down}; ${masked(mask.flat(), "cell")}.` +
      remark(geometry)
    );
  }
  const [row, col] = active;
  const [query, key] = [quote(tokens[row]), quote(tokens[col])];
  const weight = all[row][col];
  const gives = Number.isFinite(weight)
    ? `gives ${percent(weight)} of its weight to ${key}`
    : `and key ${key}: the weight is ${number(weight)}`;
  const first = mask[row][col]
    ? `Query ${query} ${gives}`
    : `Query ${query} may not look at ${key}: its weight is ` +
      `${weight === 0 ? "exactly 0" : number(weight)}`;
  return `${first}; ${masked(mask[row], "key")}; ${rowSum(geometry, row)}${remark(geometry, row)}`;
}

export function table({ state, weights: all, sums }) {
  const names = state.tokens.map((token) => tokenText(token, 40));
  return {
    caption: "Weights: one row per query, one column per key",
    header: ["query", ...names, "sum"],
    rows: all.map((row, r) => [
      names[r],
      ...row.map((x, c) => {
        const text = x === 0 ? "0" : number(x, 4);
        return state.mask[r][c] ? text : `${text} (masked)`;
      }),
      number(sums[r], 4),
    ]),
  };
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const dim = state.axis === "row" ? -1 : -2;
  const rows = (all, show) => `torch.tensor(${pythonRows(all, show)})`;
  const masked = 'scores.masked_fill(~mask, float("-inf"))';
  const seen = state.order === "before" ? masked : "scores";
  const softmax = state.naive
    ? [`powers = torch.exp(${seen} / temperature)`,
       `weights = powers / powers.sum(dim=${dim}, keepdim=True)`]
    : state.temperature === 0
      ? [`seen = ${seen}`,
         `best = (seen == seen.amax(dim=${dim}, keepdim=True)) & (seen > float("-inf"))`,
         `weights = (best / best.sum(dim=${dim}, keepdim=True)).nan_to_num(0.0)`]
      : [`weights = torch.softmax(${seen} / temperature, dim=${dim})`,
         "weights = weights.nan_to_num(0.0)  # a query that may look at nothing"];
  if (state.order === "after") softmax.push("weights = weights * mask  # too late");
  return [
    "import torch", "",
    `tokens = ${python(state.tokens)}`,
    `scores = ${rows(state.scores, (x) => python(Number.isInteger(x) ? `${x}.` : x).replaceAll('"', ""))}`,
    `mask = ${rows(state.mask, python)}  # True = may look`,
    `temperature = ${python(state.temperature)}`, "",
    ...softmax, "",
    `shown = ${rows(geometry.weights, (x) => (Number.isFinite(x) ? x.toFixed(5) : python(x)))}`,
    "torch.testing.assert_close(weights, shown, rtol=0, atol=1e-4, equal_nan=True)", "",
  ].join("\n");
}

const scoreText = (score) =>
  number(score, Math.abs(score) >= 100 ? 0 : Number(number(score, 1)) === score ? 1 : 2);

function cells(geometry, kind) {
  const { state, weights: all } = geometry;
  const { tokens, scores, mask } = state;
  return map2(scores, (score, r, c) => {
    const open = mask[r][c];
    const weight = all[r][c];
    const sure = Number.isFinite(weight);
    const shade = sure ? weight : 0;
    const pair = `query ${quote(tokens[r])}, key ${quote(tokens[c])}`;
    if (kind === "scores")
      return {
        text: scoreText(score), masked: !open, part: "scores mask",
        label: `${pair}: score ${scoreText(score)}${open ? "" : ", may not look"}`,
        ink: open ? undefined : "var(--quiet)",
      };
    return {
      text: number(weight), masked: !open, area: shade, part: "weights",
      fill: open && sure ? cividis(weight) : "transparent",
      ink: !open ? "var(--quiet)" : sure ? inkOn(weight) : undefined,
      label: `${pair}: weight ${number(weight)}${open ? "" : ", may not look"}`,
    };
  });
}

/** The equation and the PyTorch line of the state; parts of the same name belong together. */
export function formula(state) {
  const before = state.order === "before";
  const [scores, temp] = [["scores", "scores"], ["temperature", "T"]];
  const mask = ["mask", before ? "mask" : "mask"];
  const soft = ["softmax", state.axis === "row" ? "softmax" : "softmax over queries"];
  const dim = ["softmax", `dim=${state.axis === "row" ? -1 : -2}`];
  const equation = before
    ? ["weights", " = ", soft, "( ", mask, "(", scores, ") / ", temp, " )"]
    : ["weights", " = ", mask, "( ", soft, "( ", scores, " / ", temp, " ) )"];
  const fill = before ? [["mask", '.masked_fill(~mask, -inf)']] : [];
  const inner = [["scores", "scores"], ...fill, " / ", ["temperature", "temperature"]];
  const call = state.naive
    ? [["softmax", "normalize"], "(", ["naive", "torch.exp"], "(", ...inner, "), ", dim, ")"]
    : [["softmax", "torch.softmax"], "(", ...inner, ", ", dim, ")"];
  const code = ["weights = ", ...call, ...(before ? [] : [" ", ["mask", "* mask"]])];
  return { equation: equation.map((p) => (p === "weights" ? ["weights", p] : p)), code };
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
  const presets = [["none", "none"], ["causal", "causal"], ["padding", "last key is padding"]];
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
      ui.choice({
        label: "Mask comes", trait: "order",
        options: [["before", "before softmax"], ["after", "after it"]],
      }),
      ui.choice({
        label: "Softmax over", trait: "axis",
        options: [["row", "each row"], ["column", "each column"]],
      }),
      ui.toggle({ label: "naive: do not subtract the maximum", trait: "naive" }),
      ui.button({
        label: "Scores × 100",
        text: (state) => (largest(state) > 10 ? "Scores ÷ 100" : "Scores × 100"),
        action: (state) => {
          const factor = largest(state) > 10 ? 0.01 : 100;
          return { scores: map2(state.scores, (x) => limit(x * factor)) };
        },
      }),
      ui.slider({
        label: "Temperature", trait: "temperature", min: 0, max: 3, step: 0.05,
        format: (t) => number(t),
      }),
    ],
    formula: { equation: (s) => formula(s).equation, code: (s) => formula(s).code },
    picture: [left.node, right.node],
    draw: (geometry, view) => {
      const { rows, cols, frame, state, sums } = geometry;
      const shared = { rows, cols, frame };
      const total = sums.map((x) => ({
        text: number(x), label: `row sum ${number(x)}`, strong: !isOne(x), part: "softmax",
      }));
      const wrong = sums.filter((x) => !isOne(x)).length;
      const note = wrong
        ? `✗ ${plural(wrong, "row")} ${wrong === 1 ? "does" : "do"} not sum to 1`
        : "✓ each row sums to 1";
      left.draw({ ...shared, note: "hatched: may not look", cells: cells(geometry, "scores") }, view);
      right.draw({ ...shared, cells: cells(geometry, "weights"), note, sums: total }, view);
    },
  };
}

export default figure({
  name: "softmax_mask",
  title: "Softmax and mask",
  tip:
    "pull the temperature down to 0 and back. Put the mask after the softmax: which rows " +
    "no longer sum to 1? Multiply the scores by 100 and switch to naive.",
  keys: ", + and − change the score, Space masks the cell",
  traits: ["tokens", "scores", "mask", "temperature", "naive", "axis", "order", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked: chosen,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
  // where the matrices stand one above the other, the weights come first: next to what moves them
  css: `
.picture{flex-wrap:wrap-reverse;align-items:flex-end}
.held{flex-wrap:wrap;gap:0 .75rem;width:0;min-width:100%;margin-top:.35rem;font-size:max(13px,.88em)}.held>.name{flex:1 0 100%}
`,
});
