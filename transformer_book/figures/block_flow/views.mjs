// What BlockFlow shows: one token's stream, and a stack of random blocks.
import { fill, grid, h, join, panel, s, set } from "../kit/index.mjs";
import { around, row } from "./layout.mjs";
import { caption, sentenceOf } from "./text.mjs";

/** The stream: one tab stop, a row for each layer. */
export function streamView(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "The stream, layer by layer" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One token's stream", svg);
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1],
    locked: ui.locked,
    hover: ui.hover,
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  const create = () =>
    s(
      "g",
      { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g"), s("g")),
      s(
        "g",
        { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }),
        s("rect", { class: "halo" }),
        s("rect", { class: "ring" }),
      ),
    );
  function draw(geometry) {
    const { flow, frame: at } = geometry;
    const outside = around(geometry);
    count = flow.lengths.length;
    set(svg, { width: at.room, height: at.height });
    set(note, {
      text: "each layer adds: at 0° more of the same, at 90° all new, beyond it takes away. The lens reads as if at the end",
    });
    fill(paths, outside.paths, "path");
    fill(texts, outside.texts, "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    join(
      body,
      flow.lengths,
      (_, r) => r,
      create,
      ({ children: [shape, cell] }, _, r) => {
        const { part, paths: strokes, bars, texts: words, box } = row(geometry, r);
        set(shape, { "data-part": part });
        fill(shape.children[0], bars, "rect");
        fill(shape.children[1], strokes, "path");
        fill(shape.children[2], words, "text");
        set(cell, {
          "data-row": r,
          "aria-selected": String(hold === r),
          "aria-label": sentenceOf(flow, r),
          class: [hold === r && "locked", active === r && "active"].join(" "),
        });
        for (const rect of cell.children) set(rect, box);
      },
    );
    cells.update();
  }
  return { node, draw };
}

/** The random stack: a switch, its band and bars, and what they mean. */
export function stackView(ui) {
  const parts = [s("g"), s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel("A stack of random blocks", svg);
  const kinds = [
    ["pre", "pre-norm"],
    ["post", "post-norm"],
  ];
  const choice = ui.choice({ label: "Norm", trait: "residual", options: kinds });
  const said = h("p", { class: "stack" });
  node.prepend(h("div", { class: "switch" }, node.firstChild, choice));
  node.append(said);
  node.classList.add("more");
  function draw({ state: { residual, stacks }, stack: shape }) {
    const text = caption(residual, stacks[residual]);
    set(note, { text: "not trained" });
    set(svg, { width: shape.width, height: shape.height, "aria-label": text });
    fill(parts[0], shape.paths, "path");
    fill(parts[1], shape.bars, "rect");
    fill(parts[2], shape.texts, "text");
    set(said, { text });
  }
  return { node, draw };
}
