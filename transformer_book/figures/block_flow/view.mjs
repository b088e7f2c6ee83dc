// BlockFlow: follow one token's stream through the layers, and see the answer emerge.
import { figure } from "../kit/index.mjs";
import * as must from "../kit/index.mjs";
import { origin, promptField, shown, tokenChoice } from "./asks.mjs";
import { pytorch } from "./code.mjs";
import { frame, stack } from "./layout.mjs";
import { streamView, stackView } from "./views.mjs";
import { sentence, table } from "./text.mjs";

export { pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { flow, stacks } = state;
  const rows = Math.max(3, Math.min(25, flow?.lengths?.length | 1)); // two layers in each block
  const numbers = (n) => must.list(must.finite, n);
  const stack = (kind) =>
    must.parts({
      shares: must.list(must.finite, 2, 99),
      lengths: numbers(stacks?.[kind]?.shares?.length + 1),
    });
  must.keep(state, {
    flow: must.parts({
      norm: must.text,
      tokens: must.list(must.text, 1, 64),
      position: must.whole(0, flow?.tokens?.length - 1),
      lengths: numbers(rows),
      answer: numbers(rows),
      changes: numbers(rows - 1),
      cosines: numbers(rows - 1),
      top: must.list(must.list(must.parts([must.text, must.finite]), 3), rows),
    }),
    stacks: must.parts({ pre: stack("pre"), post: stack("post") }),
    prompt: must.text,
    source: must.one("page", "Python"),
    position: must.whole(0, 63),
    residual: must.one("pre", "post"),
    selected: must.place(rows),
  });
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const flow = shown(state);
  return { state, flow, frame: frame(flow, room), stack: stack(state, room) };
}

export const locked = ({ selected }) => (selected.length ? [selected[0], 0] : null);

/** The two additions and the lens, for a norm before or after each layer. */
function formula({ norm }) {
  const add = (kind, name) =>
    norm === "post"
      ? ["x ← norm(x + ", [kind, `${name}(x)`, kind], ")"]
      : ["x ← x + ", [kind, `${name}(norm(x))`, kind]];
  return [...add("attention", "attention"), ",  ", ...add("ff", "feed_forward")];
}

function build(ui) {
  const views = [tokenChoice(ui), streamView(ui), stackView(ui)];
  const [tokens, stream, random] = views;
  return {
    controls: [...promptField(ui), origin(ui), tokens.node],
    formula: {
      equation: (state) => formula(shown(state)),
      code: ["lens = ", ["stream", "model.unembedding.logits(model.stack.norm(x))"]],
    },
    picture: [stream.node],
    draw(geometry) {
      // behind the live sentence, which speaks of the stream
      if (!random.node.parentNode)
        stream.node.parentNode.nextSibling.after(random.node);
      for (const { draw } of views) draw(geometry);
    },
  };
}

export default {
  name: "block_flow",
  title: "One token's stream through the blocks",
  tip:
    "which layer brings the bold bar (bold: what it ends with)? Follow another token, or type a prompt. In the stack " +
    "below, switch to post-norm: does the stream still grow?",
  traits: ["prompt", "position", "source", "flow", "residual", "stacks", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  build,
};
