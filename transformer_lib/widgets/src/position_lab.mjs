// PositionLab: none, sinusoidal, learned and ALiBi positions side by side.
import { figure, set } from "./kit/index.mjs";
import { formula, pytorch } from "./position_lab/code.mjs";
import { curvePicture, heatPicture, orderPicture } from "./position_lab/pictures.mjs";
import { heatmap, sentences } from "./position_lab/shapes.mjs";
import {
  dot, positionVectors, scoreBias, shuffle, shuffledOrder,
} from "./position_lab/values.mjs";
import { STARTS, commas, sentence, table } from "./position_lab/words.mjs";

export { pytorch, sentence, table };

const KINDS = [
  ["none", "none"], ["sinusoidal", "sinusoidal"], ["learned", "learned"], ["alibi", "ALiBi"],
];
const VIEWS = [
  ["heatmap", "heatmap"], ["curves", "curves"], ["similarity", "similarity"],
  ["order", "word order"],
];
const RANGES = {
  length: [2, 64], d_model: [2, 64], base: [1, 1e6], n_heads: [1, 16], head: [0, 15],
  position: [0, 63], other: [-1, 63], dimension: [-1, 63],
};

function check(state) {
  for (const [name, [least, most]] of Object.entries(RANGES))
    if (!(state[name] >= least && state[name] <= most))
      throw Error(`${name} must be from ${least} to ${most}, got ${state[name]}`);
  const { tokens, order, rows, d_model: width, kind, view } = state;
  if (width % 2) throw Error(`d_model must be even, got ${width}`);
  const right =
    STARTS[kind] && VIEWS.some(([name]) => name === view) && tokens.every((token) => token.at) &&
    tokens.length === order.length && tokens.every((_, i) => order.includes(i)) &&
    (!rows[0] || rows[tokens.length - 1]) && rows.flat().every(Number.isFinite) &&
    rows.every((row) => row.length === rows[0].length);
  if (!right) throw Error("kind, view, tokens, order and rows must fit each other");
}

/** How much is shown: a table ends somewhere, and so what is held may be beyond. */
function sizes({ kind, rows, length, d_model: width, position, n_heads: heads, head }) {
  const table = kind === "learned" && rows.length ? rows : null;
  const most = Math.min(length, table?.length ?? length);
  return {
    length: most, width: Math.min(width, table?.[0].length ?? width),
    m: Math.min(position, most - 1), head: Math.min(head, heads - 1), alibi: kind === "alibi",
  };
}

/** The lines of the curves: dimensions, or heads for ALiBi. */
function shownDimensions({ dimensions, n_heads: heads }, { alibi, width }) {
  const count = alibi ? heads : width;
  const own = dimensions.filter((i) => i < count);
  const some = alibi
    ? [0, Math.floor(count / 3), count - 1]
    : [0, 2 * Math.floor(count / 8), 2 * Math.floor(count / 4), count - 2 + (count % 2)];
  return own.length ? own : [...new Set(some)].sort((a, b) => a - b);
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const size = sizes(state);
  const { length, width, head, alibi } = size;
  const values = alibi ? scoreBias(state, length, head) : positionVectors(state, length, width);
  const similarity = alibi ? values : values.map((a) => values.map((b) => dot(a, b)));
  const geometry = { state, ...size, values, similarity, shown: shownDimensions(state, size) };
  if (state.view !== "order") {
    const height = state.view !== "heatmap" ? 170 : alibi ? Math.min(420, room - 106) : 320;
    return { ...geometry, heat: heatmap(geometry, room, height) };
  }
  const n = state.tokens.length;
  const added = positionVectors(state, n, width);
  const words = shuffle(state.tokens, state.order, added, scoreBias(state, n, head));
  return { ...geometry, added, words, order: sentences(state, words, room) };
}

/** What the reader holds: ["cell", dimension, m], ["pair", m, n], ["word", place] or null. */
export function locked(state) {
  const { view, tokens, other, dimension } = state;
  const { m, length, width, alibi } = sizes(state);
  const among = (i, n) => i >= 0 && i < n;
  if (view === "order") return among(other, tokens.length) ? ["word", other] : null;
  if ((view === "similarity" || alibi) && among(other, length)) return ["pair", m, other];
  return !alibi && among(dimension, width) ? ["cell", dimension, m] : null;
}

const swapped = (order, a, b) =>
  order.map((old, place) => (place === a ? order[b] : place === b ? order[a] : old));

/** The patch that holds `active`; a second word changes places with the first. */
function lock(active, state) {
  const [kind, a, b] = active ?? [];
  const free = { other: -1, dimension: -1 };
  if (kind === "cell") return { ...free, dimension: a, position: b };
  if (kind === "pair") return { ...free, position: a, other: b };
  if (kind !== "word") return free;
  const first = locked(state)?.[1] ?? a;
  return first === a ? { other: a } : { ...free, order: swapped(state.order, first, a) };
}

function controls(ui) {
  let [typed, own] = ["", null]; // what stands in the field for which words
  const when = (test, ...nodes) => {
    for (const node of nodes) ui.bind((state) => set(node, { hidden: !test(state) }));
    return nodes;
  };
  const slider = (label, trait, min, max, step = 1) => ui.slider({ label, trait, min, max, step });
  const words = ui.text({
    label: "Words", maxlength: 120,
    get: (state) => (String(state.tokens) === own ? typed : state.tokens.join(" ")),
    set(text, state) {
      const tokens = text.split(/\s+/).filter(Boolean).slice(0, 10);
      const patch = tokens.length < 2 ? {} : { tokens, order: [...tokens.keys()], other: -1 };
      [typed, own] = [text, String(patch.tokens ?? state.tokens)];
      return patch;
    },
  });
  words.addEventListener("focusout", () => {
    own = null;
    ui.repaint();
  });
  return [
    ui.choice({ label: "Positions", trait: "kind", options: KINDS }),
    ui.choice({ label: "View", trait: "view", options: VIEWS }),
    ...when(({ view }) => view !== "order", slider("Length", "length", 2, 64)),
    ...when(({ kind }) => kind !== "alibi", slider("Width d", "d_model", 2, 64, 2)),
    ...when(
      ({ kind }) => kind === "sinusoidal",
      ui.slider({
        label: "Base", min: 1, max: 6, step: 0.5,
        get: ({ base }) => Math.log10(base),
        set: (power) => ({ base: Math.round(10 ** power) }),
        format: (power) => commas(10 ** power),
      }),
    ),
    ...when(
      ({ kind }) => kind === "alibi", slider("Heads", "n_heads", 1, 16),
      ui.slider({
        label: "Head", min: 0, max: 15, step: 1, get: (state) => sizes(state).head,
        set: (head, state) => ({ head: sizes({ ...state, head }).head }),
      }),
    ),
    ...when(
      ({ view }) => view === "order",
      words,
      ui.button({ label: "Shuffle", action: ({ order }) => ({ order: shuffledOrder(order) }) }),
      ui.button({ label: "As written", action: ({ order }) => ({ order: [...order.keys()] }) }),
    ),
  ];
}

function build(ui) {
  const [heat, below, order] = [heatPicture(ui), curvePicture(ui), orderPicture(ui)];
  let stage = null;
  return {
    controls: controls(ui),
    formula: { equation: (state) => formula(state)[0], code: (state) => formula(state)[1] },
    picture: [heat.node],
    draw(geometry) {
      const active = ui.active() ?? [];
      const { view } = geometry.state;
      const shown = view === "order" ? [order] : view === "heatmap" ? [heat] : [heat, below];
      stage ??= heat.node.parentNode;
      if (stage.firstChild !== shown[0].node || stage.children.length !== shown.length)
        stage.replaceChildren(...shown.map(({ node }) => node));
      const [kind, a, b] = active;
      const m = kind === "cell" ? b : kind === "pair" ? a : geometry.m;
      for (const { draw } of shown) draw(geometry, active, m);
    },
  };
}

export default figure({
  name: "position_lab",
  title: "Position lab",
  tip:
    "choose “none” and “word order”, then shuffle, or pick two words to swap them. Under " +
    "“curves”, compare the top line of the heatmap with the bottom line.",
  traits: [
    "kind", "view", "length", "d_model", "base", "position", "other", "dimension",
    "dimensions", "n_heads", "head", "tokens", "order", "rows",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock,
  build,
  css:
    ".plus,.dot{fill:var(--position)}.minus{fill:var(--minus)}" +
    ".plus,.minus,.rim,.cursor{shape-rendering:crispEdges}" +
    ".ink,.chalk,.rim,.cursor,.curve,.zero,.rule,.others,.link{fill:none;stroke:var(--line)}" +
    ".ink,.cursor,.rule,.link{stroke:var(--text)}.ink{stroke-opacity:.6}" +
    ".chalk,.dot{stroke:var(--ground)}.others{stroke-opacity:.45}" +
    ".curve{stroke:var(--position);stroke-width:1.6}.link{stroke-width:1.6}" +
    "path.bold{stroke-width:3.2}.broken{stroke:var(--line);stroke-width:1;stroke-dasharray:3 4}",
});
