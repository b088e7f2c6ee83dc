// PagedCache: the figure's parts, and what its reader can do.
import { grid, h, join, panel, range, s, set } from "../kit/index.mjs";
import { COLUMNS, ROWS, layout } from "./layout.mjs";
import {
  caption,
  label,
  lastPass,
  pytorch,
  sentence,
  sharing,
  table,
} from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const TITLES = [
  () => "Reservations of 16 slots",
  ({ block_size: size }) => `Blocks of ${size === 1 ? "1 slot" : `${size} slots`}`,
];
const locked = ({ selected }) => (selected.length ? selected : null);

/** A slot: its ground, what marks it as empty or new, its letter, the reader's ring. */
const newSlot = () =>
  s(
    "g",
    { role: "gridcell" },
    s("rect", { class: "slot" }),
    s("path", { class: "hatch" }),
    s("text", {}),
    s("rect", { class: "ring" }),
  );

function drawSlot(node, way, i, row, { cell, state }) {
  const [ground, empty, text, ring] = node.children;
  const { x, y, kind, fresh, text: shown, hatch } = way.cells[i];
  const column = i % COLUMNS;
  const isLocked = state.selected[0] === row && state.selected[1] === column;
  set(node, {
    "data-row": row,
    "data-col": column,
    "aria-label": label(way, i),
    "aria-selected": String(isLocked),
    class: isLocked ? "locked" : null,
  });
  const box = { x: x + 1, y: y + 1, width: cell - 2, height: cell - 2 };
  set(ground, { ...box, class: `slot ${kind}${fresh ? " fresh" : ""}` });
  set(empty, { d: hatch });
  set(text, {
    x: x + cell / 2,
    y: y + cell / 2,
    text: shown,
    class: fresh ? "token strong" : "token",
  });
  set(ring, box);
}

/** One way: its slots, and the lines under them. */
function newWay(number) {
  const rows = range(ROWS).map(() => s("g", { role: "row" }));
  const edges = s("path", { class: "edges", "aria-hidden": "true" });
  const picture = s("svg", {}, s("g", {}, ...rows), edges);
  const { node, note } = panel(TITLES[number]({ block_size: 4 }), picture);
  const lines = [h("p", { class: "under" }), h("p", { class: "under" })];
  node.append(...lines);
  const draw = (geometry) => {
    const way = geometry.ways[number];
    const { cell, state } = geometry;
    node.querySelector(".title").firstChild.textContent = `${TITLES[number](state)} `;
    const [held, empty] = [`${way.held} with tokens`, `hatched: ${way.empty} empty`];
    set(note, { text: way.pass ? [held, ...sharing(way), empty].join("; ") : "" });
    set(picture, { width: COLUMNS * cell + 2, height: ROWS * cell + 2 });
    set(edges, { d: way.edges });
    rows.forEach((row, r) =>
      join(
        row,
        range(COLUMNS),
        (column) => column,
        newSlot,
        (slot, column) =>
          drawSlot(slot, way, r * COLUMNS + column, number * ROWS + r, geometry),
      ),
    );
    caption(way, state.prompts.length).forEach((text, i) => set(lines[i], { text }));
  };
  return { node, draw };
}

/** Where so many passes on leads, or nothing where there is none. */
const go = (by) => (state) => {
  const step = Math.min(state.step, lastPass(layout(state)) + 1) + by;
  const isOut = step < 1 || step > lastPass(layout(state)) + 1;
  return isOut ? undefined : { step };
};

function build(ui) {
  const ways = [newWay(0), newWay(1)];
  const all = h(
    "div",
    { class: "ways", role: "grid", "aria-label": "Memory: reservations, then blocks" },
    ...ways.map(({ node }) => node),
  );
  const stepping = ({ key }) => {
    const patch = { "+": go(1), "=": go(1), "-": go(-1) }[key]?.(ui.state());
    if (patch) ui.set(patch);
    return Boolean(patch);
  };
  const cells = grid(all, {
    size: () => [2 * ROWS, COLUMNS],
    locked: () => locked(ui.state()),
    hover: ui.hover,
    lock: ui.lock,
    key: stepping,
  });
  const button = (name, by) =>
    ui.button({ label: name, action: go(by), disabled: (state) => !go(by)(state) });
  const next = button("Step", 1);
  next.classList.add("go");
  return {
    controls: [button("Back", -1), next],
    more: [
      ui.select({
        label: "block size",
        trait: "block_size",
        options: [1, 2, 4, 8, 16].map((size) => [size, `${size}`]),
      }),
      ui.slider({ label: "shared prefix", trait: "prefix", min: 0, max: 9, step: 1 }),
      ui.slider({
        label: "tokens per pass",
        trait: "budget",
        min: 1,
        max: 64,
        step: 1,
      }),
      ui.toggle({ label: "reservations: static batch", trait: "static" }),
    ],
    picture: [all],
    draw(geometry) {
      for (const way of ways) way.draw(geometry);
      cells.update();
    },
  };
}

export default {
  name: "paged_cache",
  title: "Memory of many users",
  steps: [
    {
      say: "Both memories have 64 slots for the same eight users. Press Step: which one is done with all eight first?",
    },
    {
      say: "User A has left. Who takes its 16 reserved slots? Which blocks are free now, and which are shared (+)?",
      set: { budget: 24, step: 3 },
    },
    {
      say: "Now no two prompts begin alike, so nothing is shared. Step on: do blocks still need fewer passes?",
      set: { prefix: 0, step: 1 },
    },
  ],
  keys: ", + and − step",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
