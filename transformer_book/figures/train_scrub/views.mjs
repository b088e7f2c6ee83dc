// What TrainScrub shows at one step: what the model says, and where two heads look.
import { fill, number, pad, panel, s, set, tokenText } from "../kit/index.mjs";
import { onChange } from "./course.mjs";
import { map, sample } from "./layout.mjs";
import { weight } from "./text.mjs";

/** The text and what the model says for it. */
export function answers() {
  const [boxes, texts, brackets] = [s("g"), s("g"), s("path", { class: "axes" })];
  const svg = s("svg", { role: "img" }, boxes, brackets, texts);
  const { node, note } = panel("What the model says next", svg);
  const draw = onChange((geometry) => {
    const shape = sample(geometry, geometry.room);
    set(note, {
      text: `${geometry.foreseen[geometry.state.frame]} of ${geometry.n - 1} foreseen`,
    });
    set(svg, { width: shape.width, height: shape.height, "aria-label": shape.label });
    set(brackets, { d: shape.brackets });
    fill(boxes, shape.boxes, "rect");
    fill(texts, shape.texts, "text");
  });
  return { node, draw };
}

/** One head's map; the cells that its score is the mean of are outlined. */
export function head(ui, h, title) {
  const [boxes, texts, stripe] = [
    s("g", { "shape-rendering": "crispEdges" }),
    s("g"),
    s("g"),
  ];
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, boxes, stripe, texts));
  const { node, note } = panel(title, svg);
  const grid = pad(ui, svg, {
    label: title,
    to: (cell) => [h, ...cell],
    from: ([of, ...cell]) => (of === h ? cell : null),
  });
  svg.append(grid.node);
  let shape = null;
  const drawMap = onChange((geometry) => {
    const { room, state, scores } = geometry;
    shape =
      room < 560 ? map(geometry, h, room, 330) : map(geometry, h, (room - 24) / 2, 230);
    set(note, {
      text: `${tokenText(state.heads[h], 30)}, score ${number(scores[state.frame][h])}`,
    });
    set(svg, { width: shape.width, height: shape.height });
    fill(stripe, shape.stripe, "rect");
    fill(boxes, shape.boxes, "rect");
    fill(texts, shape.texts, "text");
  });
  const draw = (geometry) => {
    drawMap(geometry);
    grid.draw({ ...shape, text: (cell) => weight(geometry, [h, ...cell]) });
  };
  return { node, draw };
}
