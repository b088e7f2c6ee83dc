// Where everything stands: pairs, words, merges, the curve. Pure: no DOM.
import { keep, line, scale, tokenText } from "../kit/index.mjs";
import {
  BYTES,
  countTokens,
  history,
  isSame,
  merge,
  ranking,
  shownStep,
} from "./numbers.mjs";
import { decoded, hex } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const ROWS = 6; // pairs in the list
export const ROW_HEIGHT = 28; // of a line in the list
const ASCII = 13; // width of a byte that is a sign of its own
const BYTE = 21; // width of another byte, as its number in base 16 needs
const CELL = 24; // height of a token
const GAP = 14; // between words
const SIGN = 7.6; // width of one monospace sign
export const PHONE = 480; // below this width, a narrow picture
const ABREAST = 620; // from this width on, learned tokens and curve stand side by side

const last = (list) => list[list.length - 1];
const visible = (shown) => tokenText(shown, 1000).replaceAll(" ", "␣");

/** The pairs in the list, [pair, count, rank]: the first ones, and the held one. */
function listed(ranked, selected) {
  const rows = ranked.map(([pair, count], i) => [pair, count, i + 1]);
  const held = rows.slice(ROWS).filter(([pair]) => isSame(pair, selected));
  return [...rows.slice(0, ROWS - held.length), ...held];
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  const learnt = history(state.text);
  const { steps, numbers } = learnt;
  const { step, now } = shownStep(state);
  const ranked = ranking(now.words, numbers);
  const shown = listed(ranked, state.selected);
  const sizeWith = (pair) =>
    countTokens(
      now.words.map((ids) => merge(ids, pair, BYTES + step)),
      numbers,
    );
  const pairOf = (active) =>
    (active?.[0] === "row" ? shown[active[1]]?.[0] : active) ?? null;
  return {
    ...learnt,
    state,
    step,
    now,
    ranked,
    shown,
    room,
    bytes: steps[0].size,
    half: room < ABREAST ? room : Math.floor((room - 24) / 2),
    pairOf, // what is active, a pair or ["row", place in the list] -> the pair or null
    sizeWith, // a pair -> the tokens of the text with it merged
    frame: frameOf(steps[0].words, numbers, room),
  };
}

/** A token for a chip: at most `most` signs. */
function chip(bytes, most) {
  const shown = decoded(bytes, 2 * most) ?? bytes.slice(0, 4).map(hex).join("·");
  return tokenText(shown, most).replaceAll(" ", "␣");
}

/** [[x, text], ...] for a token whose bytes stand between `edges`. */
function signs(bytes, edges) {
  const middle = (i) => (edges[i] + edges[i + 1]) / 2;
  const shown = bytes.some((byte) => byte > 127) ? decoded(bytes) : null;
  if (shown !== null) return [[(edges[0] + last(edges)) / 2, visible(shown)]];
  return bytes.map((byte, i) => [
    middle(i),
    byte > 127 ? hex(byte) : visible(String.fromCharCode(byte)),
  ]);
}

/** The edges of a word's bytes, from 0, as far as there is room. */
function edgesOf(bytes, room) {
  const edges = [0];
  for (const byte of bytes) {
    const end = last(edges) + (byte > 127 ? BYTE : ASCII);
    if (end > room) break;
    edges.push(end);
  }
  return edges;
}

/** The first words, each at its place: { word, x, row, edges (of its bytes), cut, label }. */
function frameOf(words, numbers, room) {
  const narrow = room < PHONE;
  const left = narrow ? 1 : 48; // 1: the border of a cell
  const lines = narrow ? 6 : 4;
  const placed = [];
  let [x, row] = [left, 0];
  for (const [word, bytes] of words.entries()) {
    const label = numbers[word] > 1 ? 12 + SIGN * String(numbers[word]).length : 0;
    const edges = edgesOf(bytes, room - left - label - 16);
    const cut = edges.length <= bytes.length;
    const width = last(edges) + label + (cut ? 14 : 0);
    if (x > left && x + width > room) [x, row] = [left, row + 1];
    if (row === lines) break;
    placed.push({ word, x, row, edges, cut, label: x + width - label + 4 });
    x += width + GAP;
  }
  return {
    placed,
    left,
    lines: Math.min(row + 1, lines),
    high: 2 * CELL + (narrow ? 16 : 24),
    hidden: numbers.length - placed.length,
  };
}

/** The letters of a token, whole or cut at the end of its word's room. */
function letters(bytes, count, edges) {
  const isCut = count < bytes.length;
  if (isCut && bytes.some((byte) => byte > 127) && decoded(bytes) !== null)
    return [[(edges[0] + last(edges)) / 2, chip(bytes, 8)]];
  return signs(bytes.slice(0, count), edges);
}

/** The cells of one word in one state: boxes and letters between its edges. */
function cells(ids, tokens, { x, edges, cut }, y, made) {
  const [boxes, texts] = [[], []];
  const write = (at, shown, kind = "") =>
    texts.push({
      x: at,
      y: y + CELL / 2,
      text: shown,
      class: `token${kind}`,
      "text-anchor": "middle",
    });
  let at = 0;
  for (const id of ids) {
    const bytes = tokens[id];
    const end = Math.min(at + bytes.length, edges.length - 1);
    if (end <= at) break;
    const own = edges.slice(at, end + 1).map((edge) => x + edge);
    const isMade = id === made;
    const gap = isMade ? 1.5 : 0; // between two black ones
    boxes.push({
      x: own[0] + gap,
      y: y + gap,
      width: last(own) - own[0] - 2 * gap,
      height: CELL - 2 * gap,
      class: `cell ${isMade ? "made" : bytes.length > 1 ? "piece" : ""}`,
    });
    for (const [middle, shown] of letters(bytes, end - at, own))
      write(middle, shown, isMade ? " made" : " ");
    at = end;
  }
  if (cut) write(x + last(edges) + 9, "…");
  return { boxes, texts };
}

/** Frames around what of a word is merged, as far as it is shown. */
function ringsOf(ids, tokens, { x, edges }, y, made) {
  const rings = [];
  let at = 0;
  for (const id of ids) {
    const end = at + tokens[id].length;
    if (id === made && end < edges.length)
      rings.push({
        x: x + edges[at],
        y,
        height: CELL,
        width: edges[end] - edges[at],
        class: "pair",
      });
    at = end;
  }
  return rings;
}

/** All words above themselves: now, and with `pair` merged, if there is one. */
export function words({ now, tokens, numbers, step, frame }, pair) {
  const made = pair ? BYTES + step : null;
  const known = pair
    ? [...tokens.slice(0, made), pair.flatMap((id) => tokens[id])]
    : tokens;
  const [boxes, texts, rings] = [[], [], []];
  for (const spot of frame.placed) {
    const y = 4 + spot.row * frame.high;
    const ids = now.words[spot.word];
    const after = pair ? merge(ids, pair, made) : ids;
    const above = cells(ids, tokens, spot, y, null);
    const below = cells(after, known, spot, y + CELL + 5, made);
    boxes.push(...above.boxes, ...below.boxes);
    texts.push(...above.texts, ...below.texts);
    rings.push(...ringsOf(after, known, spot, y, made));
    if (numbers[spot.word] > 1)
      texts.push({
        x: spot.label,
        y: y + CELL + 2,
        text: `×${numbers[spot.word]}`,
        class: "token quiet",
      });
    if (spot.x === frame.left && frame.left > 1)
      texts.push(
        { x: 0, y: y + CELL / 2, text: "now", class: "quiet" },
        { x: 0, y: y + 1.5 * CELL + 5, text: "then", class: "quiet" },
      );
  }
  return {
    boxes: [...boxes, ...rings],
    texts,
    height: Math.max(1, frame.lines) * frame.high,
  };
}

/** The two tokens of a pair as chips side by side, and where they end. */
function chips(pair, tokens, most, y) {
  const [boxes, texts] = [[], []];
  let x = 30;
  for (const id of pair) {
    const shown = chip(tokens[id], most);
    const width = Math.max(18, SIGN * [...shown].length + 9);
    boxes.push({
      x,
      y: y + 3,
      width,
      height: ROW_HEIGHT - 6,
      class: `cell ${tokens[id].length > 1 ? "piece" : ""}`,
    });
    texts.push({
      x: x + width / 2,
      y: y + ROW_HEIGHT / 2,
      text: shown,
      class: "token",
      "text-anchor": "middle",
    });
    x += width;
  }
  return { boxes, texts, end: x };
}

/** One line of the list: a pair, its count as a bar. */
export function pairRow({ tokens, room, ranked, now }, [pair, count, rank], r) {
  const narrow = room < PHONE;
  const [most, right] = narrow ? [7, room - 74] : [12, room - 150];
  const y = r * ROW_HEIGHT;
  const middle = y + ROW_HEIGHT / 2;
  const isNext = rank === 1 && now.pair;
  const { boxes, texts, end } = chips(pair, tokens, most, y);
  const left = 30 + 2 * (SIGN * Math.min(most, 8) + 9) + 8; // where a bar of 0 would be
  const from = Math.max(left, end + 8);
  const width = Math.max(3, ((right - left) * count) / ranked[0][1] - (from - left));
  const bar = {
    x: from,
    y: y + 8,
    width,
    height: ROW_HEIGHT - 16,
    class: isNext ? "bar next" : "bar",
  };
  const number = {
    x: 20,
    y: middle,
    text: isNext ? "▸" : rank,
    class: isNext ? "strong" : "quiet",
    "text-anchor": "end",
  };
  const next = narrow ? " next" : " merged next";
  const times = {
    x: from + width + 7,
    y: middle,
    text: `${count}×${isNext ? next : ""}`,
    class: isNext ? "strong" : null,
  };
  return {
    boxes: [...boxes, bar],
    texts: [...texts, number, times],
    box: { x: 0, y: y + 1, width: room, height: ROW_HEIGHT - 2 },
  };
}

/** The last merges, in fixed places. */
export function learned({ step, tokens, half, room }) {
  const [columnWidth, lineHeight] = [100, 27];
  const columns = Math.max(2, Math.floor(half / columnWidth));
  const lines = room < ABREAST ? 3 : 4;
  const first = Math.max(0, step - lines * columns);
  const [boxes, texts] = [[], []];
  for (let k = first; k < step; k++) {
    const x = ((k - first) % columns) * columnWidth;
    const y = Math.floor((k - first) / columns) * lineHeight;
    const shown = chip(tokens[BYTES + k], 7);
    const isNewest = k === step - 1;
    boxes.push({
      x: x + 30,
      y: y + 1,
      width: SIGN * [...shown].length + 9,
      height: 22,
      class: "cell piece",
    });
    texts.push(
      {
        x: x + 25,
        y: y + 12,
        text: BYTES + k,
        class: isNewest ? "strong" : "quiet",
        "text-anchor": "end",
      },
      {
        x: x + 34.5,
        y: y + 12,
        text: shown,
        class: isNewest ? "token strong" : "token",
      },
    );
  }
  return {
    boxes,
    texts,
    width: columns * columnWidth,
    height: lineHeight * lines,
    first,
  };
}

/** The tokens of the text after each merge, and where the reader is. */
export function curve({ steps, step, bytes, half }) {
  const [left, right] = [10 + SIGN * Math.max(3, String(bytes).length), half - 40];
  const end = steps.length - 1;
  const x = scale([0, end], [left, right]);
  const y = scale([0, bytes], [84, 12]);
  const points = steps.map(({ size }, k) => [x(k), y(size)]);
  const [hereX, hereY] = points[step];
  const floor = y(0);
  const quiet = (at, height, shown, anchor) => ({
    x: at,
    y: height,
    text: shown,
    class: "quiet",
    ...(anchor && { "text-anchor": anchor }),
  });
  const size = { x: hereX + 6, y: hereY - 9, text: steps[step].size, class: "strong" };
  const dot = "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0";
  return {
    width: half,
    height: 110,
    paths: [
      {
        d: line([
          [left, floor],
          [right, floor],
        ]),
        class: "axis",
      },
      { d: line(points), class: "curve" },
      { d: `M${hereX} ${hereY}V${floor}`, class: "drop" },
      { d: `M${hereX} ${hereY}${dot}`, class: "dot" },
    ],
    texts: [
      quiet(left - 6, y(bytes), bytes, "end"),
      quiet(left - 6, floor, "0", "end"),
      ...(step > 0 && step < end ? [size] : []), // the ends have their numbers beside them
      quiet(right + 6, last(points)[1], last(steps).size),
      ...[...new Set([0, end])].map((k) => quiet(x(k), 98, k, "middle")),
      quiet((left + right) / 2, 98, "merges →", "middle"),
    ],
  };
}
