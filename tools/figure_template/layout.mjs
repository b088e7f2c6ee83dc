// Where things are: a pure function of the state and the width in pixels, no DOM.
import { cividis, keep, number } from "../kit/index.mjs";
import { weightsOf } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

const LEFT = 48; // of the bars: room for the labels next to them
const FLOOR = 170; // below the bars
const HEIGHT = 140; // of a weight of 1

/** Everything that is drawn or said. Throws on a state that cannot be shown. */
export function layout(state, width = 680) {
  keep(state, limits);
  const weights = weightsOf(state);
  const step = Math.min(80, (width - LEFT) / weights.length);
  const bars = weights.map((weight, i) => ({
    x: LEFT + i * step + 4,
    y: FLOOR - HEIGHT * weight,
    width: step - 8,
    height: HEIGHT * weight,
    fill: cividis(weight),
  }));
  const end = LEFT + step * weights.length;
  const ticks = [0, 0.5, 1].map((tick) => [FLOOR - HEIGHT * tick, tick]);
  return {
    state,
    weights,
    bars,
    top: FLOOR - HEIGHT - 20, // of a bar's cell: the number above it is in it
    width: end,
    height: FLOOR + 28,
    lines: ticks.map(([y]) => `M${LEFT} ${y}H${end}`).join(""),
    texts: [
      ...ticks.map(([y, text]) => ({ x: LEFT - 8, y, text, class: "quiet end" })),
      { x: LEFT - 8, y: FLOOR + 16, text: "score", class: "quiet end" },
      ...bars.map((bar, i) => ({
        x: bar.x + bar.width / 2,
        y: FLOOR + 16,
        text: number(state.scores[i], 1),
        class: "middle",
        "data-part": "scores",
      })),
    ],
  };
}
