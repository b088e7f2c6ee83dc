// The track of positions: a lane and a handle for the query, another for the key.
import { fill, panel, s, set } from "../kit/index.mjs";
import { track } from "./layout.mjs";
import { LAST } from "./numbers.mjs";

const STEPS = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -5,
  PageUp: 5,
  Home: -LAST,
  End: LAST,
};

const LANES = {
  m: {
    part: "query",
    label: "Query position m",
    letter: "Q",
    knob: () => s("circle", { r: 13, class: "knob q" }),
  },
  n: {
    part: "key",
    label: "Key position n",
    letter: "K",
    knob: () =>
      s("rect", { x: -12, y: -12, width: 24, height: 24, rx: 4, class: "knob k" }),
  },
};

const newHandle = ({ label, letter, knob }) =>
  s(
    "g",
    {
      role: "slider",
      tabindex: "0",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": LAST,
    },
    knob(),
    s("text", { class: "letter", text: letter, "text-anchor": "middle" }),
  );

/** Moves by dragging anywhere in a lane; at(event) puts the handle there. */
function dragging(node, handle, at, { begin, end }) {
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    node.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true }); // first: the other handle may lose it, which ends what began
    begin();
    at(event);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) at(event);
  });
  for (const type of ["pointerup", "pointercancel"]) node.addEventListener(type, end);
}

/** Moves by the keys of a slider; by(step) goes on. */
function stepping(handle, by, { begin, end }) {
  handle.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.metaKey || event.ctrlKey) return;
    if (!event.repeat) begin();
    by(step);
    event.preventDefault();
  });
  for (const type of ["keyup", "blur"]) handle.addEventListener(type, end);
}

/** A lane: drag anywhere in it, or use the keys of a slider on its handle. */
function lane(ui, trait, move) {
  const handle = newHandle(LANES[trait]);
  const band = s("rect", { x: 0, height: 46, fill: "transparent" });
  const label = s("text");
  const props = { class: "lane", "data-part": LANES[trait].part };
  const node = s("g", props, band, label, handle);
  let x = null; // the scale of positions
  const put = (position) => {
    const value = Math.max(0, Math.min(LAST, Math.round(position)));
    if (value !== ui.state()[trait]) ui.set({ [trait]: value });
  };
  const left = () => node.ownerSVGElement.getBoundingClientRect().left;
  dragging(node, handle, (event) => put(x.invert(event.clientX - left())), move);
  stepping(handle, (step) => put(ui.state()[trait] + step), move);
  const draw = (shape, room, scale) => {
    x = scale;
    set(band, { y: shape.y - 23, width: room });
    set(label, shape.label);
    set(handle, {
      transform: `translate(${shape.x} ${shape.y})`,
      "aria-valuenow": shape.at,
    });
  };
  return { node, draw };
}

/** `move` is told when a move begins and ends, and says what stood before it. */
export function positionTrack(ui, move) {
  const axes = s("path", { class: "thin" });
  const gap = s("path", { class: "gap", "data-part": "between" });
  const texts = s("g");
  const lanes = [lane(ui, "m", move), lane(ui, "n", move)];
  const nodes = lanes.map(({ node }) => node);
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, axes, gap, texts), nodes);
  const { node, note } = panel("Positions", svg);
  const draw = ({ state, room }) => {
    const shape = track(state, room);
    set(note, { text: move.before ?? "drag Q and K" });
    set(svg, { width: room, height: shape.height });
    set(axes, { d: shape.axes });
    set(gap, { d: shape.gap });
    fill(texts, shape.texts, "text");
    lanes.forEach(({ draw: drawLane }, i) => drawLane(shape.lanes[i], room, shape.x));
  };
  return { node, draw };
}
