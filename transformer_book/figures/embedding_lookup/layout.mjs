// Where everything stands: the table, the output, the nearest. Pure: no DOM.
import { number, tokenText } from "../kit/index.mjs";
import { SIGN, mark, range, signs, text } from "./marks.mjs";
import { MOST, neighbors } from "./numbers.mjs";

const TOP = 38;
const DARKEST = 0.7; // numbers stay readable on it
/** Columns of the picture: where words, marks, table, output and plane begin. */
function columns({ state: { words, tables }, room }) {
  const narrow = room < 560;
  const width = tables[0][0].length;
  const longest = Math.max(...words.map((word) => signs(tokenText(word, 10))));
  const label = Math.ceil(SIGN * longest);
  const hot = narrow ? 10 : 15;
  const table = label + 8 + MOST * hot + 6;
  const fit = Math.min(14, (room - table - 34) / (2 * width));
  const cell = narrow ? fit : Math.min(22, 132 / width);
  const right = table + cell * width;
  const out = narrow ? right + 32 : Math.max(right + 110, room - 240);
  const outCell = narrow ? fit : Math.min(40, (room - out) / width);
  return {
    narrow,
    width,
    label,
    hot,
    table,
    cell,
    right,
    out,
    outCell,
    row: narrow ? 20 : 23,
  };
}

/** Where the whole picture stands; the same for every step, so that nothing jumps. */
export function frame(geometry) {
  const at = columns(geometry);
  const {
    room,
    state: { words },
  } = geometry;
  const tall = words.length > 32 ? 13 : 14;
  const low = TOP + Math.max(tall * words.length, at.row * MOST);
  const plane = at.narrow
    ? { left: 0, top: low + 44, width: room, height: 268 }
    : {
        left: at.right + 44,
        top: TOP + at.row * MOST + 58,
        width: room - at.right - 44,
        height: 0,
      };
  plane.height ||= Math.max(236, low - plane.top);
  return { ...at, tall, plane, height: Math.max(low, plane.top + plane.height) + 4 };
}

/** Rectangles of a matrix, as dark as its numbers are large, a stroke in what is below 0. */
function shades(rows, { x, y, wide, high }, most, share) {
  const [cells, strokes] = [[], []];
  rows.forEach((row, r) =>
    row.forEach((value, c) => {
      const [left, top] = [x + c * wide, y + r * high];
      cells.push({
        x: left,
        y: top,
        width: wide,
        height: high,
        class: value < 0 ? "cell minus" : "cell plus",
        "fill-opacity": number(((DARKEST * Math.abs(value)) / most) * share(r), 3),
      });
      if (value < 0)
        strokes.push(`M${left + wide * 0.3} ${top + high / 2}h${wide * 0.4}`);
    }),
  );
  return { cells, strokes: strokes.join("") };
}

/** The marks beside the table: which word asks for which row, or ones and zeros. */
function hots({ state: { words, tokens, view } }, { label, hot, tall }) {
  const x = (k) => label + 8 + (k + 0.5) * hot;
  const y = (r) => TOP + (r + 0.5) * tall;
  const heads = tokens.map((_, k) => text(x(k), TOP - 9, k + 1, "order", "middle"));
  if (view === "lookup")
    return [
      ...heads,
      ...tokens.map((row, k) => text(x(k), y(row), "▸", "strong", "middle")),
    ];
  return [
    ...heads,
    ...tokens.flatMap((row, k) =>
      range(words.length).map((r) =>
        text(
          x(k),
          y(r),
          Number(r === row),
          r === row ? "strong one" : "quiet",
          "middle",
        ),
      ),
    ),
  ];
}

/** The table at the left, its rows that are looked up as the output at the right. */
export function lookup(geometry, active) {
  const { state, table, output, most, frame: at, room } = geometry;
  const { words, tokens, view } = state;
  const lit = new Set(tokens);
  const faint = view === "lookup" ? 0.5 : 0.2;
  const left = shades(
    table,
    { x: at.table, y: TOP, wide: at.cell, high: at.tall },
    most,
    (r) => (lit.has(r) ? 1 : faint),
  );
  const out = { x: at.out, y: TOP, wide: at.outCell, high: at.row };
  const right = shades(output, out, most, () => 1);
  const y = (row) => TOP + (row + 0.5) * at.tall;
  const end = (k) => TOP + (k + 0.5) * at.row;
  const names = tokens.map((row, k) =>
    text(
      at.out - 5,
      end(k),
      at.narrow ? k + 1 : `${k + 1} ${tokenText(words[row], 10)}`,
      row === active?.[0] ? "token strong" : "token",
      "end",
    ),
  );
  const ends = tokens.map((row, k) => at.out - 9 - SIGN * signs(String(names[k].text)));
  const size = (rows) => `${rows.length} × ${at.width}`;
  const [plus, minus] = [0, 1].map((k) => ({
    x: room - (at.narrow || k ? 66 : 142),
    y: TOP + at.row * MOST + 6 + (at.narrow ? 18 * k : 0),
  }));
  const swatch = (place, kind) => ({
    ...place,
    width: 12,
    height: 12,
    class: `cell ${kind}`,
    "fill-opacity": 0.5,
  });
  const numbers =
    at.outCell >= 34
      ? output.flatMap((row, k) =>
          row.map((x, c) =>
            text(
              at.out + (c + 0.5) * at.outCell,
              end(k),
              number(x),
              "cellnumber",
              "middle",
            ),
          ),
        )
      : [];
  return {
    cells: [
      ...left.cells,
      ...right.cells,
      swatch(plus, "plus"),
      swatch(minus, "minus"),
    ],
    strokes: `${left.strokes}${numbers.length ? "" : right.strokes}M${minus.x + 3} ${minus.y + 6}h6`,
    rows: tokens
      .map((row) => ({
        x: at.table,
        y: TOP + row * at.tall,
        width: at.cell * at.width,
        height: at.tall,
        class: "lookup",
      }))
      .concat(
        tokens.map((_, k) => ({
          x: at.out,
          y: TOP + k * at.row,
          width: at.outCell * at.width,
          height: at.row,
          class: "lookup",
        })),
      ),
    links: tokens.map((row, k) => ({
      d: `M${at.right + 1} ${y(row)}H${at.right + (at.narrow ? 3 + 2.3 * k : 8 + 5 * k)}V${end(k)}H${ends[k]}`,
      class: row === active?.[0] ? "link strong" : "link",
    })),
    texts: [
      ...words.map((word, r) =>
        text(
          at.label,
          y(r),
          tokenText(word, 10),
          `token ${lit.has(r) ? "strong" : "quiet"} ${r === active?.[0] ? "on" : ""}`,
          "end",
        ),
      ),
      ...hots(geometry, at),
      ...names,
      ...numbers,
      text(
        at.table,
        TOP - 24,
        at.narrow ? `W ${size(table)}` : `table W, ${size(table)}`,
        "strong",
      ),
      at.narrow
        ? text(room, TOP - 24, "output", "strong", "end")
        : text(
            at.out,
            TOP - 24,
            tokens.length ? `output, ${size(output)}` : "no output",
            "strong",
          ),
      text(plus.x + 16, plus.y + 6, "above 0", "quiet"),
      text(minus.x + 16, minus.y + 6, "below 0", "quiet"),
      text(0, TOP - 24, view === "lookup" ? "words" : "one-hot", "strong"),
    ],
    frames: [
      ["tokens", at.label + 6, MOST * at.hot + 4, words.length * at.tall],
      ["table", at.table, at.cell * at.width, words.length * at.tall],
      ["output", at.out, at.outCell * at.width, Math.max(1, tokens.length) * at.row],
    ].map(([part, x, width, height]) => ({
      "data-part": part,
      class: "frame",
      x,
      y: TOP,
      width,
      height,
    })),
  };
}

/** What pad() needs: cells of the table; a point of the plane is its row. */
export function places({ frame: at, state: { words } }, spots, column) {
  const pick = (px, py) => {
    const [r, c] = [
      Math.floor((py - TOP) / at.tall),
      Math.floor((px - at.table) / at.cell),
    ];
    if (px < at.right && r >= 0 && r < words.length)
      return [r, Math.max(0, Math.min(at.width - 1, c))];
    const far = spots.map(([x, y]) => Math.hypot(x - px, y - py));
    const best = far.indexOf(Math.min(...far));
    return far[best] < 24 ? [best, column] : null;
  };
  const box = ([r, c]) => ({
    x: at.table + c * at.cell,
    y: TOP + r * at.tall,
    width: at.cell,
    height: at.tall,
  });
  return { rows: words.length, cols: at.width, pick, box };
}

/** The five nearest words, as bars of their cosine; `wide` is the room of one list. */
export function ranking({ state: { words, groups }, kinds }, table, row, left, wide) {
  const [from, to] = [left + 18 + Math.ceil(SIGN * 9) + 4, left + wide - 36];
  const shapes = { boxes: [], dots: [], texts: [] };
  neighbors(table, row, 5).forEach((near, k) => {
    const y = 34 + 20 * k;
    const kind = kinds.indexOf(groups[near.row] || null);
    const same = groups[row] && groups[row] === groups[near.row];
    const width = Math.max(0, (to - from) * near.cosine);
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
      class: same ? "bar same" : "bar",
    });
    shapes.texts.push(
      text(
        left + (kinds.length ? 18 : 0),
        y,
        tokenText(words[near.row], 9),
        same ? "token strong" : "token",
      ),
      text(from + width + 5, y, number(near.cosine)),
    );
  });
  return shapes;
}
