// The numbers of the figure: from its state alone, no DOM.
import { softmax } from "../kit/index.mjs";

/** The weight of each score. */
export const weightsOf = ({ scores, temperature }) =>
  softmax(scores.map((score) => score / temperature));
