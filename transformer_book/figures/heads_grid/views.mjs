// What HeadsGrid shows: all maps in small, the losses, the large maps.
import { fill, grid, inkOn, join, pad, panel, s, set } from "../kit/index.mjs";
import { largeMap } from "./layout.mjs";
import { switched } from "./numbers.mjs";
import { looks, sentence } from "./text.mjs";

const words = ([x, y, text, kind = null, anchor = "start", transform = null]) => ({
  x,
  y,
  text,
  class: kind,
  "text-anchor": anchor,
  transform,
});
const ring = () => [s("rect", { class: "halo" }), s("rect", { class: "ring" })];

/** Space switches a head. */
const space =
  (ui, headAt) =>
  ({ key }, cell) => {
    if (key !== " ") return false;
    ui.set({ off: switched(ui.state(), headAt(cell)) });
    return true;
  };

/** Every head's map, one tab stop. */
export function gallery(ui) {
  const body = s("g", { role: "grid", "aria-label": "Heads: layers and heads" });
  const maps = s("g", { "aria-hidden": "true" });
  const svg = s("svg", {}, maps, body);
  const { node, note } = panel("All heads", svg);
  let small = { thumbs: [], lines: 1, columns: 1 };
  const headAt = ([r, c]) => small.thumbs[r * small.columns + c]?.head;
  const placeOf = (active) => {
    const thumb = small.thumbs.find(
      ({ head }) => String(head) === String(active?.slice(1)),
    );
    return active?.[0] === "head" && thumb ? [thumb.row, thumb.col] : null;
  };
  const to = (cell) => cell && headAt(cell) && ["head", ...headAt(cell)];
  const cells = grid(node, {
    size: () => [small.lines, small.columns],
    locked: () => placeOf(ui.locked()),
    hover: (cell) => ui.hover(to(cell)),
    lock: (cell) => ui.lock(to(cell)),
    key: space(ui, headAt),
  });
  const picture = () =>
    s("g", {}, s("g"), s("path", { class: "hatch" }), s("g", { class: "caption" }));
  const place = () =>
    s("g", { role: "gridcell" }, s("rect", { fill: "transparent" }), ...ring());
  function draw(geometry, heads) {
    small = geometry.small;
    const { width, height, lines } = small;
    set(svg, { width, height });
    set(note, {
      text: "L layer, H head; a row for each query. Framed: shown large below",
    });
    set(node, { style: `width:${width}px` });
    const [active, hold] = [ui.active(), ui.locked()].map(placeOf).map(String);
    const rows = Array.from({ length: lines }, (_, r) =>
      small.thumbs.filter(({ row }) => row === r),
    );
    join(
      maps,
      [...small.thumbs, small.scale],
      (_, i) => i,
      picture,
      (map, thumb) => {
        const [paths, hatch, texts] = map.children;
        set(map, { class: thumb.off ? "off" : null });
        fill(paths, thumb.shades, "path");
        set(hatch, { d: thumb.later });
        fill(texts, thumb.texts.map(words), "text");
      },
    );
    join(
      body,
      rows,
      (_, r) => r,
      () => s("g", { role: "row" }),
      (line, thumbs) =>
        join(
          line,
          thumbs,
          (_, c) => c,
          place,
          (cell, { row, col, head, box }) => {
            const at = String([row, col]);
            const shown = heads.some((other) => String(other) === String(head));
            set(cell, {
              "data-row": row,
              "data-col": col,
              "aria-selected": String(hold === at),
              "aria-label": looks(geometry, head),
              class: [
                hold === at && "locked",
                active === at && "active",
                shown && "shown",
              ]
                .filter(Boolean)
                .join(" "),
            });
            const [ground, halo, mark] = cell.children;
            const { x, y, width, height } = box;
            for (const node of [ground, mark]) set(node, box);
            set(halo, { x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 3 });
          },
        ),
    );
    cells.update();
  }
  return { node, draw };
}

export function lossPanel() {
  const [boxes, texts] = [s("g"), s("g")];
  const svg = s("svg", { role: "img" }, boxes, texts);
  const { node, note } = panel("Loss", svg);
  set(note, { text: "nats per token" });
  const draw = ({ bars: shape }) => {
    set(svg, { width: shape.width, height: shape.height, "aria-label": shape.label });
    fill(
      boxes,
      shape.rows.map(({ bar, off }) => ({
        ...bar,
        fill: "currentColor",
        class: off ? null : "quiet",
      })),
      "rect",
    );
    fill(
      texts,
      shape.rows.flatMap((row) => row.texts.map(words)),
      "text",
    );
  };
  return { node, draw };
}

/** One head's map in full, with a grid of queries and keys over it. */
export function mapPanel(ui, label) {
  const [cells, texts] = [s("g"), s("g")];
  const [hatch, marks] = [
    s("path", { class: "hatch" }),
    s("path", { class: "marks", stroke: inkOn(0) }),
  ];
  const svg = s(
    "svg",
    {},
    s("g", { "aria-hidden": "true" }, cells, hatch, marks, texts),
  );
  const { node, note } = panel("", svg);
  const over = pad(ui, svg, {
    label,
    to: ([q, k]) => ["pair", q, k],
    from: ([kind, q, k]) => (kind === "pair" ? [q, k] : null),
    key: space(ui, () => shown),
  });
  svg.append(over.node);
  let shown = null;
  const draw = (geometry, head) => {
    shown = head;
    const shape = largeMap(geometry, head, geometry.half);
    set(svg, { width: shape.width, height: shape.height });
    set(node.querySelector("b"), { text: `${shape.title} ` });
    set(note, { text: shape.note });
    fill(cells, shape.shades, "path");
    set(hatch, { d: shape.later });
    set(marks, { d: shape.marks });
    fill(texts, shape.texts.map(words), "text");
    over.draw({
      ...shape,
      rows: shape.n,
      cols: shape.n,
      text: ([q, k]) => sentence(geometry, ["pair", q, k]),
    });
  };
  return { node, draw };
}
