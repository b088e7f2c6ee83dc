// SamplingDesk: temperature, top-k, top-p and min-p reshape one distribution.
import { bring } from "../engine/index.mjs";
import { h } from "../kit/index.mjs";
import { controls } from "./controls.mjs";
import { flow, layout, pieces } from "./layout.mjs";
import { MODEL, settle } from "./model.mjs";
import { asked, pytorch, sentence, table } from "./text.mjs";
import { bars } from "./token_bars.mjs";
import { trap, writing } from "./writing.mjs";

const locked = ({ held }) => (held < 0 ? null : [held]);

function build(ui) {
  let geometry = null;
  const [list, text, next] = [bars(ui), writing("Text"), trap(ui)];
  const python = h("p", {
    class: "try coming",
    text: "These numbers come from Python.",
  });
  const own = ui.state().source === MODEL ? bring(ui, MODEL, settle) : null;
  ui.bind(({ source }) => {
    python.hidden = source === MODEL;
    if (own) own.hidden = source !== MODEL;
  });
  return {
    controls: controls(ui, own ? [own, python] : [python], text.node, () => geometry),
    formula: {
      equation: [
        ["before", "softmax(logits)"],
        " → ",
        ["after", "softmax(", ""],
        ["cut", "cut"],
        "(logits / T))",
      ],
      code: (state) => [
        "filter_logits(logits",
        ...asked(state).flatMap(([name, value], i) => [
          ", ",
          [i ? "cut" : "after", `${name}=${value}`],
        ]),
        ")",
      ],
    },
    picture: [...next.nodes, list.node],
    draw(now) {
      geometry = now;
      const { state, problem } = now;
      const { length: n } = state.drawn;
      const shape = flow(pieces(now), now.room, 4);
      text.draw(shape, {
        width: now.room,
        height: shape.height,
        said:
          problem ??
          `${n} token${n === 1 ? "" : "s"} added${shape.cut ? "; the last lines" : ""}`,
        label: `The text: ${state.text}${state.drawn.map((id) => state.tokens[id]).join("")}`,
      });
      list.draw(now);
      next.draw(now);
    },
  };
}

export default {
  name: "sampling_desk",
  title: "Sampling desk",
  tip:
    "press Draw 100; drag Temperature to 0, to 2, and back to 0.7. With top-k off " +
    "and top-p at 0.8, how many tokens remain? Then press Greedy trap.",
  traits: [
    "text",
    "drawn",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "seed",
    "count",
    "trap",
    "held",
    "logits",
    "tokens",
    "asked",
    "source",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ held: cell ? cell[0] : -1 }),
  build,
};
