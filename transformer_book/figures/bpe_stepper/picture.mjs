// A titled picture of rectangles, lines and texts.
import { fill, panel, s, set } from "../kit/index.mjs";

/** All attributes of a text, as `fill` keeps those that are not named. */
export const textAttributes = ({
  text,
  x,
  y,
  class: kind = null,
  "text-anchor": anchor = null,
}) => ({ text, x, y, class: kind, "text-anchor": anchor });

/** Its node, and draw(shapes, what stands beside the title, what the picture is called). */
export function picture(title, part) {
  const [boxes, paths, texts] = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, boxes, paths, texts);
  const { node, note } = panel(title, svg);
  set(svg, { "data-part": part });
  const draw = (shapes, words, label) => {
    set(svg, { width: shapes.width, height: shapes.height, "aria-label": label });
    set(note, { text: words });
    fill(boxes, shapes.boxes ?? [], "rect");
    fill(paths, shapes.paths ?? [], "path");
    fill(texts, shapes.texts.map(textAttributes), "text");
  };
  return { node, draw };
}
