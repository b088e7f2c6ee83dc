// What the figure says: sentence, data table, and a program for PyTorch. No DOM.
import { number, percent, python } from "../kit/index.mjs";

/** The live sentence; `active` is [0, i] of the bar that is looked at, or null. */
export function sentence({ state, weights }, active) {
  if (!active) return `${weights.length} scores become weights that sum to 1.`;
  const i = active[1];
  return `Score ${i} is ${number(state.scores[i])}: its weight is ${percent(weights[i])}.`;
}

export const table = ({ state, weights }) => ({
  caption: "Scores and their weights",
  header: ["score", "value", "weight"],
  rows: weights.map((weight, i) => [i, number(state.scores[i]), number(weight, 4)]),
});

/** The state as a program that runs and asserts what the figure shows. */
export const pytorch = (state, { weights }) => `import torch

scores = torch.tensor(${python(state.scores)})
weights = torch.softmax(scores.double(), dim=0)
shown = torch.tensor(${python(weights.map((x) => Number(x.toFixed(6))))}).double()
torch.testing.assert_close(weights, shown, rtol=0, atol=1e-5)
`;
