// ShapeLedger: what each line of a decoder makes, holds and costs.
import { figure, fill, grid, h, join, panel, s, set } from "./kit/index.mjs";
import { flag, keep, place, wholes } from "./rules/index.mjs";
import { lines, total } from "./shape_ledger/lines.mjs";
import { around, frame, reshape, row } from "./shape_ledger/shapes.mjs";
import { changes, pytorch, sentence, table, unnoticed, watched } from "./shape_ledger/words.mjs";

export { pytorch, sentence, table };

const RANGES = {
  batch: [1, 64], length: [1, 16384], d_model: [1, 16384], n_heads: [1, 128], n_layers: [1, 128],
  vocab_size: [1, 300000], d_ff: [0, 65536], max_len: [1, 16384],
};
const GPT2 = {
  batch: 1, length: 1024, d_model: 768, n_heads: 12, n_layers: 12, vocab_size: 50257, d_ff: 0,
  max_len: 1024, tied: true,
};
const PRESETS = [
  ["GPT-2 small", GPT2],
  ["GPT-2 XL", { ...GPT2, d_model: 1600, n_heads: 25, n_layers: 48 }],
  ["GPT-3", { ...GPT2, length: 2048, d_model: 12288, n_heads: 96, n_layers: 96, max_len: 2048 }],
  ["a toy", { ...GPT2, length: 32, d_model: 64, n_heads: 4, n_layers: 2, vocab_size: 96, max_len: 128 }],
];

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  keep(state, { ...wholes(RANGES), tied: flag, wrong: flag });
  const { d_model: d, n_heads: heads, length, max_len: most, selected } = state;
  if (d % heads) throw Error(`n_heads must divide d_model, got ${heads} and ${d}`);
  if (length > most) throw Error(`length must be at most max_len, got ${length} and ${most}`);
  place(lines(state).length)(selected, "selected");
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const all = lines(state);
  const [params, flops, bytes] = ["params", "flops", "bytes"].map((name) => total(all, name));
  return { state, lines: all, params, flops, bytes, frame: frame(all, room) };
}

const locked = ({ selected }) => (selected.length ? selected : null);

/** As many heads as divide the width, at most those that were. */
function fitting(d, heads) {
  while (d % heads) heads--;
  return heads;
}

/** `typed(state)` hears of the state that a typed number starts from. */
function controls(ui, typed) {
  const whole = (label, trait, more = {}) => {
    const [min, max] = [Math.max(1, RANGES[trait][0]), RANGES[trait][1]];
    return ui.number({
      label, min, max, step: 1, get: (state) => state[trait],
      ...more,
      set: (value, state) => {
        typed(state);
        return (more.patch ?? ((n) => ({ [trait]: n })))(Math.round(value), state);
      },
    });
  };
  const same = (sizes) => (state) =>
    Object.entries(sizes).every(([name, value]) => state[name] === value);
  const own = (state) => !PRESETS.some(([, sizes]) => same(sizes)(state));
  return [
    ui.select({
      label: "Model",
      options: (state) => [
        ...PRESETS.map(([name]) => [name, name]), ...(own(state) ? [["own", "your own"]] : []),
      ],
      get: (state) => PRESETS.find(([, sizes]) => same(sizes)(state))?.[0] ?? "own",
      set: (name) => PRESETS.find(([other]) => other === name)?.[1] ?? {},
    }),
    whole("batch B", "batch"),
    whole("tokens T", "length", {
      patch: (n, { max_len: most }) => ({ length: n, max_len: Math.max(n, most) }),
    }),
    whole("width d", "d_model", {
      patch: (n, { n_heads: heads }) => ({ d_model: n, n_heads: fitting(n, heads) }),
    }),
    ui.select({
      label: "heads h", trait: "n_heads",
      options: ({ d_model: d }) =>
        [...Array(RANGES.n_heads[1]).keys()].map((i) => i + 1)
          .filter((n) => d % n === 0).map((n) => [n, `${n} × ${d / n}`]),
    }),
    whole("blocks L", "n_layers"),
    whole("vocab V", "vocab_size"),
    whole("inner f", "d_ff", {
      get: ({ d_ff: f, d_model: d }) => f || 4 * d,
      patch: (n, { d_model: d }) => ({ d_ff: n === 4 * d ? 0 : n }),
    }),
    whole("positions P", "max_len", {
      patch: (n, { length }) => ({ max_len: n, length: Math.min(n, length) }),
    }),
    ui.toggle({ label: "tied: logits use the embedding", trait: "tied" }),
  ];
}

/** Every attribute, as `fill` keeps those that are not named. */
const plain = ({ text, x, y, class: kind = null, "text-anchor": anchor = null }) =>
  ({ text, x, y, class: kind, "text-anchor": anchor });

/** The ledger: one tab stop, a line for each line of code. */
function ledger(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "Lines of the forward pass" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One forward pass", svg);
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1],
    locked: () => ui.locked() && [ui.locked()[0], 0],
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  const create = () =>
    s("g", { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g")),
      s("g", { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }), s("rect", { class: "halo" }), s("rect", { class: "ring" })));
  function draw(geometry) {
    const { lines, frame } = geometry;
    const frameOf = around(geometry);
    count = lines.length;
    set(svg, { width: frame.room, height: frame.height });
    set(note, { text: "all blocks together; FLOPs of matrix products, bytes of results in float32" });
    fill(paths, frameOf.paths, "path");
    fill(texts, frameOf.texts.map(plain), "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    join(body, lines, (_, r) => r, create, ({ children: [shown, cell] }, line, r) => {
      const shape = row(geometry, line, r);
      set(shown, { "data-part": shape.part });
      fill(shown.firstChild, shape.boxes, "rect");
      fill(shown.lastChild, shape.texts.map(plain), "text");
      set(cell, {
        "data-row": r, "aria-selected": String(hold === r),
        "aria-label": sentence({ ...geometry, state: { ...geometry.state, wrong: false } }, [r]),
        class: [hold === r && "locked", active === r && "active"].filter(Boolean).join(" ") || null,
      });
      for (const rect of cell.children) set(rect, shape.box);
    });
    cells.update();
  }
  return { node, draw };
}

/** A few tokens in a few heads: who reads whose piece, with one way to split them. */
function pieces(title, wrong) {
  const parts = [s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  const draw = ({ state }) => {
    const { boxes, texts, from, width, height } = reshape({ ...state, wrong });
    const small = from.length < state.n_heads || from[0].length < state.length;
    set(note, { text: small ? `in small: ${from[0].length} tokens, ${from.length} heads` : "" });
    set(svg, {
      width, height,
      "aria-label": from.map((row, j) => `head ${j} reads tokens ${row.join(", ")}`).join("; "),
    });
    fill(parts[0], boxes, "rect");
    fill(parts[1], texts.map(plain), "text");
  };
  return { node, draw };
}

/** The sum of all parameters, and the line that splits heads. */
const formula = {
  equation: [
    "parameters = ", ["embed", "(V + P) d"], " + L ( ", ["attention", "4d² + 6d"], " + ",
    ["ff", "2df + f + 3d"], " ) + ", ["end", "2d"],
  ],
  code: ({ n_heads: heads, d_model: d, wrong }) => [
    ["attention", "query"],
    wrong ? `.view(B, ${heads}, T, ${d / heads})  # no error` : `.view(B, T, ${heads}, ${d / heads}).transpose(1, 2)`,
  ],
};

/** The change and what it did, beside the fields: what was before is not of the state. */
function watch() {
  const [said, list] = [h("p", { class: "said" }), h("dl")];
  const node = h("div", { class: "watch" }, list, said);
  const sizes = ({ state: { selected, wrong, ...rest } }) => JSON.stringify(rest);
  let [before, now, from, last] = [];
  const typed = (state) => (from = state);
  const forget = () => (now = null);
  function draw(geometry) {
    // all that is typed into a field at once is one change
    if (!now || sizes(geometry) !== sizes(now)) {
      if (!from || from !== last) before = now ?? geometry;
      last = from;
    }
    from = null;
    now = geometry;
    set(said, { text: changes(before.state, now.state) });
    join(list, watched(before, now), ([name]) => name, () => h("div", {}, h("dt"), h("dd")),
      ({ children: [name, value] }, [is, text]) => {
        set(name, { text: is });
        set(value, { text });
      });
  }
  return { node, draw, typed, forget };
}

function build(ui) {
  const [all, seen] = [ledger(ui), watch()];
  ui.onReset(seen.forget);
  const text = h("p", { class: "why" });
  const why = { node: text, draw: ({ state }) => set(text, { text: unnoticed(state) }) };
  const parts = [why, pieces("✗ view alone", true), pieces("✓ view, transpose", false), all];
  let stage = null;
  return {
    controls: [
      h("div", { class: "sizes" }, ...controls(ui, seen.typed)), seen.node,
      ui.toggle({ label: "wrong reshape: view alone", trait: "wrong" }),
    ],
    formula: {
      equation: ({ tied }) => tied ? formula.equation : [...formula.equation, " + ", ["end", "V d"]],
      code: formula.code,
    },
    picture: [all.node],
    draw(geometry) {
      stage ??= all.node.parentNode;
      seen.draw(geometry);
      const shown = geometry.state.wrong ? parts : [all];
      join(stage, shown, (part) => parts.indexOf(part), ({ node }) => node, (_, { draw }) => draw(geometry));
    },
  };
}

export default figure({
  name: "shape_ledger",
  title: "Shapes, parameters and compute of a decoder",
  tip:
    "double T and watch the bytes of the scores under the fields; double d and watch the " +
    "parameters. Then switch the wrong reshape on: which number notices?",
  traits: [...Object.keys(RANGES), "tied", "wrong", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  build,
  css: `
.say{min-height:4.6em}
.sizes{display:flex;flex-wrap:wrap;gap:.4rem .6rem}.watch{flex:1 1 100%;border-inline-start:3px solid var(--line);padding-inline-start:.6rem}
dl{display:grid;grid-template-columns:repeat(3,auto);justify-content:start;gap:0 1.6rem;margin:0}dt{color:var(--quiet)}dd{margin:0;font-weight:700}
.said{min-height:1.5em}.why{flex:1 1 100%}
.sizes [type=number]{width:6.2em;padding-inline:4px}
.sizes .name{white-space:nowrap}.sizes select{padding-inline:4px 0}
.bar{fill:var(--quiet)}.rule,.group{fill:none;stroke:var(--line)}
.group{stroke-width:4}.group.attention{stroke:var(--query)}.group.ff{stroke:var(--value);stroke-dasharray:8 3}
.piece{stroke:var(--line);fill:var(--text)}.of0{fill-opacity:0}.of1{fill-opacity:.16}
.of2{fill-opacity:.34}.of3{fill-opacity:.85}text[class*=of]{fill-opacity:1}svg text.of3{fill:var(--ground)}
.lit .token{font-weight:700}
@media (forced-colors:active){.piece{fill:Canvas;stroke:CanvasText}.bar{fill:CanvasText}
.group,.rule{stroke:CanvasText}}
@container (max-width:30rem){dl{display:block}dl div{display:flex;justify-content:space-between}.said{min-height:3em}.say{min-height:10.6em}.sizes .control{flex:1 1 auto}
.sizes [type=number]{flex:1 0 auto;width:5em}.sizes select{flex:1 0 6.6em;width:0}
.sizes .control:is(:first-child,:has([type=checkbox])){flex-basis:100%}}
`,
});
