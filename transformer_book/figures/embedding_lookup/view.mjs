// EmbeddingLookup: an embedding is a row lookup, and nearness is learned.
import {
  fill,
  h,
  keep,
  list,
  one,
  pad,
  place,
  real,
  rising,
  s,
  set,
  text,
  tokenText,
  whole,
} from "../kit/index.mjs";
import { field, training } from "./controls.mjs";
import { cloud } from "./cloud.mjs";
import { frame, lookup, places, ranking } from "./layout.mjs";
import { MOST, kin, nearest, plane } from "./numbers.mjs";
import { pytorch, sentence, table, when } from "./text.mjs";

export { pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { words, groups, tables, steps } = state;
  const [n, count, width] = [words?.length, tables?.length, tables?.[0]?.[0]?.length];
  keep(state, {
    words: list(text, 2, 64),
    groups: list(text, groups?.length && n),
    about: text,
    tables: list(
      list(list(real(-1000, 1000), Math.max(2, Math.min(16, width || 2))), n),
      1,
      1200,
    ),
    steps: rising(count, count),
    step: (x, name) => one(...steps)(x, name),
    tokens: list(whole(0, n - 1), 0, MOST),
    view: one("lookup", "one-hot"),
    selected: place(n, width),
  });
  whole(0, 2400)(count * n * width, "how many numbers the tables hold");
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const { tables, steps, step, tokens, groups, selected } = state;
  const index = steps.indexOf(step);
  const rows = tables[index];
  const geometry = {
    state,
    room,
    index,
    table: rows,
    output: tokens.map((row) => rows[row]),
    most: Math.max(...tables.flat(2).map(Math.abs)) || 1,
    nearest: nearest(rows),
    kin: kin(rows, groups),
    kinBefore: kin(tables[0], groups),
    kinds: [...new Set(groups.filter(Boolean))],
    plane: plane(tables),
    picked: selected[0] ?? tokens[0] ?? 0,
  };
  return { ...geometry, frame: frame(geometry) };
}

export const locked = ({ selected }) => (selected.length ? selected : null);

function main(ui) {
  const names = [
    "cells",
    "strokes",
    "rows",
    "links",
    "joins",
    "bold",
    "dots",
    "texts",
    "frames",
  ];
  const layers = Object.fromEntries(names.map((name) => [name, s("g")]));
  const paths = ["strokes", "joins", "bold"];
  for (const name of paths) layers[name] = s("path", { class: name });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, ...Object.values(layers)));
  const node = h("div", { class: "panel" }, h("div", { class: "scroll" }, svg));
  const same = (cell) => cell;
  const grid = pad(ui, svg, { label: "Rows of the table", to: same, from: same });
  svg.append(grid.node);
  let drawn = null; // the shades change with the state only
  const draw = (geometry, active) => {
    const {
      room,
      frame: { height },
      picked,
    } = geometry;
    const row = active?.[0] ?? picked;
    const [left, points] = [lookup(geometry, active), cloud(geometry, row)];
    set(svg, { width: room, height });
    for (const [name, part] of Object.entries({
      strokes: left.strokes,
      joins: points.joins,
      bold: points.bold,
    }))
      set(layers[name], { d: part });
    if (drawn !== geometry)
      for (const name of ["cells", "rows", "frames"])
        fill(layers[name], left[name], "rect");
    drawn = geometry;
    fill(layers.links, left.links, "path");
    fill(layers.dots, points.dots, "path");
    fill(layers.texts, [...left.texts, ...points.texts], "text");
    grid.draw({
      ...places(geometry, points.spots, active?.[1] ?? 0),
      text: (cell) => sentence(geometry, cell),
    });
  };
  return { node, draw };
}

function lists(ui) {
  const [boxes, dots, texts] = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, boxes, dots, texts);
  const choice = ui.select({
    label: "Nearest to",
    options: ({ words }) => words.map((word, row) => [row, tokenText(word, 12)]),
    get: ({ selected, tokens }) => selected[0] ?? tokens[0] ?? 0,
    set: (row) => ({ selected: [row, 0] }),
  });
  const node = h(
    "div",
    { class: "panel walk" },
    choice,
    h("span", { text: "by cosine" }),
    svg,
  );
  const draw = (geometry, active) => {
    const {
      room,
      picked,
      table: rows,
      state: { tables, steps, step },
    } = geometry;
    const row = active?.[0] ?? picked;
    const two = tables.length > 1;
    const wide = two ? (room - 16) / 2 : Math.min(room, 400);
    const columns = two
      ? [
          [tables[0], when(steps[0]), 0],
          [rows, when(step), wide + 16],
        ]
      : [[rows, "", 0]];
    const shapes = columns.map(([rows, title, left]) => {
      const shape = ranking(geometry, rows, row, left, wide);
      shape.texts.push({
        x: left,
        y: 12,
        text: title,
        class: "strong",
        "text-anchor": "start",
      });
      return shape;
    });
    const all = (part) => shapes.flatMap((shape) => shape[part]);
    set(svg, {
      width: room,
      height: 124,
      "aria-label": sentence(geometry, [row, active?.[1] ?? 0]),
    });
    fill(boxes, all("boxes"), "rect");
    fill(dots, all("dots"), "path");
    fill(texts, all("texts"), "text");
  };
  return { node, draw };
}

function build(ui) {
  const [own, note] = field(ui);
  const [whole, below] = [main(ui), lists(ui)];
  return {
    controls: [
      own,
      ui.choice({
        label: "Output by",
        trait: "view",
        options: [
          ["lookup", "row lookup"],
          ["one-hot", "one-hot × W"],
        ],
      }),
      note,
    ],
    formula: {
      equation: ({ view }) =>
        view === "lookup"
          ? [
              ["output", "output"],
              " = ",
              ["table", "W"],
              "[",
              ["tokens", "tokens"],
              "]",
            ]
          : [
              ["output", "output"],
              " = ",
              ["tokens", "one-hot(tokens)"],
              " × ",
              ["table", "W"],
            ],
      code: ({ view, words }) =>
        view === "lookup"
          ? ["F.embedding(", ["tokens", "tokens"], ", ", ["table", "W"], ")"]
          : [
              ["tokens", `F.one_hot(tokens, ${words.length}).float()`],
              " @ ",
              ["table", "W"],
            ],
    },
    picture: [whole.node, training(ui), below.node],
    draw(geometry) {
      for (const { draw } of [whole, below]) draw(geometry, ui.active());
    },
  };
}

export default {
  name: "embedding_lookup",
  title: "Embedding lookup",
  tip:
    "scroll down, choose “ten” in “Nearest to”, and pull Training to its start. Which words come " +
    "near it as you pull it back? Then type words of your own.",
  traits: [
    "words",
    "groups",
    "about",
    "tables",
    "steps",
    "step",
    "tokens",
    "view",
    "selected",
  ],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
