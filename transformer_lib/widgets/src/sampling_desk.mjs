// SamplingDesk: temperature, top-k, top-p and min-p reshape one distribution.
import { bring } from "./inference/index.mjs";
import { figure, h } from "./kit/index.mjs";
import { controls } from "./sampling_desk/controls.mjs";
import { layout } from "./sampling_desk/layout.mjs";
import { bars, trap, writing } from "./sampling_desk/pictures.mjs";
import { MODEL, settle } from "./sampling_desk/reader.mjs";
import { flow, pieces } from "./sampling_desk/shapes.mjs";
import { asked, pytorch, sentence, table } from "./sampling_desk/words.mjs";

export { layout, pytorch, sentence, table };

export const locked = ({ held }) => (held < 0 ? null : [held]);

function build(ui) {
  let geometry = null;
  const [list, text, next] = [bars(ui), writing("Text"), trap(ui)];
  const python = h("p", { class: "try coming", text: "These numbers come from Python." });
  const own = ui.state().source === MODEL ? bring(ui, MODEL, settle) : null;
  ui.bind(({ source }) => {
    python.hidden = source === MODEL;
    if (own) own.hidden = source !== MODEL;
  });
  return {
    controls: controls(ui, own ? [own, python] : [python], text.node, () => geometry),
    formula: {
      equation: [
        ["before", "softmax(logits)"], " → ", ["after", "softmax(", ""], ["cut", "cut"],
        "(logits / T))",
      ],
      code: (state) => [
        "restrict(logits",
        ...asked(state).flatMap(([name, value], i) => [", ", [i ? "cut" : "after", `${name}=${value}`]]),
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
        width: now.room, height: shape.height,
        said: problem ?? `${n} token${n === 1 ? "" : "s"} added${shape.cut ? "; the last lines" : ""}`,
        label: `The text: ${state.text}${state.drawn.map((id) => state.tokens[id]).join("")}`,
      });
      list.draw(now);
      next.draw(now);
    },
  };
}

export default figure({
  name: "sampling_desk",
  title: "Sampling desk",
  tip:
    "press Draw 100; pull Temperature to 0, 2 and 0.7. With top-k off " +
    "and top-p at 0.8, how many tokens stay? Then press Greedy trap.",
  traits: [
    "text", "drawn", "temperature", "top_k", "top_p", "min_p", "seed", "count", "trap", "held",
    "logits", "tokens", "asked", "source",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ held: cell ? cell[0] : -1 }),
  build,
  css: `
.say{--room:4.6em}.picture{column-gap:24px}
button{padding:2px 8px}
.controls{gap:.5rem}.controls>:not(button){flex:1 1 100%}.own{display:flex;gap:.75rem;align-items:center}.own>:first-child{flex:1}.own [type=text]{width:0}.own [type=number]{width:4.2em}
.sliders{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:0 1.5rem}
.sliders .control{width:100%}.sliders .name{min-width:6.2em}.sliders input{flex:1}.coming{margin:0;min-height:3em}
.before{fill:var(--ground);stroke:var(--quiet)}.after{fill:var(--text)}
.count{fill:var(--key);stroke:var(--ground);stroke-width:1.5}
.raster{stroke:var(--soft);fill:none}.cut{stroke:var(--text);stroke-width:1.5;stroke-dasharray:6 4;fill:none}
.piece{fill:var(--ground);stroke:var(--soft)}.drawn{stroke:var(--line)}
.newest{stroke:var(--text);stroke-width:2}.again{fill:var(--soft);stroke:none}.under{stroke:var(--text);stroke-width:2}
rect.lit{stroke:var(--query);stroke-width:2}path.lit{stroke-width:3}text.lit{text-decoration:underline}
@media (forced-colors:active){.before,.piece{fill:Canvas;stroke:CanvasText}.after{fill:CanvasText}
.count{fill:Highlight;stroke:Canvas}.raster,.cut,.under{stroke:CanvasText}.again{stroke:none}}
@container (max-width:30rem){.say{--room:9em}.coming{min-height:6em}.equation{font-size:.88em}.code{min-height:5.6em}}
`,
});
