// ScoreBench: one score is alignment; scores of wide random vectors make softmax saturate.
import { fill, h, pad, panel, s, set } from "../kit/index.mjs";
import { bars, histograms, layout, plane, rooms } from "./layout.mjs";
import { tip } from "./tip.mjs";
import { COUNT } from "./numbers.mjs";
import { pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const locked = ({ held }) => (held >= 0 && held < COUNT ? [0, held] : null);

const paths = (...names) => names.map((name) => s("path", { class: name }));

function onePair(ui) {
  const [raster, axes, shadow, drop, arc, key, query] = paths(
    "raster",
    "thin",
    "shadow",
    "drop",
    "arc",
    "hand k",
    "hand q",
  );
  for (const node of [shadow, arc]) set(node, { "data-part": "score" });
  const texts = s("g");
  const [k, q] = [tip(ui, "key", "K", "k"), tip(ui, "query", "Q", "q")];
  const still = s(
    "g",
    { "aria-hidden": "true" },
    raster,
    axes,
    shadow,
    drop,
    arc,
    key,
    query,
    texts,
  );
  const svg = s("svg", {}, still, q.node, k.node);
  const { node, note } = panel("One score", svg);
  set(note, { text: "in two dimensions; drag Q and K; gray: K projected onto Q" });
  const draw = (geometry) => {
    const { side } = rooms(geometry.room);
    const shape = plane(geometry, side);
    set(svg, { width: side, height: shape.height });
    const all = { raster, axes, shadow, drop, arc, key, query };
    for (const [name, path] of Object.entries(all)) set(path, { d: shape[name] });
    fill(texts, shape.texts, "text");
    k.draw(shape, shape.k, geometry.state.key, geometry.alignment);
    q.draw(shape, shape.q, geometry.state.query, geometry.alignment);
  };
  return { node, draw };
}

function manyScores() {
  const [axis, spreads] = paths("thin", "spread");
  const [all, texts] = [s("g"), s("g")];
  const svg = s(
    "svg",
    { role: "img", "aria-label": "Histograms of random scores" },
    all,
    axis,
    spreads,
    texts,
  );
  const { node, note } = panel("1,024 scores", svg);
  const draw = (geometry) => {
    const shape = histograms(geometry);
    set(note, { text: `of random vectors, width ${geometry.state.width}` });
    set(svg, { width: geometry.room, height: shape.height });
    set(axis, { d: shape.axis });
    set(spreads, { d: shape.spreads });
    fill(all, shape.bars, "path");
    fill(texts, shape.texts, "text");
  };
  return { node, draw };
}

function weights(ui) {
  const [axis] = paths("thin");
  const [all, texts] = [s("g"), s("g")];
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, all, axis, texts));
  const { node, note } = panel("32 weights", svg);
  set(note, { text: "of one query, a bar for each key" });
  const same = (cell) => cell;
  const grid = pad(ui, svg, {
    label: "Weights of 32 random keys",
    to: same,
    from: same,
  });
  svg.append(grid.node);
  const draw = (geometry) => {
    const { beside, high } = rooms(geometry.room);
    const shape = bars(geometry, ui.active(), beside, high);
    set(svg, { width: beside, height: shape.height });
    set(axis, { d: shape.axis });
    fill(all, shape.bars, "rect");
    fill(texts, shape.texts, "text");
    grid.draw({ ...shape, text: (cell) => sentence(geometry, cell) });
  };
  return { node, draw };
}

const width = (ui) =>
  ui.slider({
    label: "Vector width d",
    min: 1,
    max: 9,
    step: 1,
    format: (power) => String(2 ** power),
    get: ({ width }) => Math.log2(width),
    set: (power) => ({ width: 2 ** power }),
  });

/** Weights of random vectors. */
function random(ui) {
  const shown = weights(ui);
  const node = h(
    "div",
    { role: "group", "aria-label": "Random vectors" },
    h(
      "p",
      { class: "title" },
      h("b", { text: `${COUNT} random queries, ${COUNT} random keys` }),
    ),
    shown.node,
  );
  const draw = (geometry) => {
    set(node, { style: `width:${rooms(geometry.room).beside}px` });
    shown.draw(geometry);
  };
  return { node, draw };
}

function build(ui) {
  const parts = [onePair(ui), random(ui), manyScores()];
  const [pair, drawn, many] = parts.map(({ node }) => node);
  pair.classList.add("after");
  const size = width(ui);
  size.classList.add("go");
  return {
    controls: [size],
    more: [
      ui.button({
        label: "Draw again",
        action: ({ seed }) => ({ seed: (seed % 1000) + 1 }),
      }),
    ],
    formula: {
      equation: [
        ["score", "q · k = |q| |k| cos(angle)"],
        "    ",
        ["plain", "softmax(q · k)"],
        "  or  ",
        ["scaled", "softmax(q · k / √d)"],
      ],
      code: [["plain", "scores = q @ k.T"], "   ", ["scaled", "scores / math.sqrt(d)"]],
    },
    picture: [drawn, pair],
    below: [many],
    draw(geometry) {
      for (const { draw } of parts) draw(geometry);
    },
  };
}

export default {
  name: "score_bench",
  title: "Score bench",
  steps: [
    {
      say: "Bars up: a query's attention to 32 keys. Bars down: scores divided by √d. Drag d to 512: do bars up or down favor one key?",
    },
    {
      say: "Under More, draw again a few times. Does dividing by √d help with every draw?",
      set: { width: 512 },
    },
    {
      say: "In One score, drag Q around K. Where is the score 0, and where is it largest?",
    },
  ],
  keys: "; on Q or K, arrows move its tip by 0.1, Page Up and Page Down by 1, Home and End to the edge",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ held: cell ? cell[1] : -1 }),
  build,
};
