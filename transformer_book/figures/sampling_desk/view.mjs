// SamplingDesk: temperature, top-k, top-p and min-p reshape one distribution.
import { bring } from "../engine/index.mjs";
import { h } from "../kit/index.mjs";
import { controls } from "./controls.mjs";
import { flow, layout, pieces } from "./layout.mjs";
import { MODEL, settle } from "./model.mjs";
import { asked, pytorch, sentence, table } from "./text.mjs";
import { bars } from "./token_bars.mjs";
import { trap, writing } from "./writing.mjs";
import limits from "./limits.json" with { type: "json" };

const locked = ({ held }) => (held < 0 ? null : [held]);

function build(ui) {
  let geometry = null;
  const [list, text, next] = [bars(ui), writing("Text"), trap(ui)];
  const python = h("p", {
    class: "coming",
    text: "These numbers come from Python.",
  });
  const own = ui.state().source === MODEL ? bring(ui, MODEL, settle) : null;
  ui.bind(({ source }) => {
    python.hidden = source === MODEL;
    if (own) own.hidden = source !== MODEL;
  });
  return {
    ...controls(ui, () => geometry),
    picture: [...next.nodes, list.node],
    below: [text.node, ...(own ? [own] : []), python],
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
  steps: [
    {
      say: "These are the most likely next tokens. Press Draw 100: do the draws follow the filled bars?",
    },
    {
      say: "Drag the temperature to 0, then to 2. When does one token take all, and when do rare tokens come?",
      set: { top_k: 0, top_p: 1, min_p: 0, count: 0, held: -1 },
    },
    {
      say: "Nothing but top-p cuts now: the fewest tokens with 80% of the probability stay. How many are they?",
      set: { temperature: 1, top_k: 0, top_p: 0.8, min_p: 0, count: 0 },
    },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ held: cell ? cell[0] : -1 }),
  build,
};
