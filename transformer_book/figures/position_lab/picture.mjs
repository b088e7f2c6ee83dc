// A picture of PositionLab: what a shape says, drawn, with a grid over it.
import { fill, pad, panel, s, set } from "../kit/index.mjs";
import { sentence } from "./text.mjs";

/**
 * { node, label, draw(shape, geometry) }: a titled picture with a grid over it. A shape has
 * width, height, title, note; paths [[d, class, opacity, dashes], ...]; texts
 * [[x, y, text, class, anchor, part], ...]; rows, cols, pick and box for pad();
 * and what its cells mean: [kind, row, column], `row` if all are of one row.
 */
export function picture(ui, label) {
  const [paths, texts] = [s("g"), s("g")];
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts));
  const { node, note } = panel("", svg);
  let shape = null;
  const to = ([r, c]) => [shape.kind, shape.row ?? r, c];
  const from = ([kind, r, c]) =>
    kind === shape.kind ? [shape.row === undefined ? r : 0, c] : null;
  const grid = pad(ui, svg, { label, to, from });
  svg.append(grid.node);
  const draw = (next, geometry) => {
    shape = { text: (cell) => sentence(geometry, to(cell)), ...next };
    const { width, height, title } = shape;
    set(svg, { width, height });
    set(node.querySelector("b"), { text: title });
    set(note, { text: ` ${shape.note}` });
    fill(
      paths,
      shape.paths.map(([d, kind, opacity, dashes]) => ({
        d,
        class: kind,
        "fill-opacity": opacity,
        "stroke-dasharray": dashes,
      })),
      "path",
    );
    fill(
      texts,
      shape.texts.map(([x, y, text, kind, anchor = "middle", part]) => ({
        x,
        y,
        text,
        class: kind,
        "text-anchor": anchor,
        "data-part": part,
      })),
      "text",
    );
    grid.draw(shape);
  };
  return { node, label, draw };
}
