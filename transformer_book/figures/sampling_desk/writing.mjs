// Texts in pieces: the text that is read, and the greedy trap.
import { fill, panel, percent, s, set } from "../kit/index.mjs";
import { flow } from "./layout.mjs";
import { LONGER, writeOn } from "./model.mjs";
import { isDone, tail } from "./text.mjs";

/** A text takes nothing over from the one that stood in its node. */
export const plain = (text) => ({
  class: null,
  "text-anchor": null,
  "data-part": null,
  ...text,
});

/** Boxes, then lines, then texts. */
export function paint([rects, lines, words], { boxes, paths, texts }) {
  fill(rects, boxes, "rect");
  fill(lines, paths, "path");
  fill(words, texts.map(plain), "text");
}

/** A picture of pieces of text below a title. */
export function writing(title) {
  const svg = s("svg", { role: "img" }, s("g"), s("g"), s("g"));
  const { node, note } = panel(title, svg);
  const draw = (shape, { width, height, said, label }) => {
    set(svg, { width, height, "aria-label": label });
    set(note, { text: said });
    paint(svg.children, shape);
  };
  return { node, draw };
}

/** The end of the text that was read, what follows it, and that it would go on. */
const continued = ({ read, state }, { ids, repeats }) => [
  { text: tail(read), kind: "quiet" },
  ...ids.map((id, i) => ({ text: state.tokens[id], kind: repeats[i] && "again" })),
  { text: "…" },
];

/** One of the two continuations; `wide`: the room that a token takes, about. */
function continuation(kind, title, wide) {
  const { node, draw: show } = writing(title);
  const draw = (geometry) => {
    const { trap: found, room } = geometry;
    const half = room < 620 ? room : Math.floor((room - 24) / 2);
    const said = found?.[kind];
    const all = said?.ids ? continued(geometry, said) : [];
    const shape = flow(all, half, 99);
    set(node, { hidden: !found, style: `width:${half}px` });
    show(shape, {
      width: half,
      height: Math.max(shape.height, 24 * Math.ceil((LONGER * wide) / half)),
      said: said?.ids ? `${percent(said.share)} repeats, underlined` : "not started",
      label: `${kind}: ${all.map(({ text }) => text).join("")}`,
    });
  };
  return { node, draw };
}

/** Greedy and sampled, side by side; writes on while something is missing. */
export function trap(ui) {
  // tokens that are repeated are long
  const both = [
    continuation("greedy", "Greedy", 30),
    continuation("sampled", "Sampled", 22),
  ];
  let waits = false;
  const later = () => {
    waits = false;
    if (ui.state().trap && writeOn(ui.state())) ui.repaint();
  };
  const draw = (geometry) => {
    for (const one of both) one.draw(geometry);
    if (waits || !geometry.trap || isDone(geometry.trap)) return;
    waits = true;
    setTimeout(later);
  };
  return { nodes: both.map(({ node }) => node), draw };
}
