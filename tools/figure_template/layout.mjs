// Where things stand: a pure function of the state and the width in pixels, no DOM.
import { finite, keep, list, whole } from "../kit/index.mjs";
import { softmax } from "./numbers.mjs";

const HEIGHT = 120; // of the tallest bar
const TOP = 24; // room for the number above it

/** Everything that is drawn or said. Throws on a state that cannot be shown. */
export function layout(state, width = 680) {
  keep(state, {
    scores: list(finite, 2, 8),
    selected: whole(-1, (state.scores?.length ?? 0) - 1),
  });
  const weights = softmax(state.scores);
  const step = Math.min(80, width / weights.length);
  const bars = weights.map((weight, i) => ({
    x: i * step + 4,
    y: TOP + HEIGHT * (1 - weight),
    width: step - 8,
    height: HEIGHT * weight,
  }));
  return {
    state,
    weights,
    bars,
    width: step * weights.length,
    height: TOP + HEIGHT + 24,
  };
}
