// BlockFlow: follow one token's stream through the layers, and see the answer emerge.
import { bring } from "./inference/index.mjs";
import { figure, fill, grid, h, join, panel, s, set, tokenText } from "./kit/index.mjs";
import * as must from "./rules/index.mjs";
import { pytorch } from "./block_flow/code.mjs";
import { createFlow, SIGNS } from "./block_flow/flow.mjs";
import { around, frame, row, stack } from "./block_flow/shapes.mjs";
import { caption, sentence, sentenceOf, table } from "./block_flow/words.mjs";

export { pytorch, sentence, table };

const MODEL = "manual-lm";
let page = null; // what follows tokens in this page, once the model is here

/** Lets the page answer with this model. */
export function use(model) {
  page ??= createFlow(model);
}

const here = ({ source }) => source === "page" && page !== null;
const shown = (state) => (here(state) ? page.flow(state.prompt, state.position) : state.flow);

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

/** The prompt; what cannot be read stays a draft, and the line below says why. */
function promptField(ui) {
  const said = h("span", { role: "status" });
  let draft = null;
  const field = ui.text({
    label: "Your prompt", maxlength: SIGNS,
    get: ({ prompt }) => draft ?? prompt,
    disabled: (state) => !here(state),
    set(typed) {
      const prompt = typed.replace(/\p{Surrogate}/gu, "\ufffd"); // half a character
      const problem = page.problem(prompt);
      draft = problem ? prompt : null;
      set(said, { text: problem && `${problem}. Shown is the prompt before.` });
      return problem ? {} : { prompt, position: 63, selected: [] };
    },
  });
  field.addEventListener("focusout", () => {
    draft = null;
    set(said, { text: "" });
    ui.repaint();
  });
  return [field, said];
}

/** The prompt's tokens: one radio for each, and the chosen one is followed. */
function tokenChoice(ui) {
  const options = h("span", { class: "options" });
  const legend = h("legend", { class: "name" });
  const node = h("fieldset", { class: "control choice tokens" }, legend, options);
  /** Signs at the ends of the line where tokens are out of sight. */
  const ends = () => {
    const { scrollLeft: from, clientWidth: room, scrollWidth: all } = options;
    set(options, { "data-before": from > 4, "data-after": from + room < all - 4 });
  };
  options.addEventListener("scroll", ends);
  let last = null;
  /** Where the prompt is wider than its line, the followed token comes into sight. */
  function reveal({ flow: { position, tokens } }) {
    const now = `${position} of ${tokens}`;
    if (now === last) return;
    last = now;
    const { offsetLeft: x, offsetWidth: wide } = options.children[position];
    const { scrollLeft: from, clientWidth: room } = options;
    if (x < from || x + wide > from + room) options.scrollLeft = x - room / 2;
  }
  const create = (_, i) =>
    h("label", {},
      h("input", { type: "radio", name: "token", onchange: () => ui.set({ position: i, selected: [] }) }),
      h("span"));
  return {
    node,
    draw(geometry) {
      const { flow, state } = geometry;
      join(options, flow.tokens, (_, i) => i, create, ({ children: [radio, name] }, token, i) => {
        set(radio, { checked: i === flow.position, disabled: !here(state) });
        set(name, { text: tokenText(token, 12) });
      });
      set(legend, { text: `Follow token ${flow.position + 1} of ${flow.tokens.length}` });
      reveal(geometry);
      ends();
    },
  };
}

/** Says whose numbers are shown; the book's model comes when it is asked. */
function origin(ui) {
  const node = h("div", { class: "origin" });
  const own = h("span", { text: "Numbers from Python: your own model. " });
  const ask = ui.button({ label: "Ask the book's model", action: () => ({ source: "page", selected: [] }) });
  let asked = null;
  ui.bind(({ source }) => {
    if (source === "page") asked ??= bring(ui, MODEL, use);
    const parts = source === "page" ? [asked] : [own, ask];
    if (node.firstChild !== parts[0]) node.replaceChildren(...parts);
  });
  return node;
}

/** The stream: one tab stop, a row for each layer. */
function streamView(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "The stream, layer by layer" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One token's stream", svg);
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1], locked: ui.locked, hover: ui.hover,
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  const create = () =>
    s("g", { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
      s("g", { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }), s("rect", { class: "halo" }), s("rect", { class: "ring" })));
  function draw(geometry) {
    const { flow, frame: at } = geometry;
    const outside = around(geometry);
    count = flow.lengths.length;
    set(svg, { width: at.room, height: at.height });
    set(note, { text: "flows down; each layer adds to it, at 0° more of the same, at 90° all new. The lens reads it as if it were the end" });
    fill(paths, outside.paths, "path");
    fill(texts, outside.texts, "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    join(body, flow.lengths, (_, r) => r, create, ({ children: [shape, cell] }, _, r) => {
      const { part, paths: strokes, bars, texts: words, box } = row(geometry, r);
      set(shape, { "data-part": part });
      fill(shape.children[0], bars, "rect");
      fill(shape.children[1], strokes, "path");
      fill(shape.children[2], words, "text");
      set(cell, {
        "data-row": r, "aria-selected": String(hold === r), "aria-label": sentenceOf(flow, r),
        class: [hold === r && "locked", active === r && "active"].join(" "),
      });
      for (const rect of cell.children) set(rect, box);
    });
    cells.update();
  }
  return { node, draw };
}

/** The random stack: a switch, its band and bars, and what they mean. */
function stackView(ui) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel("A stack of random blocks", svg);
  const kinds = [["pre", "pre-norm"], ["post", "post-norm"]];
  const choice = ui.choice({ label: "Norm", trait: "residual", options: kinds });
  const said = h("p", { class: "stack" });
  node.prepend(h("div", { class: "switch" }, node.firstChild, choice));
  node.append(said);
  node.classList.add("random", "more");
  function draw({ state: { residual, stacks }, stack: shape }) {
    const text = caption(residual, stacks[residual]);
    set(note, { text: "not trained" });
    set(svg, { width: shape.width, height: shape.height, "aria-label": text });
    fill(parts[0], shape.paths, "path");
    fill(parts[1], shape.bars, "rect");
    fill(parts[2], shape.texts, "text");
    set(said, { text });
  }
  return { node, draw };
}

/** The two additions and the lens, for a norm before or after each layer. */
function formula({ flow: { norm } }) {
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
      equation: (state) => formula({ flow: shown(state) }),
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
    "which layer brings the bold bar? Follow another token, or type a prompt. In the stack " +
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
.tokens{flex-wrap:nowrap!important}.tokens .name{flex:none}.tokens .options{min-width:0;overflow-x:auto;position:relative}[data-before]::before,[data-after]::after{content:"◂";position:sticky;z-index:1;left:0;flex:none;align-self:stretch;display:grid;place-items:center;
width:22px;margin-right:-22px;background:var(--ground);border:0 solid var(--line);border-right-width:1px;pointer-events:none}
[data-after]::after{content:"▸";left:auto;right:0;margin:0 0 0 -22px;border-width:0 0 0 1px}
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
.random{border-top:1px solid var(--soft);margin-top:.5rem;padding-top:.6rem}
.switch{display:flex;flex-wrap:wrap;gap:.2rem 1.5rem;align-items:center;margin-bottom:.3rem}
.switch .choice{font-size:max(13px,.88em)}.stack{margin-top:.5rem;font-size:max(14px,.95em);min-height:4.6em}
@media (forced-colors:active){.band,.room,.other{fill:GrayText}.answer,rect.attention,rect.ff{fill:CanvasText}
path[class]{stroke:CanvasText!important}}
@container (max-width:30rem){.say{min-height:10.6em}.told{margin:0}.stack{min-height:9.2em}.tokens{flex-wrap:wrap!important;gap:0 .5rem}.coming{min-height:4.6em}
.formula{padding-inline:.3rem}.equation{font-size:.88em}.formula button[data-part=stream]{font-size:12px;padding:0}}
`,
});
