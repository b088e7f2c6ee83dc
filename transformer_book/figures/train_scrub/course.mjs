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

/** Losses and scores; a drag moves the step, and above them the prediction. */
export function course(ui) {
  const groups = ["rect", "path", "path", "circle", "text"].map((tag) => [tag, s("g")]);
  const axes = s("path", { class: "axes" });
  const flag = marker(ui);
  const svg = s(
    "svg",
    { class: "course" },
    s("g", { "aria-hidden": "true" }, axes, ...groups.map(([, group]) => group)),
    flag.node,
  );
  const { node, note } = panel("Training", svg);
  let shape = null;
  let [drag, marked, still] = [null, false, null];
  const follow = (event) => {
    const { left } = svg.getBoundingClientRect();
    const state = ui.state();
    const { steps } = state.record;
    const step = Math.round(
      Math.max(0, Math.min(steps.at(-1), shape.x.invert(event.clientX - left))),
    );
    if (drag === "predicted") {
      if (step !== state.predicted) ui.set({ predicted: step });
      return;
    }
    const near = steps.reduce(
      (best, at, k) => (Math.abs(at - step) < Math.abs(steps[best] - step) ? k : best),
      0,
    );
    if (near !== state.frame) ui.set(goTo(() => near)(state));
  };
  svg.addEventListener("pointerdown", (event) => {
    drag =
      event.clientY - svg.getBoundingClientRect().top < shape.lane
        ? "predicted"
        : "frame";
    if (event.button || (drag === "predicted" && shape.answered)) return;
    // who taps the mark has not said where it should be; a finger may want to scroll the page
    marked = flag.node.contains(event.target);
    still = marked || event.pointerType === "touch" ? event.clientX : null;
    svg.setPointerCapture(event.pointerId);
    if (drag === "predicted") flag.node.focus({ preventScroll: true });
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
  const draw = onChange((geometry) => {
    shape = curves(geometry, geometry.room);
    set(note, { text: `step ${geometry.state.steps[geometry.state.frame]}` });
    set(svg, { width: geometry.room, height: shape.height });
    set(axes, { d: shape.axes });
    [shape.boxes, shape.paths, shape.marks, shape.dots, shape.texts].forEach(
      (items, i) => fill(groups[i][1], items, groups[i][0]),
    );
    flag.draw(geometry, shape.knob);
  });
  return { node, draw };
}
