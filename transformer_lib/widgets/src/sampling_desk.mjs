// SamplingDesk: temperature, top-k, top-p and min-p reshape one distribution.
import { figure, fill, grid, h, join, panel, percent, s, set } from "./kit/index.mjs";
import { bring } from "./inference/index.mjs";
import { any, finite, flag, keep, list, real, text, whole, wholes } from "./rules/index.mjs";
import { LONGER, MODEL, ROOM, answer, continuations, settle, writeOn } from "./sampling_desk/reader.mjs";
import { ROWS, around, flow, frame, pieces, row } from "./sampling_desk/shapes.mjs";
import { counts, heights, measured, places, reshape } from "./sampling_desk/values.mjs";
import { asked, isDone, pytorch, sentence, table, tail } from "./sampling_desk/words.mjs";

export { pytorch, sentence, table };

const SIGNS = 300;
const RANGES = { top_k: [0, 50], seed: [1, 1000], count: [0, 1000] };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { text: read, tokens } = state;
  const id = whole(0, tokens?.length - 1);
  const ids = list(id, 0, ROOM);
  keep(state, {
    ...wholes(RANGES), temperature: real(0, 2), top_p: real(0.01, 1), min_p: real(0, 1), text, source: text,
    tokens: list(text, 2, 512), logits: list(finite, tokens?.length), drawn: ids, trap: flag,
    held: (x, name) => x === -1 || id(x, name),
    asked: (all, name) => {
      list(any, 1, ROOM + 1)(all, name);
      text(all[0], `${name}[0]`);
      ids(all.slice(1), name);
    },
  });
  whole(0, SIGNS)([...read].length, "the signs of text");
}

/** Whose logits are shown: the stored ones, the page's, or the stored ones for want of others. */
function source(state) {
  const said = (first, ids) => first + ids.map((id) => state.tokens[id]).join("");
  const stored = { logits: state.logits, read: said(state.asked[0], state.asked.slice(1)) };
  const { text, drawn } = state;
  if (JSON.stringify([text, ...drawn]) === JSON.stringify(state.asked)) return { ...stored, current: true };
  if (state.source !== MODEL)
    return { ...stored, problem: "Python answers other texts, where it runs." };
  const found = answer(state);
  if (found?.logits)
    return { logits: found.logits, read: said(text, drawn), current: true };
  return { ...stored, problem: found?.problem ?? "This text waits for the model." };
}

const isFull = (state) => state.drawn.length >= ROOM ||
  (state.source === MODEL && answer(state)?.ids?.length >= ROOM);

/** Everything that is drawn or said, from the state and from the model if it is here. */
export function layout(state, room = 680) {
  check(state);
  const from = source(state);
  const shares = reshape(from.logits, state);
  const drawn = counts(shares.after, state);
  const place = shares.order.indexOf(state.held);
  const listed = shares.order.slice(0, ROWS).map((_, i) => i);
  if (place >= ROWS) listed[ROWS - 1] = place;
  const next = state.trap && state.source === MODEL && (continuations(state) ?? {});
  const trap = next && Object.fromEntries(
    Object.entries(next).map(([kind, ids]) => [kind, measured(ids)]),
  );
  const geometry = { ...from, ...shares, state, drawn, listed, room, trap };
  return { ...geometry, frame: { ...frame(geometry), room } };
}

export const locked = ({ held }) => (held < 0 ? null : [held]);

const plain = ({ text, x, y, class: kind = null, "text-anchor": anchor = null, "data-part": part = null }) =>
  ({ text, x, y, class: kind, "text-anchor": anchor, "data-part": part });

/** A picture of pieces of text below a title. */
function writing(title) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  const draw = ({ boxes, paths, texts }, { width, height, said, label }) => {
    set(svg, { width, height, "aria-label": label });
    set(note, { text: said });
    fill(parts[0], boxes, "rect");
    fill(parts[1], paths, "path");
    fill(parts[2], texts.map(plain), "text");
  };
  return { node, draw };
}

/** The list of tokens with their bars: one tab stop, a line for each token. */
function bars(ui) {
  const [raster, cut, texts] = [s("path", { class: "raster" }), s("path", { class: "cut", "data-part": "cut" }), s("g")];
  const list = s("g", { role: "grid", "aria-label": "Next tokens, the likeliest first" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, raster, cut, texts), list);
  const { node, note } = panel("Next token", svg);
  let geometry = null;
  const idOf = ([r]) => geometry.order[geometry.listed[r]];
  const cells = grid(node, {
    size: () => [geometry.listed.length, 1],
    locked: () => {
      const r = geometry.listed.findIndex((i) => geometry.order[i] === ui.state().held);
      return r < 0 ? null : [r, 0];
    },
    hover: (cell) => ui.hover(cell && [idOf(cell)]),
    lock: (cell) => ui.set({ held: cell ? idOf(cell) : -1 }),
  });
  const create = () =>
    s("g", { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
      s("g", { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }),
        s("rect", { class: "halo" }), s("rect", { class: "ring" })));
  function draw(next) {
    geometry = next;
    const { state, frame: { height, room }, listed, order } = geometry;
    const active = ui.active()?.[0];
    set(svg, { width: room, height });
    set(note, { text: `outlined before, filled after${state.count ? ", ◆ drawn" : ""}` });
    const shape = around(geometry);
    set(raster, { d: shape.raster });
    set(cut, { d: shape.cut });
    fill(texts, shape.texts.map(plain), "text");
    join(list, listed, (_, r) => r, create, ({ children: [shown, cell] }, place, r) => {
      const line = row(geometry, place, r);
      const id = order[place];
      const [boxes, paths, words] = shown.children;
      fill(boxes, line.boxes, "rect");
      fill(paths, line.paths, "path");
      fill(words, line.texts.map(plain), "text");
      set(cell, {
        "data-row": r, "aria-selected": String(id === state.held),
        "aria-label": `${line.texts.map(({ text }) => text).join(" ")}. ${sentence(geometry, [id])}`,
        class: [id === state.held && "locked", id === active && "active"].filter(Boolean).join(" "),
      });
      for (const rect of cell.children) set(rect, line.box);
    });
    cells.update();
  }
  return { node, draw };
}

/** Greedy and sampled, side by side; writes on while something is missing. */
function trap(ui) {
  const both = [["greedy", writing("Greedy")], ["sampled", writing("Sampled")]];
  let waits = false;
  const later = () => {
    waits = false;
    if (ui.state().trap && writeOn(ui.state())) ui.repaint();
  };
  const draw = ({ trap: found, state, room, read }) => {
    const half = room < 620 ? room : Math.floor((room - 24) / 2);
    for (const [kind, { node, draw: show }] of both) {
      const { ids, share, repeats } = found?.[kind] ?? {};
      set(node, { hidden: !ids, style: `width:${half}px` });
      if (!ids) continue;
      const said = ids.map((id, i) => ({ text: state.tokens[id], kind: repeats[i] ? "again" : null }));
      const all = [{ text: tail(read), kind: "quiet" }, ...said, { text: "…" }];
      const shape = flow(all, half, 99);
      show(shape, {
        width: half, height: Math.max(shape.height, 24 * Math.ceil((LONGER * 30) / half)),
        said: `${percent(share)} repeats, underlined`,
        label: `${kind}: ${all.map(({ text }) => text).join("")}`,
      });
    }
    if (waits || !found || isDone(found)) return;
    waits = true;
    setTimeout(later);
  };
  return { nodes: both.map(([, { node }]) => node), draw };
}

function controls(ui, origin, text, now) {
  const off = (none) => (value) => (value === none ? "off" : String(value));
  const fresh = { count: 0, held: -1 };
  const next = (state) => {
    const { order, after } = now();
    const [u] = heights(state.seed, state.drawn.length, 1);
    return { ...fresh, drawn: [...state.drawn, order[places(after, [u])[0]]] };
  };
  return [
    h("div", { class: "own" },
      ui.text({
        label: "Your text", trait: "text", maxlength: SIGNS,
        set: (text) => ({
          ...fresh, drawn: [],
          text: [...text.replace(/\p{Surrogate}/gu, "\ufffd")].slice(0, SIGNS).join(""),
        }),
      }),
      ui.number({
        label: "Seed", trait: "seed", min: 1, max: 1000, step: 1,
        set: (seed) => ({ seed: Math.round(seed) }),
      })),
    ...origin,
    h("div", { class: "own" }, text, ui.button({
      label: "Back", action: ({ drawn }) => ({ ...fresh, drawn: drawn.slice(0, -1) }),
      disabled: ({ drawn }) => !drawn.length,
    })),
    h("div", { class: "sliders" }, // steps that a finger can hit
      ui.slider({ label: "Temperature", trait: "temperature", min: 0, max: 2, step: 0.1 }),
      ui.slider({
        label: "top-k", min: 1, max: 51, step: 1, get: ({ top_k }) => top_k || 51,
        set: (k) => ({ top_k: k % 51 }), format: off(51),
      }),
      ui.slider({ label: "top-p", trait: "top_p", min: 0.05, max: 1, step: 0.05, format: off(1) }),
      ui.slider({ label: "min-p", trait: "min_p", min: 0, max: 1, step: 0.05, format: off(0) })),
    ui.button({
      label: "Draw 1", action: next,
      disabled: (state) => isFull(state) || !source(state).current,
    }),
    ui.button({
      label: "Draw 100", action: ({ count }) => ({ count: count + 100 }),
      disabled: (state) => state.count >= 1000 || !source(state).current,
    }),
    ui.button({
      label: "Greedy trap", text: ({ trap }) => (trap ? "Close trap" : "Greedy trap"),
      action: ({ trap }) => ({ trap: !trap }),
      disabled: (state) => state.source !== MODEL || (!state.trap && answer(state)?.problem !== undefined),
    }),
  ];
}

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
      const width = now.room - 84; // Back stands beside
      const shape = flow(pieces(now), width, 4);
      text.draw(shape, {
        width, height: Math.max(48, shape.height),
        said: problem ?? `${state.drawn.length} tokens drawn${shape.cut ? "; the last lines" : ""}`,
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
    "draw 100 times; pull the temperature to 0, 2 and 0.7. With top-k off " +
    "and top-p at 0.8, how many tokens stay? Then spring the greedy trap.",
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
.say{min-height:4.6em}
.controls{gap:.5rem}.own,.sliders,.coming{flex:1 1 100%}.own{display:flex;gap:.75rem;align-items:center}.own>:first-child{flex:1}.own [type=text]{width:0}
.own [type=number]{width:4.2em}
.sliders{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:0 1.5rem}
.sliders .control{width:100%}.sliders .name{min-width:6.2em}.sliders input{flex:1}
.coming{margin:0;min-height:3em}
.before{fill:var(--ground);stroke:var(--quiet)}.after{fill:var(--text)}
.count{fill:var(--key);stroke:var(--ground);stroke-width:1.5}
.raster{stroke:var(--soft);fill:none}.cut{stroke:var(--text);stroke-width:1.5;stroke-dasharray:6 4;fill:none}
.piece{fill:var(--ground);stroke:var(--soft)}.drawn{stroke:var(--line)}
.newest{stroke:var(--text);stroke-width:2}.again{fill:var(--soft);stroke:none}
.under{stroke:var(--text);stroke-width:2}
rect.lit{stroke:var(--query);stroke-width:2}path.lit{stroke-width:3}text.lit{text-decoration:underline}
@media (forced-colors:active){.before,.piece{fill:Canvas;stroke:CanvasText}.after{fill:CanvasText}
.count{fill:Highlight;stroke:Canvas}.raster,.cut,.under{stroke:CanvasText}.again{stroke:none}}
@container (max-width:30rem){.say{min-height:9em}.coming{min-height:6em}.equation{font-size:.88em}.code{min-height:5.6em}}
`,
});
