// PositionLab: none, sinusoidal, learned and ALiBi positions side by side.
import { join, set } from "../kit/index.mjs";
import * as must from "../kit/index.mjs";
import { CODE, EQUATIONS, pytorch } from "./code.mjs";
import { sentences } from "./order.mjs";
import { picture } from "./picture.mjs";
import { curves, heatmap } from "./layout.mjs";
import { dot, positionVectors, scoreBias, shuffle, shuffledOrder } from "./numbers.mjs";
import { commas, sentence, table } from "./text.mjs";

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
const RANGES = {
  length: [2, 64],
  d_model: [2, 64],
  base: [1, 1e6],
  n_heads: [1, 16],
  head: [0, 15],
  position: [0, 63],
  other: [-1, 63],
  dimension: [-1, 63],
};

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { tokens, rows, d_model: d } = state;
  const n = tokens?.length;
  must.keep(state, {
    ...must.wholes(RANGES),
    base: must.real(1, 1e6),
    kind: must.one("none", "sinusoidal", "learned", "alibi"),
    view: must.one("curves", "heatmap", "similarity", "order"),
    dimensions: must.list(must.whole(0, 63), 0, 5),
    tokens: must.list(must.text, 2, 10),
    order: must.list(must.whole(0, n - 1), n),
    rows: must.table(rows?.length && Math.max(n, Math.min(64, rows.length)), rows, 64),
  });
  if (d % 2 || new Set(state.order).size < n)
    throw Error(`d_model must be even, order each place once, got ${[d, state.order]}`);
}

/** How much is shown: a table ends somewhere, and so what is held may be beyond. */
function sizes({ kind, rows, length, d_model: width, position, n_heads: heads, head }) {
  const table = kind === "learned" && rows.length ? rows : null;
  const most = Math.min(length, table?.length ?? length);
  return {
    length: most,
    width: Math.min(width, table?.[0].length ?? width),
    m: Math.min(position, most - 1),
    head: Math.min(head, heads - 1),
    alibi: kind === "alibi",
  };
}

/**
 * The lines of the curves: heads for ALiBi, else a fast dimension and a slow one, the
 * slowest that leaves the zero line.
 */
function shownDimensions(
  { dimensions, n_heads: heads, base },
  { alibi, width, length },
) {
  const count = alibi ? heads : width;
  const own = dimensions.filter((i) => i < count);
  if (own.length) return own;
  let slow = width > 2 ? 2 : 0;
  while (slow + 2 < width && (length - 1) * base ** (-(slow + 2) / width) >= 0.5)
    slow += 2;
  return [...new Set(alibi ? [0, Math.floor(count / 3), count - 1] : [0, slow])];
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const size = sizes(state);
  const { length, width, head, alibi } = size;
  const values = alibi
    ? scoreBias(state, length, head)
    : positionVectors(state, length, width);
  const similarity = alibi ? values : values.map((a) => values.map((b) => dot(a, b)));
  const geometry = {
    state,
    ...size,
    room,
    values,
    similarity,
    shown: shownDimensions(state, size),
  };
  if (state.view !== "order") return geometry;
  const n = state.tokens.length;
  const added = positionVectors(state, n, width);
  return {
    ...geometry,
    added,
    words: shuffle(state.tokens, state.order, added, scoreBias(state, n, head)),
  };
}

/** What the reader holds: ["cell", dimension, m], ["pair", m, n], ["word", 0, place] or null. */
export function locked(state) {
  const { view, tokens, other, dimension } = state;
  const { m, length, width, alibi } = sizes(state);
  if (view === "order") return other in tokens ? ["word", 0, other] : null;
  if ((view === "similarity" || alibi) && other >= 0 && other < length)
    return ["pair", m, other];
  return !alibi && dimension >= 0 && dimension < width ? ["cell", dimension, m] : null;
}

/** The patch that holds `active`; a second word changes places with the first. */
function lock(active, state) {
  const [kind, a, b] = active ?? [];
  const { order, other } = state;
  const from = (place) => (place === b ? other : place === other ? b : place);
  return {
    other: -1,
    dimension: -1,
    ...(kind === "cell"
      ? { dimension: a, position: b }
      : kind === "pair"
        ? { position: a, other: b }
        : kind === "word" &&
          (other in order
            ? { order: order.map((_, i) => order[from(i)]) }
            : { other: b })),
  };
}

function controls(ui) {
  // for some kinds, or in the view of the words: these then fit on a phone, outcome and all
  const when = (names, node) => {
    ui.bind(({ kind, view }) =>
      set(node, { hidden: !names.includes(view === "order" ? view : kind) }),
    );
    return node;
  };
  const slider = (label, trait, more) => {
    const [min, max] = RANGES[trait];
    return ui.slider({ label, trait, min, max, step: 1, ...more });
  };
  return [
    ui.choice({ label: "Positions", trait: "kind", options: KINDS }),
    ui.choice({ label: "View", trait: "view", options: VIEWS }),
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
  const [heat, below, order] = [
    "Heatmap",
    "Curves",
    "The words of the shuffled sentence",
  ].map((label) => picture(ui, label));
  let stage = null;
  return {
    controls: controls(ui),
    formula: {
      equation: ({ kind }) => EQUATIONS[kind],
      code: ({ kind }) => CODE[kind],
    },
    picture: [heat.node],
    draw(geometry) {
      const { view, kind: type } = geometry.state;
      const active = ui.active() ?? [];
      const [kind, a, b] = active;
      const m = kind === "cell" ? b : kind === "pair" ? a : geometry.m;
      const map = heatmap(geometry, m);
      const shown =
        view === "order"
          ? [[order, sentences(geometry)]]
          : view === "heatmap" || type === "none"
            ? [[heat, map]]
            : [
                [heat, map],
                [below, curves(geometry, map, active, m)],
              ];
      stage ??= heat.node.parentNode;
      join(
        stage,
        shown,
        ([{ label }]) => label,
        ([{ node }]) => node,
      );
      for (const [{ draw }, shape] of shown) draw(shape, geometry);
    },
  };
}

export default {
  name: "position_lab",
  title: "Position lab",
  tip: "compare fast with slow. Under word order, swap two words with none, then with sinusoidal.",
  keys: "; under word order, Enter on two words swaps them",
  traits: [
    "kind",
    "view",
    "length",
    "d_model",
    "base",
    "position",
    "other",
    "dimension",
    "dimensions",
    "n_heads",
    "head",
    "tokens",
    "order",
    "rows",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock,
  build,
};
