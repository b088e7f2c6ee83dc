// PositionLab: none, sinusoidal, learned and ALiBi positions side by side.
import { commas, h, join, set } from "../kit/index.mjs";
import { CODE, EQUATIONS, pytorch } from "./code.mjs";
import { curves } from "./curves.mjs";
import { heatmap } from "./heatmap.mjs";
import { layout, locked, sizes } from "./layout.mjs";
import { shuffledOrder } from "./numbers.mjs";
import { sentences } from "./order.mjs";
import { picture } from "./picture.mjs";
import { sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const KINDS = [
  ["none", "none"],
  ["sinusoidal", "sinusoidal"],
  ["learned", "learned"],
  ["alibi", "ALiBi"],
];
const VIEWS = [
  ["curves", "curves"],
  ["heatmap", "heatmap"],
  ["similarity", "similarity"],
  ["order", "word order"],
];
/** Picks a word; a second one changes places with the first. */
function pick(place, { order, other }) {
  if (!(other in order)) return { other: place };
  const from = (i) => (i === place ? other : i === other ? place : i);
  return { order: order.map((_, i) => order[from(i)]) };
}

const HOLD = {
  cell: (dimension, position) => ({ dimension, position }),
  pair: (position, other) => ({ position, other }),
  word: (_, place, state) => pick(place, state),
};

/** The patch that holds `active`, or lets go of all. */
function lock(active, state) {
  const [kind, a, b] = active ?? [];
  return { other: -1, dimension: -1, ...HOLD[kind]?.(a, b, state) };
}

/** The pictures of a view, each with what it shows. */
function shapes(geometry, active, { heat, plot, order }) {
  const { view, kind: type } = geometry.state;
  if (view === "order") return [[order, sentences(geometry)]];
  const [kind, a, b] = active;
  const m = { cell: b, pair: a }[kind] ?? geometry.m;
  const map = heatmap(geometry, m);
  if (view === "heatmap" || type === "none") return [[heat, map]];
  return [
    [plot, curves(geometry, map, active, m)],
    [heat, map],
  ];
}

/** The sliders and buttons of each kind and view. */
function others(ui) {
  // for some kinds, or in the view of the words: these then fit on a phone, outcome and all
  const when = (names, node) => {
    ui.bind(({ kind, view }) =>
      set(node, { hidden: !names.includes(view === "order" ? view : kind) }),
    );
    return node;
  };
  const slider = (label, trait, more) => {
    const [[min, max]] = Object.values(limits[trait]);
    return ui.slider({ label, trait, min, max, step: 1, ...more });
  };
  return [
    when("none sinusoidal learned alibi", slider("Length", "length")),
    when("none sinusoidal learned", slider("Width d", "d_model", { step: 2 })),
    when(
      "sinusoidal",
      slider("Base", "base", {
        max: 6,
        step: 0.5,
        get: ({ base }) => Math.log10(base),
        set: (power) => ({ base: Math.round(10 ** power) }),
        format: (power) => commas(10 ** power),
      }),
    ),
    when("alibi", slider("Heads", "n_heads")),
    when(
      "alibi",
      slider("Head, from 0", "head", { get: (state) => sizes(state).head }),
    ),
    when(
      "order",
      ui.button({
        label: "Shuffle",
        action: ({ order }) => ({ order: shuffledOrder(order), other: -1 }),
      }),
    ),
    when(
      "order",
      ui.button({
        label: "As written",
        action: ({ order }) => ({ order: order.toSorted((a, b) => a - b), other: -1 }),
      }),
    ),
  ];
}

function build(ui) {
  const parts = {
    heat: picture(ui, "Heatmap"),
    plot: picture(ui, "Curves"),
    order: picture(ui, "The words of the shuffled sentence"),
  };
  const [main, below] = [h("div"), h("div")];
  const put = (stage, shown) =>
    join(
      stage,
      shown,
      ([{ label }]) => label,
      ([{ node }]) => node,
    );
  const kinds = ui.choice({ label: "Positions", trait: "kind", options: KINDS });
  kinds.classList.add("go");
  return {
    controls: [kinds, ui.select({ label: "View", trait: "view", options: VIEWS })],
    more: others(ui),
    formula: {
      equation: ({ kind }) => EQUATIONS[kind],
      code: ({ kind }) => CODE[kind],
    },
    picture: [main],
    below: [below],
    draw(geometry) {
      const shown = shapes(geometry, ui.active() ?? [], parts);
      put(main, shown.slice(0, 1));
      put(below, shown.slice(1));
      for (const [{ draw }, shape] of shown) draw(shape, geometry);
    },
  };
}

export default {
  name: "position_lab",
  title: "Position lab",
  steps: [
    {
      say: "In sinusoidal curves, a vertical line marks a position. Tap the next position, right of it: which curve changes more?",
    },
    {
      say: "Both sentences have the same words, and no positions. Swap two words of the second: does any output change?",
      set: { view: "order", kind: "none" },
    },
    {
      say: "Now each position adds its own vector. Do the outputs of the same two orders still agree?",
      set: { view: "order", kind: "sinusoidal" },
    },
  ],
  keys: "; under word order, Enter on two words swaps them",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock,
  build,
};
