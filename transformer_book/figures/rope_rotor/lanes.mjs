// The track of positions: a lane and a handle for the query, another for the key.
import { fill, h, number, panel, s, set } from "../kit/index.mjs";
import { track } from "./layout.mjs";
import { LAST } from "./text.mjs";

/**
 * m − n beside the dot product, and under each what it was before the last move: a press
 * or a whole drag, from begin() to end().
 */
export function readout() {
  const cells = [h("b"), h("b"), h("span"), h("span")];
  let [now, old, start] = [{}, null, null];
  const draw = ({ state: { m, n, query, key, base }, score }) => {
    const next = {
      of: String([query, key, base]),
      at: `${m} ${n}`,
      apart: m - n,
      dot: number(score),
    };
    if (next.of !== now.of) old = null;
    else if (next.at !== now.at) old = start ?? now;
    if (old?.at === next.at) old = null; // back where it began
    now = next;
    const stays = old?.dot === now.dot ? ", it stays" : "";
    const before = old
      ? [`before: ${old.apart}`, `before: ${old.dot}${stays}`]
      : ["", ""];
    self.before = old && `before: ${old.dot} at ${old.apart}`;
    [`m − n = ${now.apart}`, `dot product ${now.dot}`, ...before].forEach((text, i) =>
      set(cells[i], { text }),
    );
  };
  const begin = () => (start = now);
  const end = () => (start = null);
  const self = { node: h("div", { class: "both" }, ...cells), draw, begin, end };
  return self;
}

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

/** A lane: drag anywhere in it, or use the keys of a slider on its handle. */
function lane(ui, trait, label, { begin, end }) {
  const mark =
    trait === "m"
      ? s("circle", { r: 13, class: "knob q" })
      : s("rect", { x: -12, y: -12, width: 24, height: 24, rx: 4, class: "knob k" });
  const handle = s(
    "g",
    {
      role: "slider",
      tabindex: "0",
      "aria-label": label,
      "aria-valuemin": 0,
      "aria-valuemax": LAST,
    },
    mark,
    s("text", {
      class: "letter",
      text: trait === "m" ? "Q" : "K",
      "text-anchor": "middle",
    }),
  );
  const band = s("rect", { x: 0, height: 46, fill: "transparent" });
  const node = s(
    "g",
    { class: "lane", "data-part": trait === "m" ? "query" : "key" },
    band,
    s("text"),
    handle,
  );
  let x = null;
  const put = (position) => {
    const value = Math.max(0, Math.min(LAST, Math.round(position)));
    if (value !== ui.state()[trait]) ui.set({ [trait]: value });
  };
  const follow = (event) =>
    put(x.invert(event.clientX - node.ownerSVGElement.getBoundingClientRect().left));
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    node.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true }); // first: the other handle may lose it, which ends what began
    begin();
    follow(event);
    event.preventDefault();
  });
  node.addEventListener("pointermove", (event) => {
    if (node.hasPointerCapture(event.pointerId)) follow(event);
  });
  handle.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.metaKey || event.ctrlKey) return;
    if (!event.repeat) begin();
    put(ui.state()[trait] + step);
    event.preventDefault();
  });
  for (const type of ["pointerup", "pointercancel"]) node.addEventListener(type, end);
  for (const type of ["keyup", "blur"]) handle.addEventListener(type, end);
  const draw = (shape, room, scale) => {
    x = scale;
    set(band, { y: shape.y - 23, width: room });
    set(node.children[1], shape.label);
    set(handle, {
      transform: `translate(${shape.x} ${shape.y})`,
      "aria-valuenow": shape.at,
    });
  };
  return { node, draw };
}

export function positions(ui, said) {
  const [axes, gap, texts] = [
    s("path", { class: "thin" }),
    s("path", { class: "gap", "data-part": "between" }),
    s("g"),
  ];
  const lanes = [
    lane(ui, "m", "Query position m", said),
    lane(ui, "n", "Key position n", said),
  ];
  const svg = s(
    "svg",
    {},
    s("g", { "aria-hidden": "true" }, axes, gap, texts),
    ...lanes.map(({ node }) => node),
  );
  const { node, note } = panel("Positions", svg);
  const draw = (geometry) => {
    const { state, room } = geometry;
    const shape = track(state, room);
    set(note, { text: said.before ?? "drag Q and K" });
    set(svg, { width: room, height: shape.height });
    set(axes, { d: shape.axes });
    set(gap, { d: shape.gap });
    fill(texts, shape.texts, "text");
    lanes.forEach(({ draw: put }, i) => put(shape.lanes[i], room, shape.x));
  };
  return { node, draw };
}
