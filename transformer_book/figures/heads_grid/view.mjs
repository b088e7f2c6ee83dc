// HeadsGrid: heads differ; a map is evidence, ablation is proof.
import { fill, grid, h, inkOn, join, pad, panel, s, set } from "../kit/index.mjs";
import { others, source, switches } from "./controls.mjs";
import { largeMap, layout } from "./layout.mjs";
import { switched } from "./numbers.mjs";
import { headText, pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const words = ([x, y, text, kind = null, anchor = "start", transform = null]) => ({
  x,
  y,
  text,
  class: kind,
  "text-anchor": anchor,
  transform,
});

/** Space switches a head. */
const space =
  (ui, headAt) =>
  ({ key }, cell) => {
    if (key !== " ") return false;
    ui.set({ off: switched(ui.state(), headAt(cell)) });
    return true;
  };

const smallMap = () =>
  s("g", {}, s("g"), s("path", { class: "hatch" }), s("g", { class: "caption" }));

function drawSmallMap(node, { off, shades, later, texts }) {
  const [paths, hatch, captions] = node.children;
  set(node, { class: off ? "off" : null });
  fill(paths, shades, "path");
  set(hatch, { d: later });
  fill(captions, texts.map(words), "text");
}

const smallCell = () =>
  s(
    "g",
    { role: "gridcell" },
    s("rect", { fill: "transparent" }),
    s("rect", { class: "halo" }),
    s("rect", { class: "ring" }),
  );

/** The cell over a small map; `is` says whether it is { locked, active, shown }. */
function drawSmallCell(node, { row, col, box }, label, is) {
  set(node, {
    "data-row": row,
    "data-col": col,
    "aria-selected": String(is.locked),
    "aria-label": label,
    class: Object.keys(is)
      .filter((name) => is[name])
      .join(" "),
  });
  const [ground, halo, mark] = node.children;
  const { x, y, width, height } = box;
  set(ground, box);
  set(mark, box);
  set(halo, { x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 3 });
}

/** Every head's map, one tab stop. */
function gallery(ui) {
  const body = s("g", { role: "grid", "aria-label": "Heads, by layer" });
  const maps = s("g", { "aria-hidden": "true" });
  const svg = s("svg", {}, maps, body);
  const { node, note } = panel("All heads", svg);
  let small = { thumbs: [], lines: 1, columns: 1 };
  const headAt = ([row, col]) => small.thumbs[row * small.columns + col]?.head;
  const placeOf = (active) => {
    const [kind, ...head] = active ?? [];
    const thumb = small.thumbs.find((one) => String(one.head) === String(head));
    return kind === "head" && thumb ? [thumb.row, thumb.col] : null;
  };
  const to = (cell) => cell && headAt(cell) && ["head", ...headAt(cell)];
  const cells = grid(node, {
    size: () => [small.lines, small.columns],
    locked: () => placeOf(ui.locked()),
    hover: (cell) => ui.hover(to(cell)),
    lock: (cell) => ui.lock(to(cell)),
    key: space(ui, headAt),
  });

  function draw(geometry, heads) {
    small = geometry.small;
    set(svg, { width: small.width, height: small.height });
    set(note, { text: "L: layer, H: head. Framed: enlarged" });
    set(node, { style: `width:${small.width}px` });
    const index = (_, i) => i;
    join(maps, [...small.thumbs, small.scale], index, smallMap, drawSmallMap);
    const [active, locked] = [ui.active(), ui.locked()].map(placeOf).map(String);
    const drawCell = (cell, thumb) => {
      const at = String([thumb.row, thumb.col]);
      drawSmallCell(cell, thumb, headText(geometry, thumb.head), {
        locked: locked === at,
        active: active === at,
        shown: heads.some((head) => String(head) === String(thumb.head)),
      });
    };
    const rows = Array.from({ length: small.lines }, (_, line) =>
      small.thumbs.filter(({ row }) => row === line),
    );
    join(
      body,
      rows,
      index,
      () => s("g", { role: "row" }),
      (line, thumbs) => join(line, thumbs, index, smallCell, drawCell),
    );
    cells.update();
  }
  return { node, draw };
}

function lossPanel() {
  const [boxes, texts] = [s("g"), s("g")];
  const svg = s("svg", { role: "img" }, boxes, texts);
  const { node, note } = panel("Loss", svg);
  set(note, { text: "nats per token" });
  const draw = ({ bars: shape }) => {
    set(svg, { width: shape.width, height: shape.height, "aria-label": shape.label });
    const rects = shape.rows.map(({ bar, off }) => ({
      ...bar,
      fill: "currentColor",
      class: off ? null : "quiet",
    }));
    fill(boxes, rects, "rect");
    fill(
      texts,
      shape.rows.flatMap((row) => row.texts.map(words)),
      "text",
    );
  };
  return { node, draw };
}

/** One head's map in full, with a grid of queries and keys over it. */
function mapPanel(ui, label) {
  const [cells, texts] = [s("g"), s("g")];
  const hatch = s("path", { class: "hatch" });
  const marks = s("path", { class: "marks", stroke: inkOn(0) });
  const map = s("g", { "aria-hidden": "true" }, cells, hatch, marks, texts);
  const svg = s("svg", {}, map);
  const { node, note } = panel("", svg);
  let shown = null;
  const over = pad(ui, svg, {
    label,
    to: ([q, k]) => ["pair", q, k],
    from: ([kind, q, k]) => (kind === "pair" ? [q, k] : null),
    key: space(ui, () => shown),
  });
  svg.append(over.node);
  const draw = (geometry, head) => {
    shown = head;
    const shape = largeMap(geometry, head, geometry.large);
    set(svg, { width: shape.width, height: shape.height });
    set(node.querySelector("b"), { text: `${shape.title} ` });
    set(note, { text: shape.note });
    fill(cells, shape.shades, "path");
    set(hatch, { d: shape.later });
    set(marks, { d: shape.marks });
    fill(texts, shape.texts.map(words), "text");
    over.draw({
      ...shape,
      rows: shape.n,
      cols: shape.n,
      text: ([q, k]) => sentence(geometry, ["pair", q, k]),
    });
  };
  return { node, draw };
}

/** ["pair", query, key], ["head", layer, head] or null. */
export const locked = ({ pair, selected }) =>
  pair.length ? ["pair", ...pair] : selected.length ? ["head", ...selected] : null;

/** Who holds a head also has it on show. */
function lock(active, { shown }) {
  const [kind, a, b] = active ?? [];
  if (kind === "pair") return { pair: [a, b] };
  const free = { pair: [], selected: [] };
  return kind === "head"
    ? { ...free, selected: [a, b], shown: [[a, b], ...shown.slice(1)] }
    : free;
}

function build(ui) {
  const [all, loss] = [gallery(ui), lossPanel()];
  const maps = ["The selected head", "The compared head"].map((label) =>
    mapPanel(ui, `${label}, queries by keys`),
  );
  const parts = [loss, all, ...maps];
  const [selected, compared] = maps;
  const left = h("div", {}, loss.node, all.node);
  selected.node.classList.add("after");
  return {
    controls: switches(ui),
    more: others(ui),
    picture: [left, selected.node],
    below: [compared.node, ...source(ui)],
    draw(geometry) {
      const { waiting, state } = geometry;
      for (const { node } of parts) set(node, { hidden: Boolean(waiting) });
      if (waiting) return;
      const [kind, ...head] = ui.active() ?? [];
      const [first, ...second] = state.shown;
      const heads = [kind === "head" ? head : first, ...second];
      all.draw(geometry, heads);
      loss.draw(geometry);
      maps.forEach(({ node, draw }, i) => {
        set(node, { hidden: !heads[i] });
        if (heads[i]) draw(geometry, heads[i]);
      });
    },
  };
}

export default {
  name: "heads_grid",
  title: "Heads of a decoder",
  steps: [
    {
      say: "Letters repeat; the model predicts each. Press the button: without that head, what becomes of its loss on later copies?",
    },
    {
      say: "Which heads of the last layer show the same stripe? Pick each, and switch it off alone: do they matter equally?",
      set: { off: [] },
    },
    {
      say: "Pick a head of the last layer without that stripe. Predict the loss without it, then switch it off.",
      set: { off: [] },
    },
  ],
  keys: ", Space on a map switches its head off",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock,
  build,
};
