// EmbeddingLookup: an embedding is a row lookup, and nearness is learned.
import { fill, h, pad, s, set, tokenText } from "../kit/index.mjs";
import { cloud } from "./cloud.mjs";
import { ownWords, trainingSlider } from "./controls.mjs";
import { layout, pickedRow, places, ranking } from "./layout.mjs";
import { lookup } from "./lookup.mjs";
import { pytorch, sentence, table, when } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

/** Table, output and points, in one picture with one tab stop. */
function tableView(ui) {
  const layers = {
    cells: s("g"),
    strokes: s("path", { class: "strokes" }),
    rows: s("g"),
    links: s("g"),
    joins: s("path", { class: "joins" }),
    bold: s("path", { class: "bold" }),
    dots: s("g"),
    texts: s("g"),
    frames: s("g"),
  };
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, ...Object.values(layers)));
  const node = h("div", { class: "panel" }, h("div", { class: "scroll" }, svg));
  const same = (cell) => cell;
  const cells = pad(ui, svg, { label: "Rows of the table", to: same, from: same });
  svg.append(cells.node);
  let drawn = null; // the shades change with the state only
  const draw = (geometry, active) => {
    const { room, frame, picked } = geometry;
    const left = lookup(geometry, active);
    const points = cloud(geometry, active?.[0] ?? picked);
    set(svg, { width: room, height: frame.height });
    set(layers.strokes, { d: left.strokes });
    set(layers.joins, { d: points.joins });
    set(layers.bold, { d: points.bold });
    if (drawn !== geometry) {
      fill(layers.cells, left.cells, "rect");
      fill(layers.rows, left.rows, "rect");
      fill(layers.frames, left.frames, "rect");
    }
    drawn = geometry;
    fill(layers.links, left.links, "path");
    fill(layers.dots, points.dots, "path");
    fill(layers.texts, [...left.texts, ...points.texts], "text");
    cells.draw({
      ...places(geometry, points.spots, active?.[1] ?? 0),
      text: (cell) => sentence(geometry, cell),
    });
  };
  return { node, draw };
}

const nearestSelect = (ui) =>
  ui.select({
    label: "Nearest to",
    options: ({ words }) => words.map((word, row) => [row, tokenText(word, 12)]),
    get: pickedRow,
    set: (row) => ({ selected: [row, 0] }),
  });

/** The lists of nearest words: at first and now, or one if there is one table. */
function columnsOf({ room, table: now, state: { tables, steps, step } }) {
  if (tables.length === 1)
    return [{ rows: now, title: "", left: 0, wide: Math.min(room, 400) }];
  const wide = (room - 16) / 2;
  return [
    { rows: tables[0], title: when(steps[0]), left: 0, wide },
    { rows: now, title: when(step), left: wide + 16, wide },
  ];
}

function nearestView(ui) {
  const [boxes, dots, texts] = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, boxes, dots, texts);
  const by = h("span", { text: "by cosine" });
  const node = h("div", { class: "panel walk" }, nearestSelect(ui), by, svg);
  const draw = (geometry, active) => {
    const row = active?.[0] ?? geometry.picked;
    const shapes = columnsOf(geometry).map(({ rows, title, left, wide }) => {
      const shape = ranking(geometry, rows, row, left, wide);
      const props = { class: "strong", "text-anchor": "start" };
      shape.texts.push({ x: left, y: 12, text: title, ...props });
      return shape;
    });
    const label = sentence(geometry, [row, active?.[1] ?? 0]);
    set(svg, { width: geometry.room, height: 124, "aria-label": label });
    fill(
      boxes,
      shapes.flatMap((shape) => shape.boxes),
      "rect",
    );
    fill(
      dots,
      shapes.flatMap((shape) => shape.dots),
      "path",
    );
    fill(
      texts,
      shapes.flatMap((shape) => shape.texts),
      "text",
    );
  };
  return { node, draw };
}

const TOKENS = ["tokens", "tokens"];
const TABLE = ["table", "W"];
const OUTPUT = ["output", "output"];

const FORMULAS = {
  lookup: {
    equation: () => [OUTPUT, " = ", TABLE, "[", TOKENS, "]"],
    code: () => ["F.embedding(", TOKENS, ", ", TABLE, ")"],
  },
  "one-hot": {
    equation: () => [OUTPUT, " = ", ["tokens", "one-hot(tokens)"], " × ", TABLE],
    code: ({ words }) => [
      ["tokens", `F.one_hot(tokens, ${words.length}).float()`],
      " @ ",
      TABLE,
    ],
  },
};

function build(ui) {
  const [own, note] = ownWords(ui);
  const [whole, below] = [tableView(ui), nearestView(ui)];
  const by = ui.choice({
    label: "Output by",
    trait: "view",
    options: [
      ["lookup", "row lookup"],
      ["one-hot", "one-hot × W"],
    ],
  });
  const { training, about } = trainingSlider(ui);
  const [stage, later] = [h("div"), h("div")];
  return {
    controls: [own, training, note],
    more: [by],
    formula: {
      equation: (state) => FORMULAS[state.view].equation(),
      code: (state) => FORMULAS[state.view].code(state),
    },
    picture: [stage],
    below: [later, about],
    draw(geometry) {
      // a phone shows the nearest words first: the table is as long as its vocabulary
      const [first, second] = geometry.room < 480 ? [below, whole] : [whole, below];
      if (first.node.parentNode !== stage) {
        stage.append(first.node);
        later.append(second.node);
      }
      whole.draw(geometry, ui.active());
      below.draw(geometry, ui.active());
    },
  };
}

export default {
  name: "embedding_lookup",
  title: "Embedding lookup",
  steps: [
    {
      say: "Type number words, like seven: each copies its row of the table W. Whose rows are nearest to the first word's?",
    },
    {
      say: "Drag Training, if shown, to the start and back. Which words move close to the pinned one?",
      set: ({ words }) => ({ selected: [Math.max(0, words.indexOf("ten")), 0] }),
    },
    {
      say: "Under More, choose one-hot × W: a product that picks the same rows. Which of the two is less work?",
    },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked: ({ selected }) => (selected.length ? selected : null),
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
