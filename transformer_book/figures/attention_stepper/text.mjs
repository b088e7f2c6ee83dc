// What AttentionStepper says, in words, table and code. No DOM.
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
import { TITLES, within } from "./numbers.mjs";

const PARTS = ["query", "key", "scores", "scale", "mask", "softmax", "output"];

const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

const visible = ({ open }, i) => sum(open[i].map(Number));
const masked = (geometry, i) => {
  const n = geometry.tokens.length;
  const closed = n - visible(geometry, i);
  return closed
    ? `${closed} of ${n} keys are masked`
    : geometry.open.every((row, a) => row.every((x, b) => x === b <= a)) // causal
      ? "as the last token, it may attend to every key"
      : "no key is masked";
};
/** "2 = √4", "1.41 ≈ √2" */
const rootIs = ({ query, root }) => {
  const x = Math.sqrt(query[0].length);
  return `${short(x)} ${x % 1 ? "≈" : "="} ${root}`;
};
const about = (x) => `${Math.abs(x - number(x)) < 1e-9 ? "" : "about "}${number(x)}`;

/** What a query attends to most, what scores are divided by, how much is masked. */
function whole(geometry, i) {
  const { weights, tokens } = geometry;
  const best = weights[i]
    .map((w, j) => [w, j])
    .filter(([w]) => w > 0)
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const tied = best[2]?.[0] > best[1]?.[0] - 1e-9 ? ", among others" : "";
  const most = best
    .slice(0, 2)
    .map(([w, j]) => `${quote(tokens[j])} (${percent(w)})`)
    .join(" and ");
  return (
    `Query ${quote(tokens[i])} attends to ${most || "nothing"}${tied}; scores are divided ` +
    `by ${rootIs(geometry)}; ${masked(geometry, i)}.`
  );
}

/** The live sentence: what the step does to the query and key that are picked. */
export function sentence(geometry, active) {
  const { tokens, query, scores, scaled, open, weights, step } = geometry;
  const n = tokens.length;
  const [i, j] = within(active ?? geometry.pair, n);
  const [q, k, d] = [quote(tokens[i]), quote(tokens[j]), query[0].length];
  const [score, small, share] = [
    number(scores[i][j]),
    number(scaled[i][j]),
    percent(weights[i][j]),
  ];
  const seen = visible(geometry, i);
  const better = scores[i].filter((x) => x > scores[i][j]).length;
  const said = [
    `the query of ${q}, ${plural(d, "number")}, encodes what the token looks for; next it ` +
      `is compared with the key of ${k}.`,
    `the key of ${k}, ${plural(d, "number")}, encodes what the token offers to the query of ${q}.`,
    `the ${d > 1 ? `${d} products` : "product"} of ${q} and ${k} ${d > 1 ? "sum to" : "is"} ` +
      `${about(scores[i][j])}, ` +
      `${better ? `rank ${better + 1}` : "the largest"} of ${n} scores.`,
    `the score ${score} of ${q} and ${k}, divided by ${rootIs(geometry)}, is ${about(scaled[i][j])}.`,
    `${q} may ${open[i][j] ? "" : "not "}attend to ${k}, so ${small} ` +
      `${open[i][j] ? "stays" : "becomes -inf"}; ${masked(geometry, i)}.`,
    `${q} gives ${share} of its attention to ${k}. ${whole(geometry, i)}`,
    `the output of ${q} is the weighted average of ${seen < n ? `${seen || "none"} of ` : ""}` +
      `${n} values, ${share} of it from ${k}. ${whole(geometry, i)}`,
  ];
  const { held, pair } = geometry;
  const other =
    held && held !== `${[i, j]}`
      ? ` Pinned: ${pair.map((at) => quote(tokens[at])).join(" → ")}.`
      : "";
  return `Step ${step + 1} of ${TITLES.length}, ${TITLES[step]}: ${said[step]}${other}`;
}

export function table({ tokens, scores, scaled, open, weights, pair: [i], root }) {
  return {
    caption: `The steps of query ${quote(tokens[i])}, one row per key`,
    header: ["key", "q · k", `÷ ${root}`, "may attend", "weight"],
    rows: tokens.map((token, j) => [
      tokenText(token, 40),
      number(scores[i][j], 4),
      number(scaled[i][j], 4),
      open[i][j] ? "yes" : "no",
      number(weights[i][j], 4),
    ]),
  };
}

/** The equation and the PyTorch line; the part of the current step is marked. */
export function formula({ step, mask }) {
  const empty = Array.isArray(mask) && mask.some((row) => !row.some(Boolean));
  const part = (at, text, tone = "") => [
    PARTS[at],
    text,
    `${tone}${at === step ? " now" : ""}`,
  ];
  return {
    equation: [
      part(5, "softmax"),
      "( ",
      part(0, "Q", "query"),
      part(2, " · "),
      part(1, "Kᵀ", "key"),
      " ",
      part(3, "/ √d_key"),
      " ",
      part(4, "+ mask"),
      " ) ",
      part(6, "V", "value"),
    ],
    code: [
      part(5, "torch.softmax"),
      "((",
      part(0, "query", "query"),
      part(2, " @ "),
      part(1, "key.mT", "key"),
      part(3, " * d_key**-0.5"),
      ")",
      part(4, ".masked_fill(~mask, -inf)"),
      ", dim=-1)",
      ...(empty ? [part(5, ".nan_to_num(0)")] : []), // else such a row is NaN
      part(6, " @ value", "value"),
    ],
  };
}

/** The state as a program that asserts the weights and the output of the picked query. */
export function pytorch(state, geometry) {
  const {
    tokens,
    query,
    key,
    value,
    open,
    scores,
    weights,
    output,
    pair: [i],
  } = geometry;
  const tensor = (list) => `torch.tensor(${list}, dtype=torch.float64)`;
  const rows = (all) => tensor(pythonRows(all));
  const shown = (row) => tensor(python(row.map((x) => Number(x.toFixed(6)))));
  const mask =
    { none: "None", causal: '"causal"' }[state.mask] ??
    `${rows(open).replace("float64", "bool")}  # True = may attend`;
  return [
    "import torch",
    "from transformer_lib.attention import attention, attention_weights",
    "",
    `tokens = ${python(tokens)}`,
    `query = ${rows(query)}`,
    `key = ${rows(key)}`,
    `value = ${rows(value)}`,
    `mask = ${mask}`,
    "",
    `i = ${i}  # the query of tokens[i]`,
    "scores = query[i] @ key.T",
    "weights = attention_weights(query, key, mask)[i]",
    "output = attention(query, key, value, mask)[i]",
    "",
    `shown_scores = ${shown(scores[i])}`,
    `shown_weights = ${shown(weights[i])}`,
    `shown_output = ${shown(output[i])}`,
    "torch.testing.assert_close(scores, shown_scores, rtol=1e-5, atol=1e-5)",
    "torch.testing.assert_close(weights, shown_weights, rtol=0, atol=1e-5)",
    "torch.testing.assert_close(output, shown_output, rtol=1e-5, atol=1e-5)",
    "",
  ].join("\n");
}
