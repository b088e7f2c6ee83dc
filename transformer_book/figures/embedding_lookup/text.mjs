// What EmbeddingLookup says, in words, table and code. No DOM.
import { number, python, pythonRows, quote, tokenText } from "../kit/index.mjs";
import { neighbors } from "./numbers.mjs";

export const when = (step) => (step ? `after step ${step}` : "before training");
const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** For how many words the nearest row is of their own group, now and at first. */
function groupsText({ state: { steps, step }, index, own, ownBefore }) {
  const { right, among } = own;
  if (among === 0) return "";
  const said = `the nearest row is in the same group for ${right} of ${among} words`;
  if (steps.length === 1) return ` ${capital(said)}.`;
  const before = index ? ` (${when(steps[0])}: ${ownBefore.right})` : "";
  return ` ${capital(when(step))}, ${said}${before}.`;
}

function outputText({ words, tokens, view }) {
  const [size, many] = [words.length, tokens.length];
  if (many === 0) return "No word is looked up.";
  if (view === "lookup")
    return (
      `${plural(many, "word")}: the output copies ${many === 1 ? "row" : "rows"} ` +
      `${tokens.join(", ")} of the table.`
    );
  return (
    `${plural(many, "one-hot row")} times W: in each sum, at least ${size - 1} of the ${size} products ` +
    "are 0, so the output is the same rows."
  );
}

/** What the one-hot row of a word is, if the picture shows one-hot rows. */
function oneHotText({ words, tokens, view }, row) {
  if (view === "lookup") return "";
  return tokens.includes(row)
    ? ` Its one-hot row: a 1 at index ${row}, ${plural(words.length - 1, "zero")}.`
    : " It is not in your text.";
}

/** The live sentence; `active` is [row, column] or null. */
export function sentence(geometry, active) {
  const { state, table: now, index } = geometry;
  if (!active) return outputText(state) + groupsText(geometry);
  const { words, tables, steps, step } = state;
  const [row, column] = active;
  const list = (rows) =>
    neighbors(rows, row, 3)
      .map((near) => `${quote(words[near.row])} ${number(near.cosine)}`)
      .join(", ");
  const after = steps.length > 1 ? ` ${when(step)}` : "";
  const before = index ? `; ${when(steps[0])}: ${list(tables[0])}` : "";
  return (
    `${quote(words[row])} is row ${row}; its entry ${column} is ${number(now[row][column])}.` +
    `${oneHotText(state, row)} Nearest by cosine${after}: ${list(now)}${before}.`
  );
}

export function table({ state: { words, steps, step }, table: rows, nearest }) {
  return {
    caption: `The table${steps.length > 1 ? ` ${when(step)}` : ""}, and each word’s nearest neighbor`,
    header: ["word", "row", ...rows[0].map((_, d) => String(d)), "nearest", "cosine"],
    rows: rows.map((row, i) => {
      const near = nearest[i];
      return [
        tokenText(words[i], 40),
        i,
        ...row.map((x) => number(x, 3)),
        tokenText(words[near.row], 40),
        number(near.cosine, 4),
      ];
    }),
  };
}

/** The state as a program that looks up, multiplies, and finds the nearest rows. */
export function pytorch({ words, tokens }, { table: rows, picked }) {
  const near = neighbors(rows, picked, 5); // as many as are listed
  const numbers = (list) =>
    pythonRows(list, (x) => (Number.isInteger(x) ? `${x}.0` : String(x)));
  return [
    "import torch",
    "from torch.nn import functional as F",
    "",
    `words = ${python(words)}`,
    `weight = torch.tensor(${numbers(rows)})`,
    `tokens = torch.tensor(${python(tokens)}, dtype=torch.long)`,
    "",
    "output = F.embedding(tokens, weight)  # the same as weight[tokens]",
    `shown = torch.tensor(${numbers(tokens.map((row) => rows[row]))}).reshape(-1, ${rows[0].length})`,
    "assert torch.equal(output, shown)",
    `one_hot = F.one_hot(tokens, ${words.length}).float()`,
    "torch.testing.assert_close(one_hot @ weight, output, rtol=0, atol=0)",
    "",
    `row = ${picked}  # ${python(tokenText(words[picked]))}`,
    "cosine = F.cosine_similarity(weight[row], weight, dim=-1)",
    `nearest = torch.tensor(${python(near.map(({ row }) => row))})`,
    `expected = torch.tensor([${near.map((one) => number(one.cosine, 5)).join(", ")}])`,
    "torch.testing.assert_close(cosine[nearest], expected, rtol=0, atol=1e-4)",
    "others = torch.cat((cosine[:row], cosine[row + 1 :]))",
    `torch.testing.assert_close(others.topk(${near.length}).values, expected, rtol=0, atol=1e-4)`,
    "",
  ].join("\n");
}
