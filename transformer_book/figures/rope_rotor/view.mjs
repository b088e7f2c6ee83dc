// RoPERotor: a query and a key turn with their positions; the dot product sees m − n only.
import { commas, fill, grid, h, join, number, panel, s, set } from "../kit/index.mjs";
import { clocks, curve, layout } from "./layout.mjs";
import { LAST } from "./numbers.mjs";
import { positionTrack } from "./position_track.mjs";
import { readout } from "./readout.mjs";
import { pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const inside = (x, low, high) => x >= low && x <= high;

/** The held pair as a cell of the clocks; a state may hold one that is not there. */
const locked = ({ pair, query }) =>
  inside(pair, 0, query.length / 2 - 1) ? [0, pair] : null;

const shiftBy = (by) => ({
  action: ({ m, n }) => ({ m: m + by, n: n + by }),
  disabled: ({ m, n }) => !inside(m + by, 0, LAST) || !inside(n + by, 0, LAST),
});

/** The two buttons, and why one of them is out. */
function shiftButtons(ui) {
  const why = h("span", { class: "name" });
  ui.bind((state) =>
    set(why, {
      text: [-5, 5].some((by) => shiftBy(by).disabled(state))
        ? `only 0 to ${LAST}`
        : "",
    }),
  );
  const on = ui.button({ label: "+ 5", ...shiftBy(5) });
  on.classList.add("go");
  return h(
    "div",
    { class: "control", role: "group", "aria-label": "Shift both by 5" },
    h("span", { class: "name", text: "Shift both by 5", "aria-hidden": "true" }),
    ui.button({ label: "− 5", ...shiftBy(-5) }),
    on,
    why,
  );
}

/** How fast the clocks turn. */
const baseSlider = (ui) =>
  ui.slider({
    label: "Base",
    min: 1,
    max: 6,
    step: 0.5,
    get: ({ base }) => Math.log10(base),
    set: (power) => ({ base: Math.round(10 ** power) }),
    format: (power) => commas(10 ** power),
  });

const newFace = () =>
  s(
    "g",
    {},
    s("circle", { class: "thin" }),
    s("path", { class: "arc", "data-part": "between" }),
    s("path", { class: "hand k", "data-part": "key" }),
    s("path", { class: "hand q", "data-part": "query" }),
    s("path", { class: "thin" }),
    s("rect", { height: 10 }),
    s("path", { class: "chalk" }),
    s("g"),
  );

function drawFace(node, { center, radius, arc, k, q, zero, bar, texts }) {
  const [circle, angle, key, query, middle, part, strokes, words] = node.children;
  set(circle, { cx: center[0], cy: center[1], r: radius });
  set(part, {
    x: bar.x,
    y: bar.y,
    width: bar.size,
    class: bar.minus ? "minus" : "plus",
  });
  for (const [path, d] of [
    [angle, arc],
    [key, k],
    [query, q],
    [middle, zero],
    [strokes, bar.strokes],
  ])
    set(path, { d });
  fill(words, texts, "text");
}

const newCell = () =>
  s(
    "g",
    { role: "gridcell", "data-row": 0 },
    ...["box", "halo", "ring"].map((name) =>
      s("rect", { class: name, rx: 6, fill: "transparent" }),
    ),
  );

const shrunk = ({ x, y, width, height }, by) => ({
  x: x + by,
  y: y + by,
  width: width - 2 * by,
  height: height - 2 * by,
});

function dials(ui) {
  const [faces, row] = [s("g", { "aria-hidden": "true" }), s("g", { role: "row" })];
  const label = "Clocks, one for each pair of dimensions";
  const svg = s("svg", {}, faces, s("g", { role: "grid", "aria-label": label }, row));
  const { node, note } = panel("Clocks", svg);
  set(note, { text: "Q solid, K dashed; + 5 turns every hand" });
  const size = () => [1, row.children.length];
  const cells = grid(node, {
    size,
    locked: () => ui.locked(),
    hover: ui.hover,
    lock: ui.lock,
  });
  const draw = (geometry) => {
    const shape = clocks(geometry, geometry.room);
    const [active, hold] = [ui.active(), ui.locked()];
    set(svg, { width: shape.width, height: shape.height });
    join(faces, shape.faces, ({ i }) => i, newFace, drawFace);
    join(
      row,
      shape.faces,
      ({ i }) => i,
      newCell,
      (cell, { box }, i) => {
        const is = (at) => at?.[1] === i;
        set(cell, {
          "data-col": i,
          "aria-label": sentence(geometry, [0, i]),
          "aria-selected": String(is(hold)),
          class:
            [is(hold) && "locked", is(active) && "active"].filter(Boolean).join(" ") ||
            null,
        });
        [0, 2, 0.5].forEach((by, child) => set(cell.children[child], shrunk(box, by)));
      },
    );
    cells.update();
  };
  return { node, draw };
}

function product() {
  const names = ["thin", "rule", "part", "total"];
  const [zero, rule, part, total] = names.map((name) => s("path", { class: name }));
  const dot = s("circle", { class: "dot", r: 5.5 });
  const texts = s("g");
  const svg = s("svg", { role: "img" }, zero, rule, part, total, dot, texts);
  const { node, note } = panel("Dot product against m − n", svg);
  const draw = (geometry, active) => {
    const {
      room,
      score,
      state: { m, n },
    } = geometry;
    const shape = curve(geometry, active, room);
    set(note, {
      text: active ? `dashed: pair ${active[1]}` : `${number(score)} at ${m - n}`,
    });
    set(svg, {
      width: room,
      height: shape.height,
      "aria-label": `Dot product ${number(score)} at m − n = ${m - n}`,
    });
    set(zero, { d: shape.zero });
    set(rule, { d: shape.rule });
    set(part, { d: shape.part });
    set(total, { d: shape.total });
    set(dot, shape.dot);
    fill(texts, shape.texts, "text");
  };
  return { node, draw };
}

function build(ui) {
  const said = readout();
  const parts = [said, dials(ui), positionTrack(ui, said), product()]; // the clocks near + 5
  const [readings, faces, ...others] = parts.map(({ node }) => node);
  return {
    controls: [shiftButtons(ui)],
    more: [baseSlider(ui)],
    formula: {
      equation: [
        "dot product = Σ ",
        ["query", "|q|", "query"],
        " ",
        ["key", "|k|", "key"],
        " cos(start + ",
        ["between", "(m − n)", "position"],
        " · frequency)",
      ],
      code: [
        ["query", "apply_rotary(q, m)", "query"],
        " @ ",
        ["key", "apply_rotary(k, n).T", "key"],
      ],
    },
    picture: [readings, faces],
    below: others,
    draw(geometry) {
      for (const { draw } of parts) draw(geometry, ui.active());
    },
  };
}

export default {
  name: "rope_rotor",
  title: "RoPE rotor",
  steps: [
    {
      say: "Press + 5: both positions grow, and every hand turns. What happens to the dot product?",
    },
    {
      say: "In Positions, drag Q alone. How does the dot move along the curve?",
    },
    {
      say: "Pick the slowest clock. Under More, drag the base to 10: how often does that pair turn now?",
    },
  ],
  keys: "; on Q or K, arrows move it by 1, Page Up and Page Down by 5",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ pair: cell ? cell[1] : -1 }),
  build,
};
