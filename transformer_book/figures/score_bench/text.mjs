// What ScoreBench says, in words, tables and code. No DOM.
import { number, percent, pythonRows, short } from "../kit/index.mjs";
import { COUNT, WIDEST } from "./numbers.mjs";

/** "√64 = 8", "√2 ≈ 1.4": what the scores are divided by. */
const root = ({ width }) => {
  const x = Math.sqrt(width);
  return `√${width} ${x % 1 ? "≈" : "="} ${short(x, 1)}`;
};

/** Degrees in so many digits that 90 is said only where the score is 0. */
export function angle({ score, degrees }) {
  const one = number(degrees, 1);
  return `${one === "90.0" && Number(number(score)) ? number(degrees, 2) : one}°`;
}

/** How q and k lie, in words. */
export const apart = (alignment) =>
  Math.min(...alignment.lengths) > 0
    ? `at an angle of ${angle(alignment)}`
    : "at least one of them is 0";

/** The live sentence; `active` is [0, key] or null. */
export function sentence({ state, plain, scaled, alignment }, active) {
  if (active) {
    const j = active[1];
    return (
      `Key ${j}: score ${number(plain.row[j])}, weight ${number(plain.weights[j])}. ` +
      `Divided by ${root(state)}: score ${number(scaled.row[j])}, ` +
      `weight ${number(scaled.weights[j])}.`
    );
  }
  return (
    `At width ${state.width}, random scores have a standard deviation of ${number(plain.spread, 1)}, or ` +
    `${number(scaled.spread, 1)} when divided by ${root(state)}. ` +
    `Averaged over ${COUNT} queries, the largest weight is ${percent(plain.largest)}, or ` +
    `${percent(scaled.largest)} when divided. ` +
    `In the plane, q · k = ${number(alignment.score)}, ${apart(alignment)}.`
  );
}

export function table({ state, plain, scaled, alignment }) {
  const four = (x) => number(x, 4);
  return {
    caption:
      `${COUNT} random keys for one random query, width ${state.width}. In the plane, ` +
      `q · k = ${four(alignment.score)}`,
    header: ["key", "score", "weight", "scaled score", "scaled weight"],
    rows: plain.row.map((score, j) => [
      j,
      four(score),
      four(plain.weights[j]),
      four(scaled.row[j]),
      four(scaled.weights[j]),
    ]),
  };
}

const tensor = (list) => `torch.tensor([${list.map((x) => number(x, 4)).join(", ")}])`;

/** The state as a program that draws the same numbers, and asserts what is shown. */
export function pytorch({ query, key, width, seed }, { plain, scaled, alignment }) {
  return [
    "import math",
    "",
    "import torch",
    "",
    `score = ${tensor(query)} @ ${tensor(key)}`,
    `torch.testing.assert_close(score.item(), ${number(alignment.score, 6)}, rtol=0, atol=1e-3)`,
    "",
    `seed, numbers = ${seed}, []`,
    `for _ in range(3 + 2 * ${COUNT} * ${WIDEST}):  # the generator of Park and Miller`,
    "    seed = 48271 * seed % (2**31 - 1)",
    "    numbers.append(seed / (2**31 - 1))",
    "numbers = torch.tensor(numbers[3:], dtype=torch.float64)",
    `vectors = math.sqrt(3) * (2 * numbers - 1)  # mean 0, variance 1`,
    `queries, keys = vectors.reshape(2, ${COUNT}, ${WIDEST})[..., :${width}]`,
    "scores = queries @ keys.T",
    `both = torch.stack((scores, scores / math.sqrt(${width})))`,
    "weights = both.softmax(dim=-1)",
    "",
    "spread = both.flatten(1).std(dim=-1, correction=0)",
    "largest = weights.amax(dim=-1).mean(dim=-1)",
    "for shown, expected in (",
    `    (spread, ${tensor([plain.spread, scaled.spread])}),`,
    `    (largest, ${tensor([plain.largest, scaled.largest])}),`,
    "    (",
    "        weights[:, 0],",
    `        torch.tensor(${pythonRows([plain.weights, scaled.weights], (x) => number(x, 4))}),`,
    "    ),",
    "):",
    "    torch.testing.assert_close(shown, expected.double(), rtol=0, atol=1e-3)",
    "",
  ].join("\n");
}
