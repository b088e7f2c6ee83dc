// HeadsGrid: heads differ; a map is evidence, ablation is proof.
import { h, set } from "../kit/index.mjs";
import { bring } from "../engine/index.mjs";
import * as must from "../kit/index.mjs";
import { bars, thumbnails } from "./layout.mjs";
import {
  UNIT,
  createRunner,
  isOff,
  letter,
  letters,
  numbers,
  periodOf,
  switched,
  unpacked,
} from "./numbers.mjs";
import { gallery, lossPanel, mapPanel } from "./views.mjs";
import { name, pytorch, sentence, table } from "./text.mjs";

export { createRunner, pytorch, sentence, table };

const SIZES = { "induction-1": [1, 4], "induction-2": [2, 4] }; // layers, heads in each
const VOCABULARY = 64; // of both
const MOST = 32; // tokens
const runners = new Map(); // by model: all figures of a page share them

const SORTS = [
  ["place", "layer and head"],
  ["entropy", "entropy, low first"],
  ["previous", "looks at the token before"],
  ["induction", "induction"],
  ["loss", "loss if off"],
];

const sizeOf = ({ source, stored }) =>
  SIZES[source] ?? [stored?.maps?.length, stored?.maps?.[0]?.length];

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { source, stored, tokens } = state;
  const [maps, size, head] = [
    stored?.maps,
    tokens?.length,
    must.cell(...sizeOf(state)),
  ];
  const some = must.list(must.any, 0, 99);
  const perHead = (item) => must.list(must.list(item, maps?.[0]?.length), maps?.length);
  const map = (all, name) => {
    const n = stored.ids.length;
    must.list(must.whole(0, UNIT), (n * (n + 1)) / 2)(all, name);
    for (const row of unpacked(all, n)) must.shares(1, MOST / UNIT)(row, name); // each weight is rounded
  };
  must.keep(state, {
    source: must.one(...Object.keys(SIZES), "Python"),
    sort: must.one(...SORTS.map(([sort]) => sort)),
    tokens: must.list(must.text, 2, MOST),
    ids: must.list(must.whole(0, SIZES[source] ? VOCABULARY - 1 : 1e9), size),
    stored: must.parts({
      ids: must.list(must.whole(0, 1e9), 2, MOST),
      off: some,
      losses: must.list(must.parts([some, must.finite]), 0, 99),
      maps: perHead(map),
      scores: perHead(must.list(must.finite, 2, 3)),
      first: (x, name) => must.finite(x ?? 0, name),
    }),
    off: must.list(head, 0, 99),
    shown: must.list(head, 1, 2),
    pair: must.place(size, size),
    selected: must.place(...sizeOf(state)),
  });
}

/** Everything that is drawn or said, from the state and a model that runs here, if any. */
export function layout(state, room = 680, runner = runners.get(state.source)) {
  check(state);
  const known = numbers(state, runner);
  if (!known) return { state, room, waiting: true };
  const geometry = { state, room, ...known };
  const small = thumbnails(geometry, room);
  const beside = room - small.width - 32;
  return {
    ...geometry,
    small,
    bars: bars(geometry, beside < 240 ? room : beside),
    half: room >= 560 ? Math.floor((room - 28) / 2) : room,
  };
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

/** The model comes, unless Python has one of the reader's own. */
function source(ui) {
  const own = h("p", {
    class: "try coming",
    text: "Numbers by Python, of a model of its own: to switch several heads off, run it.",
  });
  const { source: asked } = ui.state();
  if (!SIZES[asked]) return [own];
  const line = bring(ui, asked, (model) => runners.set(asked, createRunner(model)));
  ui.bind(({ source: now }) => {
    set(line, { hidden: now !== asked });
    set(own, { hidden: now !== "Python" });
  });
  return [line, own];
}

const switches = (ui) => [
  ui.button({
    label: "Switch",
    text: (state) =>
      `Switch ${name(state.shown[0])} ${isOff(state, state.shown[0]) ? "on" : "off"}`,
    action: (state) => ({ off: switched(state, state.shown[0]) }),
  }),
  ui.button({
    label: "All on",
    disabled: ({ off }) => !off.length,
    action: () => ({ off: [] }),
  }),
];

/** What is not for the first look stands below the small maps. */
function others(ui) {
  const everyHead = (state) => {
    const [layers, heads] = sizeOf(state);
    return Array.from({ length: layers * heads }, (_, i) => [
      Math.floor(i / heads),
      i % heads,
    ]);
  };
  const still = ({ source: now }) => !runners.has(now); // nothing here could read others
  const reading = (ids) => ({ ids, tokens: ids.map(letter), pair: [] });
  return [
    ui.select({ label: "Sort by", trait: "sort", options: SORTS }),
    ui.select({
      label: "Compare with",
      options: (state) => [
        ["", "nothing"],
        ...everyHead(state).map((head) => [String(head), name(head)]),
      ],
      get: ({ shown }) => String(shown[1] ?? ""),
      set: (text, { shown }) => ({
        shown: text ? [shown[0], text.split(",").map(Number)] : [shown[0]],
      }),
    }),
    ui.slider({
      label: "Letters",
      min: 2,
      max: MOST / 2,
      step: 1,
      disabled: still,
      get: ({ ids }) => periodOf(ids) || ids.length >> 1,
      set: (count, { ids }) =>
        reading(letters(ids, count, ids.slice(0, periodOf(ids)))),
    }),
    ui.button({
      label: "Other letters",
      disabled: still,
      action: ({ ids }) => reading(letters(ids, periodOf(ids) || 10)),
    }),
  ];
}

function build(ui) {
  const [all, loss] = [gallery(ui), lossPanel()];
  const maps = ["The head on show", "The other head"].map((label) =>
    mapPanel(ui, `${label}, queries by keys`),
  );
  const parts = [loss, all, ...maps];
  const [bars, small, ...large] = parts.map(({ node }) => node);
  return {
    controls: switches(ui),
    picture: [
      bars,
      small,
      h("div", { class: "controls" }, others(ui), source(ui)),
      ...large,
    ],
    draw(geometry) {
      const {
        waiting,
        state: { shown },
      } = geometry;
      for (const { node } of parts) set(node, { hidden: Boolean(waiting) });
      if (waiting) return;
      const [kind, ...head] = ui.active() ?? [];
      const heads = [kind === "head" ? head : shown[0], ...shown.slice(1)];
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
  tip:
    "tap a map, then switch it off and watch the loss. Three heads of layer 1 show the same " +
    "stripe: does each matter as much? And the one without?",
  keys: ", Space on a map switches its head off",
  traits: [
    "source",
    "ids",
    "tokens",
    "off",
    "shown",
    "selected",
    "pair",
    "sort",
    "stored",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock,
  build,
};
