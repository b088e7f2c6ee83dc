// The three pictures: heatmap, curves below it, and the two sentences.
import { join, line, pad, panel, s, set } from "../kit/index.mjs";
import { nearest } from "./shapes.mjs";
import { amount, sentence } from "./words.mjs";

const DASHES = [null, "9 4", "2 3", "12 3 2 3", "5 2", null];

/** A text of an axis; `kind` colors it: position, query, key. */
const label = (x, y, words, kind = "", anchor = "middle", part = null) => ({
  x, y, text: words, class: kind, "text-anchor": anchor, "data-part": part,
});
const put = (node, items, tag = "text") =>
  join(node, items, (_, i) => i, () => s(tag), (child, props) => set(child, props));
const size = ({ width, height }) => ({ width, height, viewBox: `0 0 ${width} ${height}` });

function frame(title, parts) {
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, ...parts));
  return { svg, ...panel(title, svg) };
}

function shade(node, { plus, minus, ink, chalk }) {
  const side = (paths, name) =>
    paths.map((d, k) => ({ d, class: name, "fill-opacity": k / 10 })).filter(({ d }) => d);
  put(node, [
    ...side(plus, "plus"), ...side(minus, "minus"),
    { d: ink, class: "ink", "fill-opacity": null },
    { d: chalk, class: "chalk", "fill-opacity": null },
  ], "path");
}

// What a cell of the heatmap means: a number, a position with itself, a query and a key.
const CELLS = {
  cell: {
    to: ([r, c]) => ["cell", r, c],
    from: ([kind, a, b]) => (kind === "cell" ? [a, b] : null),
  },
  pair: {
    to: ([, c]) => ["pair", c, c],
    from: ([kind, , b]) => (kind === "pair" ? [0, b] : null),
  },
  bias: {
    to: ([r, c]) => ["pair", r, c],
    from: ([kind, a, b]) => (kind === "pair" ? [a, b] : null),
  },
};

/** The heatmap with its axes, its scale, and the cursor. */
export function heatPicture(ui, key) {
  const parts = [s("g"), s("path", { class: "rim" }), s("g"), s("g"), s("rect", { class: "cursor" })];
  const [cells, rim, legend, words, cursor] = parts;
  const { svg, node, note } = frame("", parts);
  const title = node.querySelector("b");
  let geometry = null;
  const mean = () => CELLS[geometry.cells];
  const grid = pad(ui, svg, {
    label: "Heatmap of positions",
    to: (cell) => mean().to(cell),
    from: (active) => mean().from(active),
    key: (event, cell) => key(event, mean().to(cell)),
  });
  svg.append(grid.node);

  function axes({ heat, cells: kind }, m) {
    const { x, y, center } = heat;
    const [left, right, low] = [x[0], x.at(-1), y.at(-1)];
    const row = kind === "bias";
    const near = (c) => !row && c !== m && Math.abs(center(c) - center(m)) < 22;
    const across = row ? "key" : "position";
    put(words, [
      ...heat.ticks.filter((c) => !near(c)).map((c) => label(center(c), low + 13, c, across)),
      ...heat.names.map((r) =>
        label(left - 7, (y[r] + y[r + 1]) / 2, r, row ? "query" : "quiet", "end")),
      row
        ? label(2, 9, "query ↓", "query", "start", "position")
        : label(2, 9, "dimension ↓", "quiet", "start", "dimension"),
      label(left, low + 30, row ? "key →" : "∿ position →", across, "start", across),
      label(center(m), low + 13, row ? "" : m, "position strong"),
      label(heat.swatch, 9, heat.low, "", "end"),
      label(right, 9, heat.high, "", "end"),
    ]);
  }
  return {
    node,
    draw(next, m) {
      geometry = next;
      const { heat, cells: kind, state, head, length, width } = geometry;
      const { x, y } = heat;
      const row = kind === "bias";
      const down = (c) => ({ x: x[c], width: x[c + 1] - x[c], y: y[0], height: y.at(-1) - y[0] });
      set(svg, size(heat));
      set(title, { text: row ? "Added to the scores" : "Added to the word vectors" });
      set(note, {
        text: row ? ` head ${head} of ${state.n_heads}` : ` shape (${length}, ${width})`,
      });
      shade(cells, heat.paths);
      shade(legend, heat.legend);
      set(rim, { d: `M${x[0]} ${y[0]}H${x.at(-1)}V${y.at(-1)}H${x[0]}z` });
      axes(geometry, m);
      set(cursor, row ? { ...heat.box([m, 0]), width: x.at(-1) - x[0] } : down(m));
      grid.draw({
        rows: kind === "pair" ? 1 : heat.lines, cols: heat.count,
        pick(px, py) {
          const cell = heat.pick(px, py);
          return cell && kind === "pair" ? [0, cell[1]] : cell;
        },
        box: (cell) => (kind === "pair" ? down(cell[1]) : heat.box(cell)),
        text: (cell) => sentence(geometry, mean().to(cell)),
      });
    },
  };
}

/** Curves of values against position, or of similarity against distance. */
export function curvePicture(ui, key) {
  const parts = [s("path", { class: "zero" }), s("path", { class: "others" }), s("path", { class: "line" }),
    s("g"), s("g"), s("g")];
  const [zero, others, rule, lines, dots, words] = parts;
  const { svg, node, note } = frame("", parts);
  const title = node.querySelector("b");
  let shape = null;
  const grid = pad(ui, svg, {
    label: "Curves",
    to: (cell) => shape.to(cell),
    from: (active) => shape.from(active),
    key: (event, cell) => key(event, shape.to(cell)),
  });
  svg.append(grid.node);
  return {
    node,
    draw(next) {
      shape = next;
      const { curves, y, bottom, left, right, at, bold } = shape;
      set(svg, size(shape));
      set(title, { text: shape.title });
      set(note, { text: ` ${shape.note}` });
      set(zero, { d: line([[left, y(0)], [right, y(0)]]) });
      set(others, { d: shape.others });
      set(rule, { d: line([[shape.cursor, 10], [shape.cursor, bottom]]) });
      put(lines, curves.map(({ d }, i) => ({
        d, class: `curve${i === bold ? " bold" : ""}`, "stroke-dasharray": DASHES[i],
      })), "path");
      put(dots, curves.map(({ points }) => points[at]).filter(Boolean).map(([cx, cy]) => ({
        cx, cy, r: 3.5, class: "dot",
      })), "circle");
      put(words, [
        ...shape.levels.map((v) => label(left - 7, y(v.value), v.text, "quiet", "end")),
        ...curves.map((curve, i) =>
          label(right + 6, curve.label, curve.key, i === bold ? "position strong" : "position", "start")),
        ...shape.ticks.map((tick) => label(tick.x, bottom + 14, tick.text, tick.kind)),
        label(left, bottom + 31, shape.axis, shape.axisKind, "start"),
      ]);
      grid.draw({
        rows: shape.rows, cols: shape.cols,
        pick(px, py) {
          const cell = nearest(shape, px, py);
          return cell && cell[0] < shape.rows ? cell : null;
        },
        box([r, c]) {
          const [px, py] = curves[r].points[c];
          return { x: px - 4, y: py - 4, width: 8, height: 8 };
        },
        text: shape.text,
      });
    },
  };
}

/** Two sentences of the same words, and what the machine gets and gives for each word. */
export function orderPicture(ui, key) {
  const parts = [s("g"), s("g"), s("g"), s("g")];
  const [above, below, links, words] = parts;
  const { svg, node, note } = frame("Input vectors", parts);
  set(note, { text: " as written and shuffled. ✓ in both sentences, ✗ new; below: how much the output changes" });
  const grid = pad(ui, svg, {
    label: "Words of the shuffled sentence",
    to: ([, place]) => ["word", place],
    from: ([kind, place]) => (kind === "word" ? [0, place] : null),
    key: (event, [, place]) => key(event, ["word", place]),
  });
  svg.append(grid.node);
  return {
    node,
    draw(geometry, active) {
      const { order: shape, words: result, state } = geometry;
      const { center, texts, tops, low, head, slanted } = shape;
      const turned = (x, y) => (slanted ? `rotate(-45 ${x} ${y})` : null);
      const token = (i, text, y, anchor) => {
        const x = center(i) + (slanted ? 3 * (anchor === "end" ? 1 : -1) : 0);
        const at = slanted ? anchor : "middle";
        return { ...label(x, y, text, "token", at), transform: turned(x, y) };
      };
      const plain = (...all) => ({ ...label(...all), transform: null });
      const places = [...texts.keys()];
      set(svg, size(shape));
      shade(above, shape.before);
      shade(below, shape.after);
      put(links, shape.links.map(({ d, same, place }) => ({
        d, class: `link${same ? "" : " broken"}${active?.[1] === place ? " bold" : ""}`,
      })), "path");
      put(words, [
        ...places.map((i) => token(i, texts[i], head - 8, "start")),
        ...places.map((i) => plain(center(i), head + 10, i, "position")),
        ...places.map((i) => plain(center(i), low + 13, i, "position")),
        ...places.map((i) => token(i, texts[state.order[i]], low + 30, "end")),
        ...places.map((i) => plain(center(i), low + head + 32, result.same[i] ? "✓" : "✗", "strong")),
        ...places.map((i) => plain(
          center(i), low + head + 54, result.change[i] < 1e-9 ? "0" : amount(result.change[i]),
          active?.[1] === i ? "strong" : "",
        )),
        ...[
          [head + 10, "∿ position", "position"], [low + 13, "∿ position", "position"],
          [low + head + 32, "input", "quiet"], [low + head + 54, "output", "quiet"],
        ].map(([y, name, kind]) => plain(0, y, name, kind, "start")),
      ]);
      grid.draw({
        rows: 1, cols: texts.length, pick: shape.pick, box: shape.box,
        text: ([, place]) => sentence(geometry, ["word", place]),
      });
    },
  };
}
