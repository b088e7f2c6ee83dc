// Everything that is drawn or said, and where its parts stand. Pure: no DOM.
import { keep, number, tokenText } from "../kit/index.mjs";
import { MOST_WORDS, nearest, neighbors, ownGroup, plane } from "./numbers.mjs";
import { SIGN, mark, signs, text } from "./symbols.mjs";
import limits from "./limits.json" with { type: "json" };

const TOP = 38; // of table and output
const PLANE = 236; // least height of the plane beside the table

/** The row of which the nearest are listed if the reader looks at no other one. */
export const pickedRow = ({ selected, tokens }) => selected[0] ?? tokens[0] ?? 0;

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  const { tables, steps, step, tokens, groups, words } = state;
  const index = steps.indexOf(step);
  const table = tables[index];
  return {
    state,
    room,
    index,
    table,
    output: tokens.map((row) => table[row]),
    most: Math.max(...tables.flat(2).map(Math.abs)) || 1,
    nearest: nearest(table),
    own: ownGroup(table, groups),
    ownBefore: ownGroup(tables[0], groups),
    kinds: [...new Set(groups.filter(Boolean))],
    plane: plane(tables),
    picked: pickedRow(state),
    frame: frameOf(words, table[0].length, room),
  };
}

/** Columns of the picture: where words, marks, table, output and plane begin. */
function columns(words, width, room) {
  const narrow = room < 560;
  const longest = Math.max(...words.map((word) => signs(tokenText(word, 10))));
  const label = Math.ceil(SIGN * longest);
  const hot = narrow ? 10 : 15;
  const table = label + 8 + MOST_WORDS * hot + 6;
  const fit = Math.min(14, (room - table - 34) / (2 * width));
  const cell = narrow ? fit : Math.min(22, 132 / width);
  const right = table + cell * width;
  const out = narrow ? right + 32 : Math.max(right + 110, room - 240);
  const outCell = narrow ? fit : Math.min(40, (room - out) / width);
  const row = narrow ? 20 : 23;
  return { narrow, width, label, hot, table, cell, right, out, outCell, row };
}

/** Where the plane stands: below the table where there is little room, else beside it. */
function planeOf(at, room, low) {
  if (at.narrow) return { left: 0, top: low + 44, width: room, height: 268 };
  const [left, top] = [at.right + 44, TOP + at.row * MOST_WORDS + 58];
  return { left, top, width: room - left, height: Math.max(PLANE, low - top) };
}

/** Where the whole picture stands; the same for every step, so that nothing jumps. */
function frameOf(words, width, room) {
  const at = columns(words, width, room);
  const tall = words.length > 32 ? 13 : 14;
  const low = TOP + Math.max(tall * words.length, at.row * MOST_WORDS);
  const area = planeOf(at, room, low);
  const height = Math.max(low, area.top + area.height) + 4;
  return { ...at, top: TOP, tall, plane: area, height };
}

/** What pad() needs: cells of the table; a point of the plane is its row. */
export function places({ frame: at, state: { words } }, spots, column) {
  const cellAt = (x, y) => {
    const r = Math.floor((y - at.top) / at.tall);
    const c = Math.floor((x - at.table) / at.cell);
    const isInTable = x < at.right && r >= 0 && r < words.length;
    return isInTable ? [r, Math.max(0, Math.min(at.width - 1, c))] : null;
  };
  const pointAt = (x, y) => {
    const far = spots.map((spot) => Math.hypot(spot[0] - x, spot[1] - y));
    const best = far.indexOf(Math.min(...far));
    return far[best] < 24 ? [best, column] : null;
  };
  const box = ([r, c]) => ({
    x: at.table + c * at.cell,
    y: at.top + r * at.tall,
    width: at.cell,
    height: at.tall,
  });
  return {
    rows: words.length,
    cols: at.width,
    pick: (x, y) => cellAt(x, y) ?? pointAt(x, y),
    box,
  };
}

/** The five nearest words, as bars of their cosine; `wide` is the room of one list. */
export function ranking({ state: { words, groups }, kinds }, table, row, left, wide) {
  const [from, to] = [left + 18 + Math.ceil(SIGN * 9) + 4, left + wide - 36];
  const shapes = { boxes: [], dots: [], texts: [] };
  neighbors(table, row, 5).forEach((near, k) => {
    const y = 34 + 20 * k;
    const kind = kinds.indexOf(groups[near.row] || null);
    const isSame = groups[row] && groups[row] === groups[near.row];
    const width = Math.max(0, (to - from) * near.cosine);
    const name = tokenText(words[near.row], 9);
    if (kinds.length)
      shapes.dots.push({
        d: mark(kind % 4, left + 8, y),
        class: kind < 0 ? "dot none" : "dot",
      });
    shapes.boxes.push({
      x: from,
      y: y - 6,
      width,
      height: 12,
      class: isSame ? "bar same" : "bar",
    });
    shapes.texts.push(
      text(left + (kinds.length ? 18 : 0), y, name, isSame ? "token strong" : "token"),
      text(from + width + 5, y, number(near.cosine)),
    );
  });
  return shapes;
}
