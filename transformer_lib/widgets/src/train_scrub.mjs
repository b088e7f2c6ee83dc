// TrainScrub: predict when a model learns to repeat, then drag its training step.
import { figure, fill, h, number, pad, panel, s, set, tokenText } from "./kit/index.mjs";
import { atLeast0, keep, list, parts, place, rising, shares, text, whole } from "./rules/index.mjs";
import { curves, map, sample } from "./train_scrub/shapes.mjs";
import { read } from "./train_scrub/values.mjs";
import { pytorch, sentence, table, weight } from "./train_scrub/words.mjs";

export { pytorch, sentence, table };

const inside = (x, low, high) => Number.isInteger(x) && x >= low && x <= high;

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
      steps: rising(2, 60), tokens: list(text, 2, 12), first: loss, second: loss, heads: list(text, 2),
      said: list(list(text, size - 1), count), maps: list(list(list(row, size), 2), count),
    }),
    frame: whole(0, count - 1), seen: whole(0, count - 1),
    predicted: (x, name) => whole(-1, steps.at(-1))(x, name), selected: place(2, size, size),
  });
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  return { ...read(state), room };
}

export const locked = ({ selected }) => (selected.length ? selected : null);

/** To another step: what was seen stays seen. */
const goTo = (next) => ({ frame, seen, record: { steps } }) => {
  const k = Math.max(0, Math.min(steps.length - 1, next(frame)));
  return { frame: k, seen: Math.max(seen, frame, k) };
};

/** Works only when the geometry is another: a hover alone does not change it. */
function onChange(work) {
  let last = null;
  return (geometry) => {
    if (geometry !== last) work(geometry);
    last = geometry;
  };
}

/** The mark of the prediction: drag it, or move it with the arrow keys. */
function marker(ui) {
  const node = s(
    "g", { role: "slider", tabindex: "0", class: "flag", "aria-label": "Your prediction", "aria-valuemin": -1 },
    s("circle", { r: 22, fill: "transparent" }), s("circle", { r: 11, class: "knob" }),
    s("text", { text: "?", class: "sign", "text-anchor": "middle" }),
  );
  node.addEventListener("keydown", (event) => {
    const { predicted, record } = ui.state();
    const last = record.steps.at(-1);
    const by = Math.max(1, Math.round(last / 60));
    const to = {
      ArrowLeft: predicted - by, ArrowDown: predicted - by, Home: 0, End: last, Escape: -1,
      ArrowRight: Math.max(0, predicted) + by, ArrowUp: Math.max(0, predicted) + by,
      PageDown: predicted - 10 * by, PageUp: Math.max(0, predicted) + 10 * by,
    }[event.key];
    if (to === undefined || event.altKey || event.metaKey || event.ctrlKey) return;
    ui.set({ predicted: event.key === "Escape" ? -1 : Math.max(0, Math.min(last, to)) });
    event.preventDefault();
  });
  const draw = ({ state: { predicted }, last }, [x, y]) =>
    set(node, {
      transform: `translate(${x} ${y})`, "aria-valuemax": last, "aria-valuenow": predicted,
      "aria-valuetext": predicted < 0 ? "none yet" : `step ${predicted}`,
    });
  return { node, draw };
}

/** Losses and scores; a drag moves the step, and above them the prediction. */
function course(ui) {
  const groups = ["rect", "path", "path", "circle", "text"].map((tag) => [tag, s("g")]);
  const axes = s("path", { class: "axes" });
  const flag = marker(ui);
  const svg = s(
    "svg", { class: "course" },
    s("g", { "aria-hidden": "true" }, axes, ...groups.map(([, group]) => group)), flag.node,
  );
  const { node, note } = panel("Training", svg);
  let shape = null;
  let [drag, marked, still] = [null, false, null];
  const follow = (event) => {
    const { left } = svg.getBoundingClientRect();
    const state = ui.state();
    const { steps } = state.record;
    const step = Math.round(Math.max(0, Math.min(steps.at(-1), shape.x.invert(event.clientX - left))));
    if (drag === "predicted") {
      if (step !== state.predicted) ui.set({ predicted: step });
      return;
    }
    const near = steps.reduce((best, at, k) => (Math.abs(at - step) < Math.abs(steps[best] - step) ? k : best), 0);
    if (near !== state.frame) ui.set(goTo(() => near)(state));
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    drag = event.clientY - svg.getBoundingClientRect().top < shape.lane ? "predicted" : "frame";
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
    [shape.boxes, shape.paths, shape.marks, shape.dots, shape.texts].forEach((items, i) =>
      fill(groups[i][1], items, groups[i][0]));
    flag.draw(geometry, shape.knob);
  });
  return { node, draw };
}

/** The text and what the model says for it. */
function answers() {
  const [boxes, texts, brackets] = [s("g"), s("g"), s("path", { class: "axes" })];
  const svg = s("svg", { role: "img" }, boxes, brackets, texts);
  const { node, note } = panel("What the model says next", svg);
  const draw = onChange((geometry) => {
    const shape = sample(geometry, geometry.room);
    set(note, { text: `${geometry.foreseen[geometry.state.frame]} of ${geometry.n - 1} foreseen` });
    set(svg, { width: shape.width, height: shape.height, "aria-label": shape.label });
    set(brackets, { d: shape.brackets });
    fill(boxes, shape.boxes, "rect");
    fill(texts, shape.texts, "text");
  });
  return { node, draw };
}

/** One head's map; the cells that its score is the mean of are outlined. */
function head(ui, h, title) {
  const [boxes, texts, stripe] = [s("g", { "shape-rendering": "crispEdges" }), s("g"), s("g")];
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, boxes, stripe, texts));
  const { node, note } = panel(title, svg);
  const grid = pad(ui, svg, {
    label: title, to: (cell) => [h, ...cell], from: ([of, ...cell]) => (of === h ? cell : null),
  });
  svg.append(grid.node);
  let shape = null;
  const drawMap = onChange((geometry) => {
    const { room, state, scores } = geometry;
    shape = room < 560 ? map(geometry, h, room, 330) : map(geometry, h, (room - 24) / 2, 230);
    set(note, { text: `${tokenText(state.heads[h], 30)}, score ${number(scores[state.frame][h])}` });
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

/** The training: under the curves, as the prediction comes first. */
function training(ui) {
  const slider = ui.slider({
    label: "Training step", min: 0, max: ui.state().record.steps.length - 1, step: 1,
    format: (k) => String(ui.state().record.steps[k]),
    get: ({ frame }) => frame, set: (k, state) => goTo(() => k)(state),
  });
  ui.bind(({ record }) => set(slider.querySelector("input"), { max: record.steps.length - 1 }));
  const node = h("div", { class: "controls walk" },
    slider,
    ui.button({ label: "Back", action: goTo((k) => k - 1), disabled: ({ frame }) => frame === 0 }),
    ui.button({
      label: "Step", action: goTo((k) => k + 1),
      disabled: ({ frame, record }) => frame === record.steps.length - 1,
    }));
  return { node, draw() {} };
}

function build(ui) {
  const parts = [
    course(ui), training(ui), answers(),
    head(ui, 0, "Previous-token head"), head(ui, 1, "Induction head"),
  ];
  return {
    controls: [],
    picture: parts.map(({ node }) => node),
    draw(geometry) {
      for (const { draw } of parts) draw(geometry);
    },
  };
}

export default figure({
  name: "train_scrub",
  title: "A training, step by step",
  tip:
    "a model reads random tokens, then the same again. At which training step will it foresee the " +
    "second copy? Drag the mark there first: the answer is hidden until you train the model, under " +
    "the curves. Does it come slowly, or at once?",
  keys: "; on the mark, arrows move your prediction",
  traits: ["record", "frame", "seen", "predicted", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
  css: `
.say{min-height:4.6em}.controls:empty{display:none}.walk{flex:1 1 100%;margin:0}
.course{touch-action:pan-y;cursor:ew-resize}.flag{outline:none;cursor:grab}.flag *{touch-action:none}
.curve,.axes,.now,.guess,.fell,.stage{fill:none;stroke:var(--text)}.stripe{fill:none}
.axes{stroke:var(--line)}.curve{stroke-width:2.5;stroke-linejoin:round}.dashed{stroke:var(--quiet);stroke-width:2;stroke-dasharray:6 4}
.now{stroke-width:1.5}.guess{stroke:var(--position);stroke-width:2;stroke-dasharray:2 4}.fell{stroke:var(--quiet);stroke-dasharray:8 3}.stage{stroke:var(--line);stroke-dasharray:1 3}
.future{fill:var(--surface)}.unknown{font-size:44px;fill:var(--line)}
.dot{fill:var(--text)}.knob{fill:var(--position)}.sign{fill:var(--ground);font-weight:700}
.flag:focus-visible .knob{stroke:var(--text);stroke-width:3;stroke-dasharray:4 3}
.cell{fill:none;stroke:var(--line)}.cell.right{stroke:var(--text);stroke-width:2.5}
@media (forced-colors:active){.curve,.axes,.now,.guess,.fell,.stage,.cell{stroke:CanvasText}
.future{fill:Canvas}.dot,.knob{fill:CanvasText}svg text.sign.sign{fill:Canvas!important}}
@container (max-width:30rem){.say{min-height:12.2em}}
`,
});
