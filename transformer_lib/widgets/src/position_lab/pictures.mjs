// The three pictures: heatmap, curves below it, and the two sentences.
import { join, line, pad, panel, s, set, short } from "../kit/index.mjs";
import { curves } from "./shapes.mjs";
import { sentence } from "./words.mjs";

const DASHES = [null, "9 4", "2 3", "12 3 2 3", "5 2", null];

/** A number for a narrow place: 1.64, <.01, 0. */
const brief = (x, digits) =>
  x > 1e-9 && x < 0.5 / 10 ** digits ? `<.${"01".slice(2 - digits)}` : short(x, digits);
const put = (node, items, tag) =>
  join(node, items, (_, i) => i, () => s(tag), (child, props) => set(child, props));
/** Texts [[x, y, text, class, anchor, data-part, transform], ...]; the class is the color. */
const write = (node, texts) =>
  put(node, texts.map(([x, y, text, kind, anchor = "middle", part, transform]) => ({
    x, y, text, class: kind, "text-anchor": anchor, "data-part": part, transform,
  })), "text");

/** A titled picture with a grid: { node, parts, draw(shape, title, note, text) }. */
function picture(ui, label, tags, mean) {
  const parts = tags.map((name) => s(name === "g" ? "g" : "path", { class: name }));
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, ...parts));
  const { node, note } = panel("", svg);
  let shape = null;
  const to = (cell) => (mean ?? shape).to(cell);
  const grid = pad(ui, svg, { label, to, from: (active) => (mean ?? shape).from(active) });
  svg.append(grid.node);
  const draw = (next, title, words, geometry) => {
    shape = next;
    set(svg, { width: shape.width, height: shape.height });
    set(node.querySelector("b"), { text: title });
    set(note, { text: ` ${words}` });
    shape.text = (cell) => sentence(geometry, to(cell));
    grid.draw(shape);
  };
  return { node, parts, draw };
}

/** The heatmap with its axes, its scale, and the cursor. */
export function heatPicture(ui) {
  let alibi = false;
  const { node, parts, draw } = picture(ui, "Heatmap", ["g", "rim", "g", "g", "cursor"], {
    to: ([r, c]) => (alibi ? ["pair", r, c] : ["cell", r, c]),
    from: ([kind, a, b]) => (kind === (alibi ? "pair" : "cell") ? [a, b] : null),
  });
  const [cells, rim, legend, words, cursor] = parts;
  const frame = (x, y, right, low) => `M${x} ${y}H${right}V${low}H${x}z`;
  return {
    node,
    draw(geometry, active, m) {
      const { heat, head, state, length, width } = geometry;
      const { x, y, center, ticks, names } = heat;
      const [left, right, low] = [x[0], x.at(-1), y.at(-1)];
      alibi = geometry.alibi;
      draw(
        heat, alibi ? "Added to the scores" : "Added to the word vectors",
        alibi ? `head ${head} of ${state.n_heads}` : `shape (${length}, ${width})`,
        geometry,
      );
      put(cells, heat.paths, "path");
      put(legend, heat.legend, "path");
      set(rim, { d: frame(left, y[0], right, low) });
      set(cursor, {
        d: alibi ? frame(left, y[m], right, y[m + 1]) : frame(x[m], y[0], x[m + 1], low),
      });
      const across = alibi ? "key" : "position";
      const down = alibi ? "query" : "dimension";
      write(words, [
        ...ticks.map((c) => [center(c), low + 13, c, across]),
        ...names.map((r) => [left - 7, (y[r] + y[r + 1]) / 2, r, alibi ? down : "quiet", "end"]),
        [0, 9, `${down} ↓`, alibi ? down : "quiet", "start", down],
        [left, low + 30, `${alibi ? "" : "∿ "}${across} →`, across, "start", across],
        [heat.swatch, 9, heat.low, null, "end"],
        [right, 9, heat.high, null, "end"],
      ]);
    },
  };
}

/** Curves of values against position, or of similarity against distance. */
export function curvePicture(ui) {
  const tags = ["zero", "others", "rule", "g", "g", "g"];
  const { node, parts, draw } = picture(ui, "Curves", tags);
  const [zero, others, rule, lines, dots, words] = parts;
  return {
    node,
    draw(geometry, active, m) {
      const shape = curves(geometry, active, m);
      const { lines: drawn, x, y, left, right, at, bold, far } = shape;
      const { alibi } = geometry;
      const across = far ? "distance" : alibi ? "key" : "position";
      const kind = far ? "quiet" : across;
      const whose = `${alibi ? "query" : "position"} ${m}`;
      draw(
        shape, `${alibi ? "Bias" : far ? "Similarity" : "Value"} against ${across}`,
        far ? "thin: all others" : whose, geometry,
      );
      set(zero, { d: line([[left, y(0)], [right, y(0)]]) });
      set(others, { d: shape.others });
      set(rule, { d: `M${shape.cursor} 10V160` });
      put(lines, drawn.map(({ d }, i) => ({
        d, class: i === bold ? "curve bold" : "curve", "stroke-dasharray": DASHES[i],
      })), "path");
      put(dots, drawn.map(({ points }) => ({
        cx: points[at][0], cy: points[at][1], r: 3.5, class: "dot",
      })), "circle");
      write(words, [
        ...shape.levels.map(([value, text]) => [left - 7, y(value), text, "quiet", "end"]),
        ...drawn.map(({ name, y: at }, i) =>
          [right + 6, at, name, i === bold ? "position strong" : "position", "start"]),
        ...shape.ticks.map((n) => [x(n), 174, n, kind]),
        [left, 191, `${kind === "position" ? "∿ " : ""}${across} →`, kind, "start"],
      ]);
    },
  };
}

/** Two sentences of the same words, and what the machine gets and gives for each word. */
export function orderPicture(ui) {
  const { node, parts, draw } = picture(ui, "Words of the shuffled sentence", ["g", "g", "g"], {
    to: ([, place]) => ["word", place],
    from: ([kind, place]) => (kind === "word" ? [0, place] : null),
  });
  const [cells, links, words] = parts;
  return {
    node,
    draw(geometry, [, held]) {
      const { order: shape, words: { same, change }, state } = geometry;
      const { center, texts, end, head, slanted, digits } = shape;
      const token = (x, y, text, anchor) =>
        slanted
          ? [x + (anchor === "end" ? 3 : -3), y, text, "token", anchor, null, `rotate(-45 ${x} ${y})`]
          : [x, y, text, "token"];
      draw(
        shape, "Input vectors",
        "as written, and shuffled. ✓ in both sentences, ✗ new; below: how much the output changes",
        geometry,
      );
      put(cells, shape.paths, "path");
      put(links, shape.links.map(({ d, same: solid }, place) => ({
        d, class: `link${solid ? "" : " broken"}${held === place ? " bold" : ""}`,
      })), "path");
      write(words, [
        ...texts.flatMap((text, i) => {
          const x = center(i);
          const strong = held === i ? "strong" : null;
          return [
            token(x, head - 8, text, "start"),
            [x, head + 10, i, "position"],
            [x, end + 13, i, "position"],
            token(x, end + 30, texts[state.order[i]], "end"),
            [x, end + head + 32, same[i] ? "✓" : "✗", strong],
            [x, end + head + 54, brief(change[i], digits), strong],
          ];
        }),
        [0, head + 10, "∿ position", "position", "start"],
        [0, end + 13, "∿ position", "position", "start"],
        [0, end + head + 32, "input", "quiet", "start"],
        [0, end + head + 54, "output", "quiet", "start"],
      ]);
    },
  };
}
