// The table at the left, its rows that are looked up as the output at the right. No DOM.
import { number, range, tokenText } from "../kit/index.mjs";
import { MOST_WORDS } from "./numbers.mjs";
import { SIGN, signs, text } from "./symbols.mjs";

const DARKEST = 0.7; // numbers stay readable on it

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

/** The middles of the rows: of the table, and of the output. */
const rowY = (at, row) => at.top + (row + 0.5) * at.tall;
const outY = (at, k) => at.top + (k + 0.5) * at.row;

/** The marks beside the table: which word asks for which row, or ones and zeros. */
function requests({ state: { words, tokens, view }, frame: at }) {
  const x = (k) => at.label + 8 + (k + 0.5) * at.hot;
  const heads = tokens.map((_, k) => text(x(k), at.top - 9, k + 1, "order", "middle"));
  const arrow = (row, k) => text(x(k), rowY(at, row), "▸", "strong", "middle");
  const digit = (row, k, r) => {
    const isOne = r === row;
    const look = isOne ? "strong one" : "quiet";
    return text(x(k), rowY(at, r), Number(isOne), look, "middle");
  };
  const column = (row, k) => range(words.length).map((r) => digit(row, k, r));
  return [
    ...heads,
    ...(view === "lookup" ? tokens.map(arrow) : tokens.flatMap(column)),
  ];
}

/** The two shades that the legend explains, below the output. */
function legend({ frame: at, room }) {
  const swatch = (kind, k) => ({
    x: room - (at.narrow || k ? 66 : 142),
    y: at.top + at.row * MOST_WORDS + 6 + (at.narrow ? 18 * k : 0),
    width: 12,
    height: 12,
    class: `cell ${kind}`,
    "fill-opacity": 0.5,
  });
  const [plus, minus] = ["plus", "minus"].map(swatch);
  return {
    cells: [plus, minus],
    strokes: `M${minus.x + 3} ${minus.y + 6}h6`,
    texts: [
      text(plus.x + 16, plus.y + 6, "above 0", "quiet"),
      text(minus.x + 16, minus.y + 6, "below 0", "quiet"),
    ],
  };
}

/** The names of the rows of the output, and the lines that lead to them from the table. */
function outputNames({ state: { words, tokens }, frame: at }, activeRow) {
  const names = tokens.map((row, k) =>
    text(
      at.out - 5,
      outY(at, k),
      at.narrow ? k + 1 : `${k + 1} ${tokenText(words[row], 10)}`,
      row === activeRow ? "token strong" : "token",
      "end",
    ),
  );
  const links = tokens.map((row, k) => {
    const turn = at.right + (at.narrow ? 3 + 2.3 * k : 8 + 5 * k);
    const end = at.out - 9 - SIGN * signs(String(names[k].text));
    return {
      d: `M${at.right + 1} ${rowY(at, row)}H${turn}V${outY(at, k)}H${end}`,
      class: row === activeRow ? "link strong" : "link",
    };
  });
  return { names, links };
}

/** The numbers of the output, if there is room for them. */
function outputNumbers({ output, frame: at }) {
  if (at.outCell < 34) return [];
  const place = (c) => at.out + (c + 0.5) * at.outCell;
  return output.flatMap((row, k) =>
    row.map((x, c) => text(place(c), outY(at, k), number(x), "cellnumber", "middle")),
  );
}

/** Frames around the rows that are looked up, in the table and in the output. */
function rowFrames({ state: { tokens }, frame: at }) {
  const table = tokens.map((row) => ({
    x: at.table,
    y: at.top + row * at.tall,
    width: at.cell * at.width,
    height: at.tall,
    class: "lookup",
  }));
  const output = tokens.map((_, k) => ({
    x: at.out,
    y: at.top + k * at.row,
    width: at.outCell * at.width,
    height: at.row,
    class: "lookup",
  }));
  return [...table, ...output];
}

/** Frames that light up with the parts of the formula. */
function partFrames({ state: { words, tokens }, frame: at }) {
  const frame = (part, x, width, height) => ({
    "data-part": part,
    class: "frame",
    x,
    y: at.top,
    width,
    height,
  });
  const tall = words.length * at.tall;
  const outTall = Math.max(1, tokens.length) * at.row;
  return [
    frame("tokens", at.label + 6, MOST_WORDS * at.hot + 4, tall),
    frame("table", at.table, at.cell * at.width, tall),
    frame("output", at.out, at.outCell * at.width, outTall),
  ];
}

/** What stands above the table and the output. */
function titles({ state: { tokens, view }, table, output, frame: at, room }) {
  const size = (rows) => `${rows.length} × ${at.width}`;
  const y = at.top - 24;
  const tableTitle = at.narrow ? `W ${size(table)}` : `table W, ${size(table)}`;
  const outTitle = tokens.length ? `output, ${size(output)}` : "no output";
  return {
    table: text(at.table, y, tableTitle, "strong"),
    output: at.narrow
      ? text(room, y, "output", "strong", "end")
      : text(at.out, y, outTitle, "strong"),
    words: text(0, y, view === "lookup" ? "words" : "one-hot", "strong"),
  };
}

/** Table and output; `active` is [row, column] or null. */
export function lookup(geometry, active) {
  const { state, table, output, most, frame: at } = geometry;
  const { words, tokens, view } = state;
  const isLookedUp = (row) => tokens.includes(row);
  const faint = view === "lookup" ? 0.5 : 0.2;
  const corner = { x: at.table, y: at.top, wide: at.cell, high: at.tall };
  const left = shades(table, corner, most, (r) => (isLookedUp(r) ? 1 : faint));
  const outCorner = { x: at.out, y: at.top, wide: at.outCell, high: at.row };
  const right = shades(output, outCorner, most, () => 1);
  const key = legend(geometry);
  const { names, links } = outputNames(geometry, active?.[0]);
  const numbers = outputNumbers(geometry);
  const title = titles(geometry);
  const labels = words.map((word, r) => {
    const look = `${isLookedUp(r) ? "strong" : "quiet"} ${r === active?.[0] ? "on" : ""}`;
    return text(at.label, rowY(at, r), tokenText(word, 10), `token ${look}`, "end");
  });
  return {
    cells: [...left.cells, ...right.cells, ...key.cells],
    strokes: left.strokes + (numbers.length ? "" : right.strokes) + key.strokes,
    rows: rowFrames(geometry),
    links,
    texts: [
      ...labels,
      ...requests(geometry),
      ...names,
      ...numbers,
      title.table,
      title.output,
      ...key.texts,
      title.words,
    ],
    frames: partFrames(geometry),
  };
}
