// What the figure says: sentence, data table, and a program for PyTorch. No DOM.
import { number, percent, python } from "../kit/index.mjs";

/** The live sentence; `active` is [0, i] of the bar that is picked, or null. */
export function sentence({ state: { scores, temperature }, weights }, active) {
  const at = `at temperature ${number(temperature, 1)}`;
  if (!active) {
    const largest = percent(Math.max(...weights));
    return `${weights.length} scores become weights: ${at}, the largest is ${largest}.`;
  }
  const i = active[1];
  return `Score ${i} is ${number(scores[i], 1)}: ${at}, its weight is ${percent(weights[i])}.`;
}

export const table = ({ state, weights }) => ({
  caption: "Scores and their weights",
  header: ["bar", "score", "weight"],
  rows: weights.map((weight, i) => [i, number(state.scores[i]), number(weight, 4)]),
});

/** The state as a program that runs and asserts what the figure shows. */
export const pytorch = ({ scores, temperature }, { weights }) => `import torch

scores = torch.tensor(${python(scores)}, dtype=torch.float64)
temperature = ${python(temperature)}
weights = torch.softmax(scores / temperature, dim=-1)

shown = torch.tensor(${python(weights.map((x) => Number(x.toFixed(6))))}, dtype=torch.float64)
torch.testing.assert_close(weights, shown, rtol=0, atol=1e-5)
`;

/** Parts of the same name light up together, and what is drawn with that data-part. */
export const formula = {
  equation: [["weights", "weights"], " = softmax( ", ["scores", "scores"], " / T )"],
  code: [
    ["weights", "weights"],
    " = torch.softmax(",
    ["scores", "scores"],
    " / temperature, dim=-1)",
  ],
};
