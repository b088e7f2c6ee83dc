// TrainScrub: predict when a model learns to repeat, then drag its training step.
import { fill, number, pad, panel, s, set, tokenText } from "../kit/index.mjs";
import { course, onChange } from "./curves.mjs";
import { layout, map, sample } from "./layout.mjs";
import { goTo } from "./numbers.mjs";
import { pytorch, sentence, table, weight } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

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

/** The training: its steps one by one, and the slider over all of them. */
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
  const back = ui.button({
    label: "Back",
    action: goTo((k) => k - 1),
    disabled: ({ frame }) => frame === 0,
  });
  const on = ui.button({
    label: "Step",
    action: goTo((k) => k + 1),
    disabled: ({ frame, record }) => frame === record.steps.length - 1,
  });
  on.classList.add("go");
  return { controls: [back, on], more: [slider] };
}

function build(ui) {
  const parts = [
    course(ui),
    answers(),
    headMap(ui, 0, "Previous-token head"),
    headMap(ui, 1, "Induction head"),
  ];
  const [curves, ...others] = parts.map(({ node }) => node);
  return {
    ...training(ui),
    picture: [curves],
    below: others,
    draw(geometry) {
      for (const { draw } of parts) draw(geometry);
    },
  };
}

export default {
  name: "train_scrub",
  title: "A training run, step by step",
  steps: [
    {
      say: "Random letters are read twice. When does the second copy's loss fall below half the first's? Guess: drag ?, press Step.",
    },
    {
      say: "Now train further: press Step, or drag over the curves. Does the loss of the copy fall gradually or suddenly?",
    },
    {
      say: "Compare the curves of the two head scores. How do they rise as the loss of the copy falls?",
    },
  ],
  keys: "; on the mark, arrows move your prediction",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
