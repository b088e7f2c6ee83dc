// PositionLab: none, sinusoidal, learned and ALiBi positions side by side.
import { figure, set } from "./kit/index.mjs";
import { formula, pytorch } from "./position_lab/code.mjs";
import { curvePicture, heatPicture, orderPicture } from "./position_lab/pictures.mjs";
import { curves, heatmap, sentences } from "./position_lab/shapes.mjs";
import {
  dot, positionVectors, scoreBias, shuffle, shuffledOrder,
} from "./position_lab/values.mjs";
import { sentence, table } from "./position_lab/words.mjs";

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
  for (const [name, [least, most]] of Object.entries(RANGES)) {
    const value = state[name];
    const fits = value >= least && value <= most && (name === "base" || Number.isInteger(value));
    if (!fits) throw Error(`${name} must be from ${least} to ${most}, got ${value}`);
  }
  const { tokens, order, rows, d_model: width } = state;
  if (width % 2) throw Error(`d_model must be even, got ${width}`);
  for (const [name, all] of [["kind", KINDS], ["view", VIEWS]])
    if (!all.some(([word]) => word === state[name]))
      throw Error(`${name} must be one of ${all.map(([w]) => w)}, got ${state[name]}`);
  if (tokens.length < 2 || tokens.length > 10 || !tokens.every((t) => typeof t === "string"))
    throw Error(`tokens must be 2 to 10 words, got ${tokens.length}`);
  if (String(order.toSorted((a, b) => a - b)) !== String([...tokens.keys()]))
    throw Error(`order must hold each of 0 to ${tokens.length - 1} once, got ${order}`);
  const first = rows[0]?.length;
  if (rows.length && (rows.length < tokens.length || !rows.every(
    (row) => row.length === first && row.every(Number.isFinite))))
    throw Error(`rows must be ${tokens.length} or more lists of numbers, got ${rows.length}`);
}

/** The lines of the curves: dimensions, or heads for ALiBi. */
function shownDimensions({ dimensions, kind, n_heads: heads }, width) {
  const count = kind === "alibi" ? heads : width;
  const own = dimensions.filter((i) => i < count);
  const some =
    kind === "alibi"
      ? [0, Math.floor(count / 3), count - 1]
      : [0, 2 * Math.floor(count / 8), 2 * Math.floor(count / 4), count - 2 + (count % 2)];
  return own.length ? own : [...new Set(some)].sort((a, b) => a - b);
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const { kind, view, rows, tokens } = state;
  const own = kind === "learned" && rows.length > 0;
  const length = Math.min(state.length, own ? rows.length : 64);
  const width = Math.min(state.d_model, own ? rows[0].length : 64);
  const head = Math.min(state.head, state.n_heads - 1);
  const alibi = kind === "alibi";
  const values = alibi ? scoreBias(state, length, head) : positionVectors(state, length, width);
  const similarity = alibi ? values : values.map((a) => values.map((b) => dot(a, b)));
  const base = {
    state, length, width, head, values, similarity, m: Math.min(state.position, length - 1),
    shown: shownDimensions(state, width),
  };
  if (view === "order") {
    const added = positionVectors(state, tokens.length, width);
    const words = shuffle(tokens, state.order, added, scoreBias(state, tokens.length, head));
    return { ...base, added, words, order: sentences(state, words, room) };
  }
  const height = view !== "heatmap" ? 170 : alibi ? Math.min(420, room - 98) : 320;
  const cells = alibi ? "bias" : view === "similarity" ? "pair" : "cell";
  return { ...base, cells, heat: heatmap(values, { width: room, height, alibi }) };
}

/** What the reader holds: ["cell", dimension, m], ["pair", m, n], ["word", place] or null. */
function locked({ kind, view, tokens, other, dimension, position, length, d_model, rows }) {
  const own = kind === "learned" && rows.length > 0;
  const last = Math.min(length, own ? rows.length : 64) - 1;
  const m = Math.min(position, last);
  if (view === "order") return other >= 0 && other < tokens.length ? ["word", other] : null;
  if (view === "similarity" || kind === "alibi")
    return other >= 0 && other <= last ? ["pair", m, other] : null;
  const width = Math.min(d_model, own ? rows[0].length : 64);
  return dimension >= 0 && dimension < width ? ["cell", dimension, m] : null;
}

function lock(active) {
  const [kind, a, b, head] = active ?? [];
  if (kind === "word") return { other: a };
  if (kind === "cell") return { dimension: a, position: b };
  if (kind === "pair") return { position: a, other: b, ...(head === undefined ? {} : { head }) };
  return { other: -1, dimension: -1 };
}


/** The position that all pictures mark: the one under the pointer, else the held one. */
const cursor = ({ m }, [kind, a, b] = []) =>
  kind === "cell" ? b : kind === "pair" ? a : m;

/** Shows or hides the curve of one dimension; at most five stay. */
function toggled(state, shown, i) {
  const others = shown.filter((other) => other !== i);
  const next = others.length < shown.length ? others : [...others.slice(-4), i];
  return { dimensions: next.sort((a, b) => a - b) };
}

const moved = (order, from, to) => {
  if (to < 0 || to >= order.length) return order;
  const rest = order.filter((_, place) => place !== from);
  return rest.toSpliced(to, 0, order[from]);
};
const move = ({ order, other }, by) => {
  const to = Math.max(0, Math.min(order.length - 1, other + by));
  return { order: moved(order, other, to), other: to };
};
const wordsOf = (text) => text.split(/\s+/).filter(Boolean).slice(0, 10);

/** A control that is there only when `test(state)` holds. */
function when(ui, test, node) {
  ui.bind((state) => set(node, { hidden: !test(state) }));
  return node;
}

function controls(ui) {
  const only = (test, ...nodes) => nodes.map((node) => when(ui, test, node));
  const words = ({ view }) => view === "order";
  const matrix = ({ view }) => view !== "order";
  const held = ({ other, tokens }) => other >= 0 && other < tokens.length;
  let typed = null;
  return [
    ui.choice({ label: "Positions", trait: "kind", options: KINDS }),
    ui.choice({ label: "View", trait: "view", options: VIEWS }),
    ...only(matrix, ui.slider({ label: "Length", trait: "length", min: 2, max: 64, step: 1 })),
    ...only(
      (state) => state.kind !== "alibi",
      ui.slider({ label: "Width d", trait: "d_model", min: 2, max: 64, step: 2 }),
    ),
    ...only(
      ({ kind }) => kind === "sinusoidal",
      ui.slider({
        label: "Base", min: 1, max: 6, step: 0.5,
        get: ({ base }) => Math.log10(base),
        set: (power) => ({ base: Math.round(10 ** power) }),
        format: (power) => Math.round(10 ** power).toLocaleString("en-US"),
      }),
    ),
    ...only(
      ({ kind }) => kind === "alibi",
      ui.slider({
        label: "Heads", trait: "n_heads", min: 1, max: 16, step: 1,
        set: (heads, { head }) => ({ n_heads: heads, head: Math.min(head, heads - 1) }),
      }),
      ui.slider({
        label: "Head", min: 0, max: 15, step: 1,
        get: ({ head, n_heads: heads }) => Math.min(head, heads - 1),
        set: (head, { n_heads: heads }) => ({ head: Math.min(head, heads - 1) }),
      }),
    ),
    ...only(
      ({ view, kind }) => view === "curves" && kind !== "alibi",
      ui.button({
        label: "Keep the curve",
        disabled: ({ dimension, d_model: width }) => dimension < 0 || dimension >= width,
        text: (state) =>
          shownDimensions(state, state.d_model).includes(state.dimension)
            ? `Drop curve ${state.dimension}`
            : state.dimension < 0 ? "Keep the curve" : `Keep curve ${state.dimension}`,
        action: (state) => toggled(state, shownDimensions(state, state.d_model), state.dimension),
      }),
    ),
    ...only(
      words,
      ui.text({
        label: "Words", maxlength: 120,
        get: ({ tokens }) =>
          typed !== null && String(wordsOf(typed)) === String(tokens) ? typed : tokens.join(" "),
        set(text) {
          typed = text;
          const tokens = wordsOf(text);
          return tokens.length < 2 ? {} : { tokens, order: [...tokens.keys()], other: -1 };
        },
      }),
      ui.button({ label: "Shuffle", action: ({ order }) => ({ order: shuffledOrder(order) }) }),
      ui.button({
        label: "As written", action: ({ order }) => ({ order: [...order.keys()] }),
        disabled: ({ order }) => order.every((old, place) => old === place),
      }),
      ui.button({
        label: "◂ Move word", action: (state) => move(state, -1),
        disabled: (state) => !held(state) || state.other === 0,
      }),
      ui.button({
        label: "Move word ▸", action: (state) => move(state, 1),
        disabled: (state) => !held(state) || state.other === state.tokens.length - 1,
      }),
    ),
  ];
}

function build(ui) {
  const keep = (event, [kind, i]) => {
    const state = ui.state();
    if (event.key !== " " || kind !== "cell" || state.view !== "curves") return false;
    ui.set(toggled(state, shownDimensions(state, state.d_model), i));
    return true;
  };
  const carry = (event, [, place]) => {
    const by = { "<": -1, ">": 1, ",": -1, ".": 1 }[event.key];
    if (by) ui.set(move({ ...ui.state(), other: place }, by));
    return Boolean(by);
  };
  const heat = heatPicture(ui, keep);
  const lower = curvePicture(ui, keep);
  const order = orderPicture(ui, carry);
  return {
    controls: controls(ui),
    formula: { equation: (state) => formula(state).equation, code: (state) => formula(state).code },
    picture: [heat.node, lower.node, order.node],
    draw(geometry) {
      const active = ui.active();
      const { view } = geometry.state;
      heat.node.hidden = view === "order";
      lower.node.hidden = view === "order" || view === "heatmap";
      order.node.hidden = view !== "order";
      if (view === "order") return order.draw(geometry, active);
      const m = cursor(geometry, active ?? []);
      heat.draw(geometry, m);
      if (view === "heatmap") return;
      const shape = curves(geometry, active, m);
      lower.draw({ ...shape, text: (cell) => sentence(geometry, shape.to(cell)) });
    },
  };
}

export default figure({
  name: "position_lab",
  title: "Position lab",
  tip:
    "compare the top line with the bottom line: fast and slow dimensions. Then choose “word " +
    "order” and “none”, and shuffle.",
  keys: ", Space keeps a curve, < and > carry a word",
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
    ".plus{fill:var(--position)}.minus{fill:var(--minus)}" +
    ".ink,.chalk{fill:none;stroke:var(--text);stroke-opacity:.6}" +
    ".chalk{stroke:var(--ground);stroke-opacity:1}" +
    ".plus,.minus,.rim,.cursor{shape-rendering:crispEdges}" +
    ".rim{fill:none;stroke:var(--line)}.cursor{fill:none;stroke:var(--text)}" +
    ".curve{fill:none;stroke:var(--position);stroke-width:1.6;stroke-linejoin:round}" +
    ".curve.bold{stroke-width:3.2}.dot{fill:var(--position);stroke:var(--ground)}" +
    ".zero,.line,.others,.link{fill:none;stroke:var(--line)}.line{stroke:var(--text)}" +
    ".others{stroke-opacity:.45}.link{stroke:var(--text);stroke-width:1.6}" +
    ".link.broken{stroke:var(--line);stroke-width:1;stroke-dasharray:3 4}" +
    ".link.bold{stroke-width:3}",
});
