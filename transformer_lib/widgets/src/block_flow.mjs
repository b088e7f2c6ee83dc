// BlockFlow: follow one token's stream through the layers, and see the answer emerge.
import { figure } from "./kit/index.mjs";
import * as must from "./rules/index.mjs";
import { origin, promptField, shown, tokenChoice } from "./block_flow/asks.mjs";
import { pytorch } from "./block_flow/code.mjs";
import { frame, stack } from "./block_flow/shapes.mjs";
import { streamView, stackView } from "./block_flow/views.mjs";
import { sentence, table } from "./block_flow/words.mjs";

export { pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { flow, stacks } = state;
  const rows = Math.max(3, Math.min(25, flow?.lengths?.length | 1)); // two layers in each block
  const numbers = (n) => must.list(must.finite, n);
  const stack = (kind) => must.parts({
    shares: must.list(must.finite, 2, 99), lengths: numbers(stacks?.[kind]?.shares?.length + 1),
  });
  must.keep(state, {
    flow: must.parts({
      norm: must.text, tokens: must.list(must.text, 1, 64), position: must.whole(0, flow?.tokens?.length - 1),
      lengths: numbers(rows), answer: numbers(rows), changes: numbers(rows - 1), cosines: numbers(rows - 1),
      top: must.list(must.list(must.parts([must.text, must.finite]), 3), rows),
    }),
    stacks: must.parts({ pre: stack("pre"), post: stack("post") }), prompt: must.text, source: must.one("page", "Python"),
    position: must.whole(0, 63), residual: must.one("pre", "post"), selected: must.place(rows),
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
      if (!random.node.parentNode) stream.node.parentNode.nextSibling.after(random.node);
      for (const { draw } of views) draw(geometry);
    },
  };
}

export default figure({
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
  css: `
.origin,.tokens{flex-basis:100%}.coming{margin:0;min-height:3em}
.tokens .name{flex:none}.tokens .options{min-width:0;overflow-x:auto;position:relative;
mask:linear-gradient(90deg,var(--before,#000),#000 2rem calc(100% - 2rem),var(--after,#000))}
[data-before]{--before:#0000}[data-after]{--after:#0000}
.tokens label{flex:none;white-space:pre;font-family:var(--mono)}
.band{fill:var(--text);fill-opacity:.35}
.group,.rule{stroke:var(--line)}.group{stroke-width:2}
.flow{stroke:var(--text);stroke-opacity:.35;stroke-width:5}
.vector{fill:none;stroke-width:2.5}.into{fill:none;stroke-width:1.5}
path.attention{stroke:var(--query)}path.ff{stroke:var(--value)}
rect.attention,svg text.attention{fill:var(--query)}rect.ff,svg text.ff{fill:var(--value)}
.room{fill:var(--text);fill-opacity:.06}.other{fill:var(--line)}.answer{fill:var(--text)}
.root{fill:none;stroke:var(--text);stroke-dasharray:5 4;stroke-width:1.5}
.lit.band{fill-opacity:.6}.lit .vector{stroke-width:4}.lit text.attention,.lit text.ff{font-weight:700}
.more{border-top:1px solid var(--soft);margin-top:.5rem;padding-top:.6rem}
.switch{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;align-items:center;margin-bottom:.3rem}
.switch .choice{font-size:max(13px,.88em)}.stack{margin-top:.5rem;font-size:max(14px,.95em);min-height:4.6em}
@media (forced-colors:active){.band,.room,.other{fill:GrayText}.answer,rect.attention,rect.ff{fill:CanvasText}
path[class]{stroke:CanvasText!important}}
@container (max-width:30rem){.say{--room:10.6em}.told{margin:0}.stack{min-height:9.2em}.tokens{gap:0 .5rem}.coming{min-height:4.6em}
.formula{padding-inline:.3rem}.equation{font-size:.88em}.formula button[data-part=stream]{font-size:12px;padding:0}}
`,
});
