// SamplingDesk's pictures: texts in pieces, the list of tokens, the greedy trap.
import { fill, grid, join, panel, percent, s, set } from "../kit/index.mjs";
import { LONGER, writeOn } from "./reader.mjs";
import { around, flow, row } from "./shapes.mjs";
import { isDone, sentence, tail } from "./text.mjs";

/** A text takes nothing over from the one that stood in its node. */
const plain = (text) => ({
  class: null,
  "text-anchor": null,
  "data-part": null,
  ...text,
});

/** Boxes, then lines, then texts. */
function paint([rects, lines, words], { boxes, paths, texts }) {
  fill(rects, boxes, "rect");
  fill(lines, paths, "path");
  fill(words, texts.map(plain), "text");
}

/** A picture of pieces of text below a title. */
export function writing(title) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  const draw = (shape, { width, height, said, label }) => {
    set(svg, { width, height, "aria-label": label });
    set(note, { text: said });
    paint(parts, shape);
  };
  return { node, draw };
}

/** The list of tokens with their bars: one tab stop, a line for each token. */
export function bars(ui) {
  const [raster, cut, texts] = [
    s("path", { class: "raster" }),
    s("path", { class: "cut", "data-part": "cut" }),
    s("g"),
  ];
  const list = s("g", {
    role: "grid",
    "aria-label": "Next tokens, the likeliest first",
  });
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
    s(
      "g",
      { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
      s(
        "g",
        { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }),
        s("rect", { class: "halo" }),
        s("rect", { class: "ring" }),
      ),
    );
  function draw(next) {
    geometry = next;
    const {
      state,
      frame: { height, room },
      listed,
      order,
    } = geometry;
    const active = ui.active()?.[0];
    set(svg, { width: room, height });
    set(note, {
      text: geometry.problem
        ? "of another text"
        : `outlined before, filled after${state.count ? ", ◆ drawn" : ""}`,
    });
    const shape = around(geometry);
    set(raster, { d: shape.raster });
    set(cut, { d: shape.cut });
    fill(texts, shape.texts.map(plain), "text");
    join(
      list,
      listed,
      (_, r) => r,
      create,
      ({ children: [shown, cell] }, place, r) => {
        const line = row(geometry, place, r);
        const id = order[place];
        paint(shown.children, line);
        set(cell, {
          "data-row": r,
          "aria-selected": String(id === state.held),
          "aria-label": `${line.texts.map(({ text }) => text).join(" ")}. ${sentence(geometry, [id])}`,
          class: [id === state.held && "locked", id === active && "active"].join(" "),
        });
        for (const rect of cell.children) set(rect, line.box);
      },
    );
    cells.update();
  }
  return { node, draw };
}

/** Greedy and sampled, side by side; writes on while something is missing. */
export function trap(ui) {
  // with the room that a token takes, about: those that are repeated are long
  const both = [
    ["greedy", writing("Greedy"), 30],
    ["sampled", writing("Sampled"), 22],
  ];
  let waits = false;
  const later = () => {
    waits = false;
    if (ui.state().trap && writeOn(ui.state())) ui.repaint();
  };
  const draw = ({ trap: found, state, room, read }) => {
    const half = room < 620 ? room : Math.floor((room - 24) / 2);
    for (const [kind, { node, draw: show }, wide] of both) {
      const { ids, share, repeats } = found?.[kind] ?? {};
      set(node, { hidden: !found, style: `width:${half}px` });
      const all = ids
        ? [
            { text: tail(read), kind: "quiet" },
            ...ids.map((id, i) => ({
              text: state.tokens[id],
              kind: repeats[i] && "again",
            })),
            { text: "…" },
          ]
        : [];
      const shape = flow(all, half, 99);
      show(shape, {
        width: half,
        height: Math.max(shape.height, 24 * Math.ceil((LONGER * wide) / half)),
        said: ids ? `${percent(share)} repeats, underlined` : "waits",
        label: `${kind}: ${all.map(({ text }) => text).join("")}`,
      });
    }
    if (waits || !found || isDone(found)) return;
    waits = true;
    setTimeout(later);
  };
  return { nodes: both.map(([, { node }]) => node), draw };
}
