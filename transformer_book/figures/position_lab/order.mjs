// Where the words stand in both orders. Pure: no DOM.
import { line, short, tokenText } from "../kit/index.mjs";
import { SIGN, box, edges, largest, shades } from "./shades.mjs";

const wide = (text) => SIGN * [...text].length;

/** A number for a narrow place: 1.64, <.01, 0. */
const brief = (x) => (x > 1e-9 && x < 0.005 ? "<.01" : short(x));

/** Where the two sentences stand: one above the other, every word over its vector. */
function frameOf(texts, room) {
  const step = Math.max(30, Math.min(84, Math.floor((room - 92) / texts.length)));
  const two = Math.max(...texts.map(wide)) > step - 4; // every other word stands lower
  const head = two ? 44 : 20;
  const center = (i) => 66 + Math.round((i + 0.5) * step);
  const bar = 2 * Math.floor(0.4 * step);
  const columns = texts.map((_, i) => [center(i) - bar / 2, center(i) + bar / 2]);
  // on a phone the outcome stands above the sentence
  const [tall, gap] = room < 400 ? [36, 34] : [72, 44];
  const [high, low] = [head + 22, head + 22 + tall + gap];
  const end = low + tall;
  const lines = room < 400 ? [28, 52] : [52, 92]; // of the outcome, below the words
  const at = lines.map((line) => end + head + line);
  return { room, step, two, head, center, bar, columns, tall, high, low, end, at };
}

/** One row of words: [x, y, text, number of the word as written]. */
const wordsAt = ({ center, two }, top, row, texts) =>
  row.map((old, i) => [center(i), top + 24 * (two && i % 2), texts[old], old]);

function pathsOf({ order, other: picked }, { before, after, same }, frame, all) {
  const { columns, tall, high, low, center } = frame;
  const most = largest([...before, ...after]);
  const paint = (rows, top) =>
    shades(columns, edges(top, rows[0].length, tall), (r, c) => rows[c][r] / most);
  const link = (old, place) =>
    line([
      [center(old), high + tall + 4],
      [center(place), low - 4],
    ]);
  const chip = ([x, y, text]) =>
    box(x - wide(text) / 2 - 5, y - 10, x + wide(text) / 2 + 5, y + 10);
  const kindOf = (place) =>
    `link${same[place] ? "" : " broken"}${picked === place ? " bold" : ""}`;
  return [
    ...paint(before, high),
    ...paint(after, low),
    ...order.map((old, place) => [link(old, place), kindOf(place)]),
    ...all
      .filter(([, , , old]) => old === order[picked])
      .map((word) => [chip(word), "chip"]),
  ];
}

function textsOf(tokens, { same, change }, { room, center, head, end, at }, all) {
  const names =
    room < 400
      ? ["input", "output ±"].map((text, i) => [0, at[i], text, "quiet", "start"])
      : ["Input vector: ✓ as above, ✗ new", "Its output changes by"].map((text, i) => [
          0,
          at[i] - 18,
          text,
          "quiet",
          "start",
        ]);
  return [
    ...all.map(([x, y, text]) => [x, y, text, "token"]),
    ...tokens.flatMap((_, i) => [
      [center(i), head + 10, i, "position"],
      [center(i), end + 13, i, "position"],
      [center(i), at[0], same[i] ? "✓" : "✗"],
      [center(i), at[1], brief(change[i])],
    ]),
    [0, head + 10, "∿ position", "position", "start"],
    [0, end + 13, "∿ position", "position", "start"],
    ...names,
  ];
}

/** A shape (see picture.mjs) of the two sentences. */
export function sentences({ state, words, room }) {
  const { tokens, order } = state;
  const { same, change } = words;
  const texts = tokens.map((token) => tokenText(token, room < 400 ? 7 : 10));
  const frame = frameOf(texts, room);
  const { step, two, bar, columns, tall, low, end, at } = frame;
  const written = wordsAt(frame, 10, [...tokens.keys()], texts);
  const shuffled = wordsAt(frame, end + 32, order, texts);
  const all = [...written, ...shuffled];
  return {
    kind: "word",
    width: 92 + step * tokens.length,
    height: at[1] + 14,
    rows: 1,
    cols: tokens.length,
    title: "Tap two words to swap them",
    note:
      room < 400
        ? "✓ same input vector, ✗ new; ± by how much its output changes"
        : "top: as written; bottom: new order",
    text: ([, i]) =>
      `${texts[order[i]]}: ${same[i] ? "the same" : "new"} input vector, ` +
      `output changes by ${brief(change[i])}`,
    paths: pathsOf(state, words, frame, all),
    texts: textsOf(tokens, words, frame, all),
    pick(px, py) {
      const row = py < low - 31 ? written : shuffled;
      const y = py - row[0][1] - 12;
      const near = row.filter(
        (_, i) => !two || Math.abs(y) > 24 || i % 2 === Number(y > 0),
      );
      near.sort(([a], [b]) => Math.abs(a - px) - Math.abs(b - px));
      return px < 48 ? null : [0, order.indexOf(near[0][3])];
    },
    box: ([, place]) => ({ x: columns[place][0], y: low, width: bar, height: tall }),
  };
}
