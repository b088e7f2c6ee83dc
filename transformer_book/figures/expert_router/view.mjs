// ExpertRouter: the figure's parts, and what its reader can do.
import { fill, hatch, join, number, pad, panel, s, set } from "../kit/index.mjs";
import { layout } from "./layout.mjs";
import { formula, pair, pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const locked = ({ selected }) => (selected.length ? selected : null);

const newCell = () =>
  s(
    "g",
    {},
    s("rect", {}),
    s("path", { class: "hatch" }),
    s("text", { "text-anchor": "middle" }),
  );

function drawCell(node, { x, y, width, height, kind, fill: color, ink, text }) {
  const [rect, lines, words] = node.children;
  set(node, { class: `choice ${kind}` });
  set(rect, { x, y, width, height, fill: color });
  set(lines, { d: kind === "dropped" ? hatch(x, y, width, height) : null });
  const shown = kind === "dropped" || width >= 26 ? text : "";
  set(words, {
    x: x + width / 2,
    y: y + height / 2,
    text: shown,
    style: `fill:${ink}`,
  });
}

/** The training step, by its number in the record. */
function walk(ui) {
  const slider = ui.slider({
    label: "Training step",
    min: 0,
    max: ui.state().steps.length - 1,
    step: 1,
    format: (k) => String(ui.state().steps[k] ?? ""),
    get: ({ frame }) => frame,
    set: (frame) => ({ frame }),
  });
  ui.bind(({ steps }) => set(slider.querySelector("input"), { max: steps.length - 1 }));
  return slider;
}

/** How many experts a token has, and how much room an expert. */
function others(ui) {
  const chosen = ui.slider({
    label: "Experts per token",
    trait: "top_k",
    min: 1,
    max: ui.state().without[0][0].length,
    step: 1,
  });
  ui.bind(({ without }) =>
    set(chosen.querySelector("input"), { max: without[0][0].length }),
  );
  return [
    chosen,
    ui.slider({
      label: "Capacity factor",
      trait: "capacity",
      min: 0.5,
      max: 4,
      step: 0.25,
      format: (x) => number(x),
    }),
  ];
}

function build(ui) {
  const [cells, bars, texts] = [s("g"), s("g", { "data-part": "load" }), s("g")];
  const even = s("path", { class: "even" });
  const still = s("g", { "aria-hidden": "true" }, cells, bars, even, texts);
  const svg = s("svg", {}, still);
  const { node, note } = panel("Experts by tokens", svg);
  const grid = pad(ui, svg, {
    label: "Experts by tokens",
    to: (cell) => cell,
    from: (active) => active,
  });
  svg.append(grid.node);
  const balance = ui.choice({
    label: "Balancing loss",
    options: [
      ["off", "off"],
      ["on", "on"],
    ],
    get: ({ balance: isOn }) => (isOn ? "on" : "off"),
    set: (word) => ({ balance: word === "on" }),
  });
  balance.classList.add("go");
  return {
    controls: [balance, walk(ui)],
    more: others(ui),
    formula,
    picture: [node],
    draw(geometry) {
      set(note, { text: `balancing loss ${number(geometry.loss)}; hatched: dropped` });
      set(svg, { width: geometry.width, height: geometry.height });
      set(even, { d: geometry.even });
      join(cells, geometry.cells, (_, i) => i, newCell, drawCell);
      fill(bars, geometry.bars, "rect");
      fill(texts, geometry.texts, "text");
      grid.draw({ ...geometry, text: (cell) => pair(geometry, cell) });
    },
  };
}

export default {
  name: "expert_router",
  title: "Expert router",
  steps: [
    {
      say: "Each column is a token, sent to its top experts. Switch the balancing loss on or off: how do the loads change?",
    },
    {
      say: "This is the start of training. Drag the step: how do the loads change?",
      set: { balance: false, frame: 0 },
    },
    {
      say: "Same start, same data, but with a balancing loss. Compare the loads: off, on.",
      set: (state) => ({ balance: true, frame: state.steps.length - 1 }),
    },
  ],
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  build,
};
