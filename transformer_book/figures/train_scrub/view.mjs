// TrainScrub: predict when a model learns to repeat, then drag its training step.
import { fill, h, number, pad, panel, s, set, tokenText } from "../kit/index.mjs";
import { course, onChange } from "./curves.mjs";
import { layout, map, sample } from "./layout.mjs";
import { goTo } from "./numbers.mjs";
import { pytorch, sentence, table, weight } from "./text.mjs";

/** The text and what the model says for it. */
function answers() {
  const [boxes, texts, brackets] = [s("g"), s("g"), s("path", { class: "axes" })];
  const svg = s("svg", { role: "img" }, boxes, brackets, texts);
  const { node, note } = panel("What the model predicts next", svg);
  const draw = onChange((geometry) => {
    const shape = sample(geometry, geometry.room);
    set(note, {
      text: `${geometry.foreseen[geometry.state.frame]} of ${geometry.n - 1} correct`,
    });
    set(svg, { width: shape.width, height: shape.height, "aria-label": shape.label });
    set(brackets, { d: shape.brackets });
    fill(boxes, shape.boxes, "rect");
    fill(texts, shape.texts, "text");
  });
  return { node, draw };
}

/** One head's map; the cells that its score is the mean of are outlined. */
function headMap(ui, which, title) {
  const [boxes, texts, stripe] = [
    s("g", { "shape-rendering": "crispEdges" }),
    s("g"),
    s("g"),
  ];
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, boxes, stripe, texts));
  const { node, note } = panel(title, svg);
  const grid = pad(ui, svg, {
    label: title,
    to: (cell) => [which, ...cell],
    from: ([of, ...cell]) => (of === which ? cell : null),
  });
  svg.append(grid.node);
  let shape = null;
  const drawMap = onChange((geometry) => {
    const { room, state, scores } = geometry;
    shape =
      room < 560
        ? map(geometry, which, room, 330)
        : map(geometry, which, (room - 24) / 2, 230);
    set(note, {
      text: `${tokenText(state.heads[which], 30)}, score ${number(scores[state.frame][which])}`,
    });
    set(svg, { width: shape.width, height: shape.height });
    fill(stripe, shape.stripe, "rect");
    fill(boxes, shape.boxes, "rect");
    fill(texts, shape.texts, "text");
  });
  const draw = (geometry) => {
    drawMap(geometry);
    grid.draw({ ...shape, text: (cell) => weight(geometry, [which, ...cell]) });
  };
  return { node, draw };
}

const locked = ({ selected }) => (selected.length ? selected : null);

/** The training: under the curves, as the prediction comes first. */
function training(ui) {
  const slider = ui.slider({
    label: "Training step",
    min: 0,
    max: ui.state().record.steps.length - 1,
    step: 1,
    format: (k) => String(ui.state().record.steps[k]),
    get: ({ frame }) => frame,
    set: (k, state) => goTo(() => k)(state),
  });
  ui.bind(({ record }) =>
    set(slider.querySelector("input"), { max: record.steps.length - 1 }),
  );
  const node = h(
    "div",
    { class: "controls walk" },
    slider,
    ui.button({
      label: "Back",
      action: goTo((k) => k - 1),
      disabled: ({ frame }) => frame === 0,
    }),
    ui.button({
      label: "Step",
      action: goTo((k) => k + 1),
      disabled: ({ frame, record }) => frame === record.steps.length - 1,
    }),
  );
  return { node, draw() {} };
}

function build(ui) {
  const parts = [
    course(ui),
    training(ui),
    answers(),
    headMap(ui, 0, "Previous-token head"),
    headMap(ui, 1, "Induction head"),
  ];
  return {
    controls: [],
    picture: parts.map(({ node }) => node),
    draw(geometry) {
      for (const { draw } of parts) draw(geometry);
    },
  };
}

export default {
  name: "train_scrub",
  title: "A training run, step by step",
  tip:
    "a model reads random tokens, then the same tokens again. At which training step will it predict " +
    "the second copy? Drag the mark there first. Then train with the slider under the curves, which " +
    "reveals the answer. Does it come gradually or suddenly?",
  keys: "; on the mark, arrows move your prediction",
  traits: ["record", "frame", "seen", "predicted", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
