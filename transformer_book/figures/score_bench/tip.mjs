// The tip of a vector in the plane of ScoreBench.
import { number, s, set } from "../kit/index.mjs";
import { SPAN } from "./layout.mjs";
import { apart } from "./text.mjs";

const EDGE = 20 * SPAN;
const MOVES = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
  PageUp: [0, 10],
  PageDown: [0, -10],
  Home: [-EDGE, 0],
  End: [EDGE, 0],
};

/** The tip of a vector: drag it, or move it by keys, arrows by a tenth. */
export function tip(ui, trait, letter, kind) {
  const shape =
    kind === "q"
      ? s("circle", { r: 11, class: "knob q" })
      : s("rect", { x: -10, y: -10, width: 20, height: 20, rx: 4, class: "knob k" });
  const node = s(
    "g",
    {
      role: "slider",
      tabindex: "0",
      class: "tip",
      "aria-label": `${trait} vector`,
      "aria-valuemin": -180,
      "aria-valuemax": 180,
    },
    s("circle", { r: 22, fill: "transparent" }),
    shape,
    s("text", { class: "letter", text: letter, "text-anchor": "middle" }),
  );
  let axes = null;
  const put = (place) => {
    const tenth = place.map(
      (x) => Math.max(-10 * SPAN, Math.min(10 * SPAN, Math.round(10 * x))) / 10,
    );
    if (String(tenth) !== String(ui.state()[trait])) ui.set({ [trait]: tenth });
  };
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    node.setPointerCapture(event.pointerId);
    node.focus({ preventScroll: true });
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (!node.hasPointerCapture(event.pointerId)) return;
    const { left, top } = node.ownerSVGElement.getBoundingClientRect();
    put([axes.x.invert(event.clientX - left), axes.y.invert(event.clientY - top)]);
  });
  node.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    if (!move || event.altKey || event.metaKey || event.ctrlKey) return;
    put(ui.state()[trait].map((x, i) => x + move[i] / 10));
    event.preventDefault();
  });
  const draw = (shape, at, vector, alignment) => {
    axes = shape;
    const [a, b] = vector;
    set(node, {
      transform: `translate(${at[0]} ${at[1]})`,
      "aria-valuenow": Math.round((Math.atan2(b, a) * 180) / Math.PI),
      "aria-valuetext": `${number(a, 1)} across, ${number(b, 1)} up; ${apart(alignment)}, score ${number(alignment.score)}`,
    });
  };
  return { node, draw };
}
