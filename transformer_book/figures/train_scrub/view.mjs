// TrainScrub: predict when a model learns to repeat, then drag its training step.
import {
  atLeast0,
  h,
  keep,
  list,
  parts,
  place,
  rising,
  set,
  shares,
  text,
  whole,
} from "../kit/index.mjs";
import { course } from "./course.mjs";
import { goTo, read } from "./numbers.mjs";
import { answers, head } from "./views.mjs";
import { pytorch, sentence, table } from "./text.mjs";

export { pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { record } = state;
  const { steps, tokens } = record ?? {};
  const [count, size] = [steps?.length, 2 * tokens?.length];
  const loss = list(atLeast0, count);
  const row = (all, name, i) => {
    list(whole(0, 100), i + 1)(all, name);
    shares(100, 0)(all, name);
  };
  keep(state, {
    record: parts({
      steps: rising(2, 60),
      tokens: list(text, 2, 12),
      first: loss,
      second: loss,
      heads: list(text, 2),
      said: list(list(text, size - 1), count),
      maps: list(list(list(row, size), 2), count),
    }),
    frame: whole(0, count - 1),
    seen: whole(0, count - 1),
    predicted: (x, name) => whole(-1, steps.at(-1))(x, name),
    selected: place(2, size, size),
  });
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  return { ...read(state), room };
}

export const locked = ({ selected }) => (selected.length ? selected : null);

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
    head(ui, 0, "Previous-token head"),
    head(ui, 1, "Induction head"),
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
  title: "A training, step by step",
  tip:
    "a model reads random tokens, then the same again. At which training step will it foresee the " +
    "second copy? Drag the mark there first. Then train, by the slider under the curves: the answer " +
    "is hidden until then. Does it come slowly, or at once?",
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
