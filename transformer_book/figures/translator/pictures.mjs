// Translator's pictures: lines or a grid of where each step looks, and the next token.
import {
  cividis,
  fill,
  grid,
  h,
  inkOn,
  join,
  matrix,
  matrixFrame,
  number,
  panel,
  quote,
  s,
  set,
  tokenText,
} from "../kit/index.mjs";
import { walk } from "./controls.mjs";
import { choices, headings, lines, sources, step } from "./shapes.mjs";
import { cellSentence, rowSentence, verdict } from "./text.mjs";

/** Tokens and lines: one tab stop, a line for each step. */
export function looks(ui) {
  const [paths, boxes, texts, heads] = [
    s("g", { "data-part": "weights" }),
    s("g"),
    s("g"),
    s("g"),
  ];
  const steps = s("g", {
    role: "grid",
    "aria-label": "Steps of the decoder",
    "data-part": "next",
  });
  const svg = s(
    "svg",
    {},
    s(
      "g",
      { "aria-hidden": "true" },
      heads,
      paths,
      s("g", { "data-part": "memory" }, boxes, texts),
    ),
    steps,
  );
  const { node, note } = panel("Where each step looks", svg);
  let now = { rows: 1 };
  const hold = () =>
    now.at && ui.locked() && ui.locked()[0] < now.rows ? [ui.locked()[0], 0] : null;
  const cells = grid(node, {
    size: () => [now.rows, 1],
    locked: hold,
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
    key: walking(ui, () => now),
  });
  const create = () =>
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
  function draw(geometry) {
    now = geometry;
    const active = ui.active();
    const at = geometry.at(active)?.[0] ?? null;
    set(note, { text: geometry.heads });
    set(svg, { width: geometry.frame.room, height: geometry.frame.height });
    fill(heads, headings(geometry.frame), "text");
    fill(paths, lines(geometry, at), "path");
    const from = sources(geometry, at);
    fill(boxes, from.boxes, "rect");
    fill(texts, from.texts, "text");
    join(
      steps,
      geometry.shares,
      (_, r) => r,
      create,
      ({ firstChild: cell }, _, r) => {
        const shape = step(geometry, r);
        const held = hold()?.[0] === r;
        set(cell, {
          "data-row": r,
          "aria-selected": String(held),
          "aria-label": `${shape.text.text} ${shape.chance.text}: ${rowSentence(geometry, r)}`,
          class: [held && "locked", active && at === r && "active"].join(" "),
        });
        const [area, box, text, chance, halo, ring] = cell.children;
        set(area, shape.area);
        set(box, shape.box);
        set(text, {
          ...shape.text,
          class: r < geometry.shown ? "token query" : "token",
        });
        set(chance, { ...shape.chance, text: ` ${shape.chance.text}` });
        for (const rect of [halo, ring]) set(rect, { ...shape.area, rx: 6 });
      },
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
    title: "Where each step looks",
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

/** The most probable tokens of one step. */
export function chances(ui) {
  const parts = [s("g"), s("g")];
  const svg = s("svg", { role: "img", "data-part": "next" }, ...parts);
  const { node, note } = panel("Next token", svg);
  function draw(geometry) {
    const [r] = geometry.at(ui.active()) ?? [geometry.shown - 1];
    const { boxes, texts, width, height } = choices(geometry, r);
    set(note, { text: `chances at step ${r + 1}` });
    const all = geometry.answer.chances[r].map(
      ([token, p]) => `${quote(token)} ${number(p, 4)}`,
    );
    set(svg, { width, height, "aria-label": `Step ${r + 1}: ${all.join(", ")}` });
    fill(parts[0], boxes, "rect");
    fill(parts[1], texts, "text");
  }
  return { node, draw };
}

/** + and - step, in both pictures. */
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

/** The translation as far as it is written; what comes later keeps its room. */
export function result() {
  const [from, said, later, after] = [
    h("b"),
    h("b", { class: "said" }),
    h("span", { class: "later" }),
    h("span"),
  ];
  const node = h("p", { class: "result" }, from, " → ", said, after, later);
  const draw = ({ answer, shown, done, waiting }) => {
    const tokens = answer.target.filter((token) => token !== "<end>");
    const text = done ? answer.translation : tokens.slice(0, shown).join("");
    set(from, { text: tokenText(answer.words, 160) });
    set(said, { text: text && tokenText(text, 160) });
    set(later, { text: done ? "" : tokenText(tokens.slice(shown).join(""), 160) });
    set(after, { text: !done ? "…" : waiting ? "" : ` ${verdict(answer)}` });
  };
  return { node, draw };
}
