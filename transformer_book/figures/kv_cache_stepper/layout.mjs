// The state of KVCacheStepper, checked, and where everything stands: the two sides, their
// costs, the memory. Pure: no DOM.
import {
  check as must,
  commas,
  compact,
  hatch,
  keep,
  number,
  scale,
  tokenText,
} from "../kit/index.mjs";
import { POINTS, STEPS, keptBytes, memories, parts, shownOf } from "./costs.mjs";
import { SAME, parting, sum } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const SOURCES = {
  stored: "stored by Python",
  page: "computed in this page",
  yours: "from your Python",
};

/**
 * Where the cells of a side begin, their sizes, [rows, columns] each, and how many there
 * are: all that a text can have, or where these were too small for a finger, the last.
 */
function frame(first, half) {
  const most = Math.max(4, first) + STEPS;
  if (half < 260)
    return { start: [100, 64], size: [25, 25], count: Math.floor((half - 66) / 25) };
  const tall = Math.min(20, Math.floor((half - 94) / most));
  return { start: [86, 92], size: [14, tall], count: most };
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits, { begun: Math.sign(state.prompt_length) });
  if (state.selected[0] === 2)
    must(
      { cell: [3, memories(shownOf(state)).length, 17] },
      state.selected,
      "selected",
    );
  const { prompt_length: first, step, bug, sizes, tokens } = state;
  const { weights, pair, logits } = parts(sizes);
  const cost = (side, at) => {
    const all = first + at;
    return first && (side && at ? 1 : all) * (weights + all * pair) + logits;
  };
  const said = [tokens.slice(first), bug ? state.wrong_picks : state.picks];
  const own = state.memory === "own";
  const shown = shownOf(state);
  const half = Math.floor((room - 8) / 2);
  return {
    state,
    first,
    step,
    said,
    cost,
    shown,
    gaps: bug ? state.wrong_gaps : state.gaps,
    length: first && first + step,
    most: Math.min(STEPS, sizes.max_len - first),
    texts: said.map((words) => [...tokens.slice(0, first), ...words.slice(0, step)]),
    each: keptBytes(sizes, sizes.n_kv_heads),
    memories: memories(shown, own ? 4 : 2),
    half,
    full: room < 620 ? room : half,
    ...frame(first, half),
  };
}

const box = (x, y, width, height) => `M${x} ${y}h${width}v${height}h${-width}z`;
const path = (d, kind) => ({ d, class: kind });
const word = (x, y, text, kind, anchor) => ({
  x,
  y,
  text,
  class: kind,
  "text-anchor": anchor,
});
const many = (list, draw) => list.map(draw).join("");

/** The first row and column that are shown: they move as far as a cell asks, or to the last. */
export function follow({ count, length }, cell, from) {
  const last = Math.max(0, length - count);
  return from.map((at, i) =>
    cell ? Math.min(last, Math.max(cell[i] - count + 1, Math.min(cell[i], at))) : last,
  );
}

/** Where the cells of a side stand; its window begins at `from`, [row, column]. */
function windowOf({ count, length, start, size }, from) {
  const shown = Math.min(count, length);
  const [rows, columns] = from.map((at) =>
    Array.from({ length: shown }, (_, i) => at + i),
  );
  const place = (i, axis) => start[axis] + (i - from[axis]) * size[axis];
  return { shown, rows, columns, place };
}

/** Whether token i is computed in this step. */
const isNew = ({ step, length }, view, i) => !view || !step || i > length - 2;

/** Paths by their class: what is computed, masked, kept, gone. */
function sidePaths(geometry, view, { rows, columns, place }) {
  const { half, start, size, step, cost, most } = geometry;
  const [[top, left], [tall, wide]] = [start, size];
  const now = (i) => isNew(geometry, view, i);
  const query = (i) => box(left - 12, place(i, 0), 9, tall - 1);
  const strip = (up) => (i) => box(place(i, 1), top - up, wide - 1, 16);
  /** The scores of a row: those of later tokens, or of itself and those before it. */
  const scores = (draw, later) => (i) =>
    many(
      columns.filter((j) => j > i === later),
      (j) => draw(place(j, 1), place(i, 0), wide - 1, tall - 1),
    );
  const parts = [
    ["done", "gone", rows, scores(box, false)],
    ["query", "gone", rows, query],
    ["key", "key kept", columns, strip(40)],
    ["value", "value kept", columns, strip(22)],
  ];
  const done = scale([0, cost(0, most)], [0, half])(cost(view, step));
  return [
    path(box(0, 27, half, 9), "work"),
    path(box(0, 27, done, 9), "done"),
    path(many(rows.filter(now), scores(hatch, true)), "masked"),
    ...parts.flatMap(([kind, before, all, draw]) => [
      path(many(all.filter(now), draw), kind),
      path(
        many(
          all.filter((i) => !now(i)),
          draw,
        ),
        before,
      ),
    ]),
  ];
}

/** A query's token; marked where both sides have written different ones. */
function label(geometry, view, i, place) {
  const { start, size, texts, first } = geometry;
  const right = start[1] - 17;
  const token = texts[view][i];
  const sign = token === texts[0][i] ? "" : "✗";
  const kinds = [i < first ? "" : " strong", isNew(geometry, view, i) ? "" : " quiet"];
  return word(
    right,
    place(i, 0) + size[0] / 2 - 0.5,
    sign + tokenText(token, Math.floor(right / 8)).replaceAll(" ", "␣"),
    `token${kinds.join("")}`,
    "end",
  );
}

function sideTexts(geometry, view, { shown, rows, place }, from, low, down) {
  const { first, step, gaps, length, cost, each, start } = geometry;
  const [top, left] = start;
  const same = gaps[step] < SAME && parting(geometry) < 0;
  const verdict = view && first ? `${same ? "✓ same" : "✗ different"} logits` : "";
  const earlier = shown < length ? `↑ ${from[0]} ← ${from[1]} earlier` : "";
  return [
    word(0, 12, compact(cost(view, step)), "number strong"),
    word(left - 6, 14, "multiply-adds"),
    word(left - 14, top - 32, "K", "key strong", "end"),
    word(left - 14, top - 14, "V", "value strong", "end"),
    word(left - 2, top - 8, "Q", "query strong", "end"),
    ...rows.map((i) => label(geometry, view, i, place)),
    word(0, low, `keeps ${view ? `${compact(length * each, " ")}B` : "nothing"}`),
    word(down ? 0 : 140, low + down, verdict, "strong"),
    word(0, 49, earlier, "quiet"),
  ];
}

/** One side: { paths, texts, width, height, rows, cols, pick, near, box }. */
export function side(geometry, view, from) {
  const { half, length, count, start, size } = geometry;
  const cells = windowOf(geometry, from);
  const low = start[0] + count * size[0] + 9;
  const down = half < 260 ? 19 : 0; // the verdict stands on the same line, where it fits
  const near = (cell) => cell.map((i, axis) => Math.max(i, from[axis]));
  return {
    paths: sidePaths(geometry, view, cells),
    texts: sideTexts(geometry, view, cells, from, low, down),
    width: half,
    height: low + down + 9,
    rows: length,
    cols: length,
    pick(x, y) {
      const cell = [y, x].map((at, axis) => {
        const i = Math.floor((at - start[axis]) / size[axis]);
        return [cells.rows, cells.columns][axis][i];
      });
      return cell.every((i) => i >= 0) ? cell : null;
    },
    near,
    box(cell) {
      const [y, x] = near(cell).map(cells.place);
      return { x, y, width: size[1] - 1, height: size[0] - 1 };
    },
  };
}

/** Multiply-adds of each step on both sides, those to come in outline. */
export function bars(geometry) {
  const { full: width, step, cost, most } = geometry;
  const low = 72;
  const wide = width / (STEPS + 1);
  const y = scale([0, cost(0, most)], [low, 4]);
  const place = (at, side) => (at + side * 0.42) * wide;
  const paths = [path(`M0 ${low}H${width}`)];
  const texts = [word(0, 102, "filled without, outlined with; 0: prefill", "quiet")];
  for (let at = 0; at <= most; at++) {
    const kind = at === step ? "strong" : "quiet";
    texts.push(word(place(at, 1), low + 12, at, kind, "middle"));
    for (const side of [0, 1]) {
      const top = y(cost(side, at));
      const bar = box(place(at, side), top, wide * 0.38, low - top);
      paths.push(path(bar, at > step ? `side${side} later` : `side${side}`));
    }
  }
  return { paths, texts, width, height: low + 38 };
}

/** The axis of the lengths, the lines and their names. */
function memoryPictures(
  { state, shown, memories, length },
  { left, right, low, high, x, y },
) {
  const end = shown.max_len;
  const paths = [path(`M${left} ${low}H${right}`)];
  const texts = [
    { part: 0, anchor: undefined },
    { part: 0.5, anchor: "middle" },
    { part: 1, anchor: "end" },
  ].map(({ part, anchor }) =>
    word(x(part * end), low + 12, commas(Math.round(part * end)), "quiet", anchor),
  );
  texts.push(word(right + 6, low + 12, "tokens →", "quiet"));
  for (const { kind, own, bytes } of memories) {
    const top = y(bytes * end);
    const name = `${kind} ${compact(bytes * end, " ")}B`;
    paths.push(path(`M${left} ${low}L${right} ${top}`, own ? `${kind} own` : kind));
    texts.push(word(right + 6, top, name, own ? "strong" : "quiet"));
  }
  if (state.memory === "own") paths.push(path(`M${x(length)} ${low}V${high}`, "now"));
  return { paths, texts };
}

/** Bytes against length, a line for each way to share keys and values. */
export function memory(geometry) {
  const { full: width, shown, memories } = geometry;
  const end = shown.max_len;
  const [left, right, low, high] = [8, width - 100, 96, 12]; // a mark at the start is whole
  const x = scale([0, end], [left, right]);
  const y = scale([0, memories[0].bytes * end], [low, high]);
  const at = (column) => Math.floor((column * end) / POINTS);
  const place = ([row, column]) => [x(at(column)), y(at(column) * memories[row].bytes)];
  return {
    ...memoryPictures(geometry, { left, right, low, high, x, y }),
    width,
    height: low + 24,
    rows: memories.length,
    cols: POINTS + 1,
    pick(px, py) {
      const column = Math.round(((px - left) / (right - left)) * POINTS);
      if (column < 0 || column > POINTS || py > low + 8) return null;
      const away = memories.map((_, row) => Math.abs(place([row, column])[1] - py));
      return [away.indexOf(Math.min(...away)), column];
    },
    box(cell) {
      const [cx, cy] = place(cell);
      return { x: cx - 4, y: cy - 4, width: 8, height: 8 };
    },
  };
}

/** How the whole compares, for the title of the costs. */
export function total(geometry) {
  const [without, own] = [0, 1].map((side) => sum(geometry, side));
  return `${compact(without)} against ${compact(own)}: ${number(without / own, 1)} times so far`;
}
