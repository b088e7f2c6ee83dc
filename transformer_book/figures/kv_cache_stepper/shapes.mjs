// Where everything stands: the two sides, their costs, the memory. Pure: no DOM.
import { hatch, number, scale, tokenText } from "../kit/index.mjs";
import { commas, compact } from "../shape_ledger/text.mjs";
import { POINTS, STEPS } from "./costs.mjs";
import { SAME, parting, sum } from "./text.mjs";

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

/**
 * Where the cells of a side begin, their sizes, [rows, columns] each, and how many there
 * are: all that a text can have, or where these were too small for a finger, the last.
 */
export function frame(first, half) {
  const most = Math.max(4, first) + STEPS;
  return half < 260
    ? { start: [100, 64], size: [25, 25], count: ((half - 66) / 25) | 0 }
    : {
        start: [86, 92],
        size: [14, Math.min(20, ((half - 94) / most) | 0)],
        count: most,
      };
}

/** The first row and column that are shown: they move as far as a cell asks, or to the last. */
export function follow({ count, length }, cell, from) {
  const last = Math.max(0, length - count);
  return from.map((at, i) =>
    cell ? Math.min(last, Math.max(cell[i] - count + 1, Math.min(cell[i], at))) : last,
  );
}

/** One side: { paths, texts, width, height, rows, cols, pick, box }. */
export function side(geometry, view, from) {
  const {
    half,
    first,
    step,
    gaps,
    length,
    texts,
    cost,
    each,
    count,
    start,
    size,
    most,
  } = geometry;
  const [[top, left], [tall, wide]] = [start, size];
  const own = cost(view, step);
  const shown = Math.min(count, length);
  const lists = from.map((at) => [...Array(shown).keys()].map((i) => at + i));
  const [rows, columns] = lists;
  const place = (i, axis) => start[axis] + (i - from[axis]) * size[axis];
  const near = (cell) => cell.map((i, axis) => Math.max(i, from[axis]));
  const now = (i) => !view || !step || i > length - 2;
  const strip = (up) => (i) => box(place(i, 1), top - up, wide - 1, 16);
  const line = (draw, later) => (i) =>
    many(
      columns.filter((j) => j > i === later),
      (j) => draw(place(j, 1), place(i, 0), wide - 1, tall - 1),
    );
  const label = (i) => {
    const token = texts[view][i];
    return word(
      left - 17,
      place(i, 0) + tall / 2 - 0.5,
      (token === texts[0][i] ? "" : "✗") +
        tokenText(token, (left - 17) >> 3).replaceAll(" ", "␣"),
      `token${i < first ? "" : " strong"}${now(i) ? "" : " quiet"}`,
      "end",
    );
  };
  const low = top + count * tall + 9;
  const down = half < 260 && 19; // one line, where it fits
  const same = gaps[step] < SAME && parting(geometry) < 0;
  return {
    // by their class: what is computed, masked, kept, gone
    paths: [
      path(box(0, 27, half, 9), "work"),
      path(box(0, 27, scale([0, cost(0, most)], [0, half])(own), 9), "done"),
      path(many(rows.filter(now), line(hatch, true)), "masked"),
      ...[
        ["done", "gone", rows, line(box, false)],
        ["query", "gone", rows, (i) => box(left - 12, place(i, 0), 9, tall - 1)],
        ["key", "key kept", columns, strip(40)],
        ["value", "value kept", columns, strip(22)],
      ].flatMap(([kind, before, all, draw]) => [
        path(many(all.filter(now), draw), kind),
        path(
          many(
            all.filter((i) => !now(i)),
            draw,
          ),
          before,
        ),
      ]),
    ],
    texts: [
      word(0, 12, compact(own), "number strong"),
      word(left - 6, 14, "multiply-adds"),
      word(left - 14, top - 32, "K", "key strong", "end"),
      word(left - 14, top - 14, "V", "value strong", "end"),
      word(left - 2, top - 8, "Q", "query strong", "end"),
      ...rows.map(label),
      word(0, low, `keeps ${view ? `${compact(length * each, " ")}B` : "nothing"}`),
      word(
        down ? 0 : 140,
        low + down,
        view && first ? `${same ? "✓ the same" : "✗ other"} logits` : "",
        "strong",
      ),
      word(0, 49, shown < length ? `↑ ${from[0]} ← ${from[1]} earlier` : "", "quiet"),
    ],
    width: half,
    height: low + down + 9,
    rows: length,
    cols: length,
    pick(x, y) {
      const cell = [y, x].map(
        (at, axis) => lists[axis][Math.floor((at - start[axis]) / size[axis])],
      );
      return cell.every((i) => i >= 0) ? cell : null;
    },
    near,
    box(cell) {
      const [y, x] = near(cell).map(place);
      return { x, y, width: wide - 1, height: tall - 1 };
    },
  };
}

/** Multiply-adds of each step on both sides, those to come in outline. */
export function bars(geometry) {
  const { full: half, step, cost, most } = geometry;
  const [wide, low] = [half / (STEPS + 1), 72];
  const y = scale([0, cost(0, most)], [low, 4]);
  const place = (s, side) => (s + side * 0.42) * wide;
  const paths = [path(`M0 ${low}H${half}`)];
  const texts = [word(0, 102, "filled without, outlined with; 0: prefill", "quiet")];
  for (let s = 0; s <= most; s++) {
    texts.push(
      word(place(s, 1), low + 12, s, s === step ? "strong" : "quiet", "middle"),
    );
    for (const side of [0, 1]) {
      const top = y(cost(side, s));
      paths.push(
        path(
          box(place(s, side), top, wide * 0.38, low - top),
          `side${side} ${s > step && "later"}`,
        ),
      );
    }
  }
  return { paths, texts, width: half, height: low + 38 };
}

/** Bytes against length, a line for each way to share keys and values. */
export function memory(geometry) {
  const {
    full: half,
    shown: { max_len: end },
    memories,
    length,
    state,
  } = geometry;
  const [left, right, low, high] = [8, half - 100, 96, 12]; // a mark at the start is whole
  const x = scale([0, end], [left, right]);
  const y = scale([0, memories[0].bytes * end], [low, high]);
  const at = (column) => Math.floor((column * end) / POINTS);
  const place = ([row, column]) => [x(at(column)), y(at(column) * memories[row].bytes)];
  const paths = [path(`M${left} ${low}H${right}`)];
  const texts = [0, 0.5, 1].map((part, i) =>
    word(
      x(part * end),
      low + 12,
      commas(Math.round(part * end)),
      "quiet",
      [, "middle", "end"][i],
    ),
  );
  texts.push(word(right + 6, low + 12, "tokens →", "quiet"));
  for (const { kind, own, bytes } of memories) {
    const top = y(bytes * end);
    paths.push(path(`M${left} ${low}L${right} ${top}`, own ? `${kind} own` : kind));
    texts.push(
      word(
        right + 6,
        top,
        `${kind} ${compact(bytes * end, " ")}B`,
        own ? "strong" : "quiet",
      ),
    );
  }
  if (state.memory === "own") paths.push(path(`M${x(length)} ${low}V${high}`, "now"));
  return {
    paths,
    texts,
    width: half,
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
      const [x, y] = place(cell);
      return { x: x - 4, y: y - 4, width: 8, height: 8 };
    },
  };
}

/** How the whole compares, for the title of the costs. */
export function total(geometry) {
  const [without, own] = [0, 1].map((side) => sum(geometry, side));
  return `${compact(without)} against ${compact(own)}: ${number(without / own, 1)} times less`;
}
