// The cross-attention of each step: as lines, and as a grid.
import {
  cividis,
  fill,
  grid,
  inkOn,
  join,
  matrix,
  matrixFrame,
  number,
  panel,
  s,
  set,
  tokenText,
} from "../kit/index.mjs";
import { walk } from "./controls.mjs";
import { headings, lines, sources, step } from "./layout.mjs";
import { cellSentence, rowSentence } from "./text.mjs";

/** + and - step, in both. */
const walking =
  (ui, now) =>
  ({ key }) => {
    const by = { "+": 1, "=": 1, "-": -1 }[key];
    if (by) {
      ui.set(walk(by)(now()));
      ui.hover(null); // the sentence goes along
    }
    return Boolean(by);
  };

/** A step: the place that answers, its chip, its token, its chance, and the marks. */
const createStep = () =>
  s(
    "g",
    { role: "row" },
    s(
      "g",
      { role: "gridcell", "data-col": 0 },
      s("rect", { fill: "transparent" }),
      s("rect"),
      s("text", { "text-anchor": "middle" }),
      s("text", { class: "quiet", "text-anchor": "end" }),
      s("rect", { class: "halo" }),
      s("rect", { class: "ring" }),
    ),
  );

function drawStep(cell, geometry, r, { isHeld, isActive }) {
  const shape = step(geometry, r);
  const [area, box, text, chance, halo, ring] = cell.children;
  set(cell, {
    "data-row": r,
    "aria-selected": String(isHeld),
    "aria-label": `${shape.text.text} ${shape.chance.text}: ${rowSentence(geometry, r)}`,
    class: [isHeld && "locked", isActive && "active"].join(" "),
  });
  set(area, shape.area);
  set(box, shape.box);
  set(text, { ...shape.text, class: r < geometry.shown ? "token query" : "token" });
  set(chance, { ...shape.chance, text: ` ${shape.chance.text}` });
  for (const rect of [halo, ring]) set(rect, { ...shape.area, rx: 6 });
}

/** Tokens and lines: one tab stop, a line for each step. */
export function crossAttention(ui) {
  const paths = s("g", { "data-part": "weights" });
  const [boxes, texts, heads] = [s("g"), s("g"), s("g")];
  const memory = s("g", { "data-part": "memory" }, boxes, texts);
  const steps = s("g", {
    role: "grid",
    "aria-label": "Steps of the decoder",
    "data-part": "next",
  });
  const still = s("g", { "aria-hidden": "true" }, heads, paths, memory);
  const svg = s("svg", {}, still, steps);
  const { node, note } = panel("Cross-attention of each step", svg);
  let now = { rows: 1 };
  const hold = () => {
    const locked = now.at && ui.locked();
    return locked && locked[0] < now.rows ? [locked[0], 0] : null;
  };
  const cells = grid(node, {
    size: () => [now.rows, 1],
    locked: hold,
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
    key: walking(ui, () => now),
  });
  function draw(geometry) {
    now = geometry;
    const active = ui.active();
    const at = geometry.at(active)?.[0] ?? null;
    const from = sources(geometry, at);
    set(note, { text: geometry.heads });
    set(svg, { width: geometry.frame.room, height: geometry.frame.height });
    fill(heads, headings(geometry.frame), "text");
    fill(paths, lines(geometry, at), "path");
    fill(boxes, from.boxes, "rect");
    fill(texts, from.texts, "text");
    join(
      steps,
      geometry.shares,
      (_, r) => r,
      createStep,
      ({ firstChild: cell }, _, r) =>
        drawStep(cell, geometry, r, {
          isHeld: hold()?.[0] === r,
          isActive: active && at === r,
        }),
    );
    cells.update();
  }
  return { node, draw };
}

/** The same as a matrix: steps by source tokens. */
export function map(ui) {
  let now = null;
  const pair = ({ selected }) =>
    selected.length === 2 && selected[0] < now.rows ? selected : null;
  const inner = matrix(ui, {
    title: "Cross-attention of each step",
    label: "Steps by source tokens",
    locked: pair,
    key: walking(ui, () => now),
  });
  function draw(geometry, view) {
    now = geometry;
    const { answer, shares, shown, width, heads } = geometry;
    const names = (tokens, kind) =>
      tokens.map((token) => ({
        text: tokenText(token, 10),
        label: tokenText(token),
        kind,
      }));
    const [rows, cols] = [names(answer.target, "query"), names(answer.source, "key")];
    const texts = (all) => all.map(({ text }) => text);
    const all = matrixFrame({
      rows: texts(rows),
      cols: texts(cols),
      width,
      max: 48,
      min: 20,
    });
    const next = { text: "?", label: "next", kind: "query" };
    inner.draw(
      {
        frame: all,
        cols,
        rows: [...rows.slice(0, shown), next].slice(0, shares.length),
        note: heads + (all.width > width ? "; more →" : ""),
        cells: shares.map((row, r) =>
          row.map((x, c) => ({
            text: number(x),
            fill: cividis(x),
            ink: inkOn(x),
            area: x,
            part: "weights",
            label: `${number(x)}: ${cellSentence(geometry, r, c)}`,
          })),
        ),
      },
      view,
    );
  }
  return { node: inner.node, draw };
}
