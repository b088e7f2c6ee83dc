// TrainScrub's curves over the steps, the mark of the prediction, and how they are dragged.
import { fill, panel, s, set } from "../kit/index.mjs";
import { curves } from "./layout.mjs";
import { goTo } from "./numbers.mjs";

/** Works only when the geometry is another: a hover alone does not change it. */
export function onChange(work) {
  let last = null;
  return (geometry) => {
    if (geometry !== last) work(geometry);
    last = geometry;
  };
}

/** The mark of the prediction: drag it, or move it with the arrow keys. */
function marker(ui) {
  const node = s(
    "g",
    {
      role: "slider",
      class: "flag",
      "aria-label": "Your prediction",
      "aria-valuemin": -1,
    },
    s("circle", { r: 22, fill: "transparent" }),
    s("circle", { r: 11, class: "knob" }),
    s("text", { text: "?", class: "sign", "text-anchor": "middle" }),
  );
  node.addEventListener("keydown", (event) => {
    const { predicted, record } = ui.state();
    const last = record.steps.at(-1);
    const by = Math.max(1, Math.round(last / 60));
    const to = {
      ArrowLeft: predicted - by,
      ArrowDown: predicted - by,
      Home: 0,
      End: last,
      Escape: -1,
      ArrowRight: Math.max(0, predicted) + by,
      ArrowUp: Math.max(0, predicted) + by,
      PageDown: predicted - 10 * by,
      PageUp: Math.max(0, predicted) + 10 * by,
    }[event.key];
    if (to === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    if (!shut)
      ui.set({
        predicted: event.key === "Escape" ? -1 : Math.max(0, Math.min(last, to)),
      });
  });
  let shut = false;
  /** @type {(geometry: any, at: number[]) => void} */
  const draw = ({ state: { predicted }, last, answered }, [x, y]) => {
    shut = answered; // who knows the answer does not predict, and cannot reach the mark
    set(node, {
      transform: `translate(${x} ${y})`,
      "aria-valuemax": last,
      "aria-valuenow": predicted,
      "aria-valuetext": predicted < 0 ? "none yet" : `step ${predicted}`,
      "aria-disabled": shut && "true",
      tabindex: !shut && "0",
    });
  };
  return { node, draw };
}

/** The step of the record that is nearest to a step of the training. */
const nearest = (steps, step) =>
  steps.reduce(
    (best, at, k) => (Math.abs(at - step) < Math.abs(steps[best] - step) ? k : best),
    0,
  );

/** A drag over the curves moves the step, and above them the prediction. */
function dragging(ui, svg, flag, shape) {
  let kind = null; // of what is dragged: "predicted" or "frame"
  let marked = false; // whether the mark itself was taken
  let still = null; // where a finger or the mark was taken, until it moves
  const follow = (event) => {
    const state = ui.state();
    const { steps } = state.record;
    const at = shape().x.invert(event.clientX - svg.getBoundingClientRect().left);
    const step = Math.round(Math.max(0, Math.min(steps.at(-1), at)));
    if (kind === "predicted") {
      if (step !== state.predicted) ui.set({ predicted: step });
      return;
    }
    const near = nearest(steps, step);
    if (near !== state.frame) ui.set(goTo(() => near)(state));
  };
  svg.addEventListener("pointerdown", (event) => {
    const y = event.clientY - svg.getBoundingClientRect().top;
    kind = y < shape().lane ? "predicted" : "frame";
    if (event.button || (kind === "predicted" && shape().answered)) return;
    // who taps the mark has not said where it should be; a finger may want to scroll the page
    marked = flag.contains(event.target);
    still = marked || event.pointerType === "touch" ? event.clientX : null;
    svg.setPointerCapture(event.pointerId);
    if (kind === "predicted") flag.focus({ preventScroll: true });
    event.preventDefault();
    if (still === null) follow(event);
  });
  svg.addEventListener("pointerup", (event) => {
    if (still !== null && !marked) follow(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!svg.hasPointerCapture(event.pointerId)) return;
    if (still !== null && Math.abs(event.clientX - still) < 6) return;
    still = null;
    follow(event);
  });
}

/** Losses and scores over the steps. */
export function course(ui) {
  const [boxes, paths, marks, dots, texts] = Array.from({ length: 5 }, () => s("g"));
  const axes = s("path", { class: "axes" });
  const flag = marker(ui);
  const picture = s(
    "g",
    { "aria-hidden": "true" },
    axes,
    boxes,
    paths,
    marks,
    dots,
    texts,
  );
  const svg = s("svg", { class: "course" }, picture, flag.node);
  const { node, note } = panel("Training", svg);
  let shape = null;
  dragging(ui, svg, flag.node, () => shape);
  const draw = onChange((geometry) => {
    shape = curves(geometry, geometry.room);
    set(note, { text: `step ${geometry.state.steps[geometry.state.frame]}` });
    set(svg, { width: geometry.room, height: shape.height });
    set(axes, { d: shape.axes });
    fill(boxes, shape.boxes, "rect");
    fill(paths, shape.paths, "path");
    fill(marks, shape.marks, "path");
    fill(dots, shape.dots, "circle");
    fill(texts, shape.texts, "text");
    flag.draw(geometry, shape.knob);
  });
  return { node, draw };
}
