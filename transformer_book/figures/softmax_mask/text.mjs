// What SoftmaxMask says, in words, table and code. No DOM.
import {
  number,
  percent,
  python,
  pythonRows,
  quote,
  short,
  sum,
  tokenText,
} from "../kit/index.mjs";
import { float32, given, isLuck, isOne, powersOf, transpose } from "./numbers.mjs";

export const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

/** Why the naive way fails for the softmaxes that make this row, or all rows, or why not. */
function naively({ state }, row) {
  const { temperature: t, axis } = state;
  if (t === 0)
    return " Naive softmax fails here: dividing by a temperature of 0 gives inf / inf or 0 / 0, which is NaN.";
  const lists = given(state).filter((_, i) => axis === "column" || i === (row ?? i));
  const powers = lists.map((list) => powersOf(list, t));
  const sums = powers.map((list) => float32(sum(list)));
  const tops = lists.map((list) => Math.max(...list) / t);
  const low = Math.min(...tops);
  const upTo = (top) => `in one ${axis}, score / T is at most ${short(top, 1)}`;
  const up = `score / T reaches ${short(Math.max(...tops), 1)}`;
  if (sums.includes(Infinity) && !powers.flat().includes(Infinity))
    return ` Naive softmax fails here: ${up}, the sum overflows float32, and dividing by inf gives 0.`;
  if (sums.includes(Infinity))
    return ` Naive softmax fails here: ${up}, exp overflows float32 above 88.7, and inf / inf is NaN.`;
  const why =
    low === -Infinity
      ? `a whole ${axis} is masked, exp is 0`
      : `${upTo(low)}, exp underflows to 0 in float32`;
  if (sums.includes(0)) return ` Naive softmax fails here: ${why}, and 0 / 0 is NaN.`;
  const several = (list) => list.filter((x) => x > -Infinity).length > 1; // else 1
  const least = Math.min(...tops.filter((_, i) => several(lists[i])));
  if (least < -87.3)
    return ` Naive softmax loses digits here: ${upTo(least)}, where float32 has fewer of them.`;
  return ` Naive softmax works here: ${up}, and exp overflows float32 only above 88.7.`;
}

/** What the numbers say where something went wrong or is special, in words. */
function remark(geometry, row) {
  const { mask, naive } = geometry.state;
  if (naive) return naively(geometry, row);
  return row === undefined || mask[row].some(Boolean)
    ? ""
    : " It may attend to nothing, so its row is all zeros.";
}

/** A sum in the first of these numbers of digits that sets it apart from 1; else `near`. */
export const sumText = (x, digits = [2, 3], near = "≠ 1") =>
  digits.map((n) => number(x, n)).find((text) => isOne(x) || Number(text) !== 1) ??
  near;

/** How many columns sum to 1. */
const goodColumns = ({ weights: all }) =>
  transpose(all).filter((col) => isOne(sum(col))).length;

/** Why a row does not sum to 1, as far as it is known; "" else. */
function reason(geometry, row) {
  const { state, sums } = geometry;
  if (!state.mask[row].some(Boolean)) return ""; // then it sums to 0 in any order
  if (state.naive && naively(geometry, row).includes("fails")) return ""; // that is why
  const late = state.order === "after" && !state.mask[row].every(Boolean);
  if (state.axis === "row")
    return late ? ", because the mask came after the softmax" : "";
  const all = goodColumns(geometry) === sums.length;
  const ends = all ? ": they sum to 1, rows need not" : "";
  return `, because softmax ran down the columns${late ? " and the mask came after it" : ends}`;
}

function rowSum(geometry, row) {
  const { sums } = geometry;
  const text = sumText(sums[row], [2, 3, 4], "not quite 1").replace(/\.?0+$/, "");
  const shown = text === "0" && sums[row] > 0 ? "less than 0.01" : text;
  const total = `the row sums to ${shown}`;
  if (isLuck(geometry, row))
    return `${total}, by chance: the masked keys had almost no weight.`;
  if (!isOne(sums[row]))
    return `${total}${Number.isFinite(sums[row]) ? reason(geometry, row) : ""}.`;
  const others = sums.filter((x) => !isOne(x)).length;
  if (!others) return `${total}.`;
  return `${total}, ${plural(others, "other")} ${others === 1 ? "does" : "do"} not.`;
}

const masked = (list, thing) => {
  const closed = list.filter((open) => !open).length;
  return `${closed} of ${plural(list.length, thing)} ${closed === 1 ? "is" : "are"} masked`;
};

/** The live sentence. */
export function sentence(geometry, active) {
  const { state, weights: all, sums } = geometry;
  const { tokens, mask } = state;
  if (!active) {
    const good = sums.filter(isOne).length;
    const luck = good === sums.length && sums.some((_, r) => isLuck(geometry, r));
    const down =
      state.axis === "column" ? `, and ${goodColumns(geometry)} columns do` : "";
    return (
      `${good} of ${tokens.length} rows sum to 1${down}; ${masked(mask.flat(), "cell")}.` +
      (luck ? " By chance: the masked keys had almost no weight." : "") +
      remark(geometry)
    );
  }
  const [row, col] = active;
  const [query, key] = [quote(tokens[row]), quote(tokens[col])];
  const weight = all[row][col];
  const gives = Number.isFinite(weight)
    ? `gives ${key} a weight of ${percent(weight)}`
    : `and key ${key}: the weight is ${number(weight)}`;
  const first = mask[row][col]
    ? `Query ${query} ${gives}`
    : `Query ${query} may not attend to ${key}: its weight is ` +
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
      sumText(sums[r], [4]),
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
    ? [
        `powers = torch.exp(${seen} / temperature)`,
        `weights = powers / powers.sum(dim=${dim}, keepdim=True)`,
      ]
    : state.temperature === 0
      ? [
          `seen = ${seen}`,
          `best = (seen == seen.amax(dim=${dim}, keepdim=True)) & (seen > float("-inf"))`,
          `weights = (best / best.sum(dim=${dim}, keepdim=True)).nan_to_num(0.0)`,
        ]
      : [
          `weights = torch.softmax(${seen} / temperature, dim=${dim})`,
          "weights = weights.nan_to_num(0.0)  # where all is masked",
        ];
  if (state.order === "after") softmax.push("weights = weights * mask  # too late");
  return [
    "import torch",
    "",
    `tokens = ${python(state.tokens)}`,
    `scores = ${rows(state.scores, (x) => String(x).replace(/^-?\d+$/, "$&."))}`,
    `mask = ${rows(state.mask, python)}  # True = may attend`,
    `temperature = ${python(state.temperature)}`,
    "",
    ...softmax,
    "",
    `shown = ${rows(geometry.weights, (x) => (Number.isFinite(x) ? x.toFixed(5) : python(x)))}`,
    "torch.testing.assert_close(weights, shown, rtol=0, atol=1e-4, equal_nan=True)",
    "",
  ].join("\n");
}

/** Whether a softmax of this state has only masked scores. */
const wholly = (state) => given(state).some((row) => row.every((x) => x === -Infinity));

/** The equation and the PyTorch line of the state; parts of the same name belong together. */
export function formula(state) {
  const before = state.order === "before";
  const [scores, temp] = [
    ["scores", "scores"],
    ["temperature", "T"],
  ];
  const limit = state.temperature === 0 && !state.naive; // naive divides by 0
  const heat = limit ? ["temperature", "1e-9"] : temp;
  const mask = ["mask", "mask"];
  const soft = ["softmax", state.axis === "row" ? "softmax" : "softmax per column"];
  const dim = state.axis === "row" ? -1 : -2;
  const equation = before
    ? ["weights", " = ", soft, "( ", mask, "(", scores, ") / ", temp, " )"]
    : ["weights", " = ", mask, "( ", soft, "( ", scores, " / ", temp, " ) )"];
  const fill = before ? [["mask", ".masked_fill(~mask, -inf)"]] : [];
  const inner = [["scores", "scores"], ...fill, " / ", heat];
  const call = state.naive
    ? [
        "e = ",
        ["naive", "torch.exp"],
        "(",
        ...inner,
        "); weights = ",
        ["softmax", `e / e.sum(${dim}, True)`],
      ]
    : [
        "weights = ",
        ["softmax", "torch.softmax"],
        "(",
        ...inner,
        ", ",
        ["softmax", `dim=${dim}`],
        ")",
      ];
  // a softmax of nothing but -inf is NaN
  const empty = !state.naive && wholly(state) ? [["softmax", ".nan_to_num(0)"]] : [];
  const code = [...call, ...empty, ...(before ? [] : [" ", ["mask", "* mask"]])];
  if (limit) equation.push(",  ", ["temperature", "T → 0"]);
  return {
    equation: equation.map((p) => (p === "weights" ? ["weights", p] : p)),
    code,
  };
}
