// Where everything stands: pairs, words, merges, the curve. Pure: no DOM.
import { line, scale, tokenText } from "../kit/index.mjs";
import { merge } from "./steps.mjs";
import { decoded, hex } from "./text.mjs";

export const ROWS = 6; // pairs in the list
export const TALL = 28; // of a line in the list
const [ASCII, BYTE, CELL, GAP] = [13, 21, 24, 14];
const SIGN = 7.6; // width of one monospace sign

const last = (list) => list[list.length - 1];
const visible = (text) => tokenText(text, 1000).replaceAll(" ", "␣");

/** A token for a chip: at most `most` signs. */
function chip(bytes, most) {
  const text = decoded(bytes, 2 * most) ?? bytes.slice(0, 4).map(hex).join("·");
  return tokenText(text, most).replaceAll(" ", "␣");
}

/** [[x, text], ...] for a token whose bytes stand between `edges`. */
function signs(bytes, edges) {
  const middle = (i) => (edges[i] + edges[i + 1]) / 2;
  const text = bytes.some((byte) => byte > 127) ? decoded(bytes) : null;
  if (text !== null) return [[(edges[0] + last(edges)) / 2, visible(text)]];
  return bytes.map((byte, i) => [
    middle(i),
    byte > 127 ? hex(byte) : visible(String.fromCharCode(byte)),
  ]);
}

/** The first words, each at its place: { word, x, y, edges (of its bytes), cut }. */
export function places({ steps, numbers, tokens, room, step }) {
  const left = room < 480 ? 1 : 48; // 1: the border of a cell
  const lines = room < 480 ? 6 : 4;
  const placed = [];
  let [x, row] = [left, 0];
  for (const [w, bytes] of steps[0].words.entries()) {
    const label = numbers[w] > 1 ? 12 + SIGN * String(numbers[w]).length : 0;
    const edges = [0];
    for (const byte of bytes) {
      const end = last(edges) + (byte > 127 ? BYTE : ASCII);
      if (end > room - left - label - 16) break;
      edges.push(end);
    }
    const cut = edges.length <= bytes.length;
    const width = last(edges) + label + (cut ? 14 : 0);
    if (x > left && x + width > room) [x, row] = [left, row + 1];
    if (row === lines) break;
    placed.push({ word: w, x, row, edges, cut, label: x + width - label + 4 });
    x += width + GAP;
  }
  return {
    placed,
    left,
    lines: row + (row < lines),
    high: 2 * CELL + (room < 480 ? 16 : 24),
    hidden: numbers.length - placed.length,
  };
}

/** The cells of one word in one state: boxes and letters between its edges. */
function cells(ids, tokens, { x, edges, cut }, y, mark) {
  const [boxes, texts] = [[], []];
  let at = 0;
  for (const [i, id] of ids.entries()) {
    const bytes = tokens[id];
    const end = Math.min(at + bytes.length, edges.length - 1);
    if (end <= at) break;
    const own = edges.slice(at, end + 1).map((edge) => x + edge);
    const kind = mark(id, i, ids);
    const gap = kind ? 1.5 : 0; // between two black ones
    boxes.push({
      x: own[0] + gap,
      y: y + gap,
      width: last(own) - own[0] - 2 * gap,
      height: CELL - 2 * gap,
      class: `cell ${kind ?? (bytes.length > 1 ? "piece" : "")}`,
    });
    const letters =
      end - at < bytes.length && decoded(bytes) !== null && bytes.some((b) => b > 127)
        ? [[(own[0] + last(own)) / 2, chip(bytes, 8)]]
        : signs(bytes.slice(0, end - at), own);
    for (const [tx, text] of letters)
      texts.push({
        x: tx,
        y: y + CELL / 2,
        text,
        class: `token ${kind === "made" ? "made" : ""}`,
        "text-anchor": "middle",
      });
    at = end;
  }
  if (cut)
    texts.push({
      x: x + last(edges) + 9,
      y: y + CELL / 2,
      text: "…",
      class: "token",
      "text-anchor": "middle",
    });
  return { boxes, texts };
}

/** All words above themselves: now, and with `pair` merged. */
export function words(geometry, pair) {
  const { now, tokens, numbers, step, frame } = geometry;
  const made = 256 + step;
  const known = pair && [...tokens.slice(0, made), pair.flatMap((id) => tokens[id])];
  const [boxes, texts, rings] = [[], [], []];
  for (const place of frame.placed) {
    const y = 4 + place.row * frame.high;
    const ids = now.words[place.word];
    const after = pair ? merge(ids, pair, made) : ids;
    const above = cells(ids, tokens, place, y, () => null);
    const below = cells(after, known ?? tokens, place, y + CELL + 5, (id) =>
      pair && id === made ? "made" : null,
    );
    let at = 0;
    for (const id of after) {
      const end = at + (known ?? tokens)[id].length;
      if (pair && id === made && end < place.edges.length)
        rings.push({
          x: place.x + place.edges[at],
          y,
          height: CELL,
          width: place.edges[end] - place.edges[at],
          class: "pair",
        });
      at = end;
    }
    boxes.push(...above.boxes, ...below.boxes);
    texts.push(...above.texts, ...below.texts);
    if (numbers[place.word] > 1)
      texts.push({
        x: place.label,
        y: y + CELL + 2,
        text: `×${numbers[place.word]}`,
        class: "token quiet",
      });
    if (place.x === frame.left && frame.left > 1)
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

/** One line of the list: a pair, its count as a bar. */
export function pairRow({ tokens, room, ranked, now }, [pair, count, rank], r) {
  const y = r * TALL;
  const [signsIn, end] = room < 480 ? [7, room - 74] : [12, room - 150];
  const middle = y + TALL / 2;
  const next = rank === 1 && now.pair;
  const [boxes, texts] = [[], []];
  let x = 30;
  for (const id of pair) {
    const text = chip(tokens[id], signsIn);
    const width = Math.max(18, SIGN * [...text].length + 9);
    boxes.push({
      x,
      y: y + 3,
      width,
      height: TALL - 6,
      class: `cell ${tokens[id].length > 1 ? "piece" : ""}`,
    });
    texts.push({
      x: x + width / 2,
      y: middle,
      text,
      class: "token",
      "text-anchor": "middle",
    });
    x += width;
  }
  const start = 30 + 2 * (SIGN * Math.min(signsIn, 8) + 9) + 8;
  const from = Math.max(start, x + 8);
  const width = Math.max(3, ((end - start) * count) / ranked[0][1] - (from - start));
  boxes.push({
    x: from,
    y: y + 8,
    width,
    height: TALL - 16,
    class: next ? "bar next" : "bar",
  });
  const times = `${count}×${next ? (room < 480 ? " next" : " merged next") : ""}`;
  texts.push(
    {
      x: 20,
      y: middle,
      text: next ? "▸" : rank,
      class: next ? "strong" : "quiet",
      "text-anchor": "end",
    },
    { x: from + width + 7, y: middle, text: times, class: next ? "strong" : null },
  );
  return { boxes, texts, box: { x: 0, y: y + 1, width: room, height: TALL - 2 } };
}

/** The last merges, in fixed places. */
export function learned({ step, tokens, half, room }) {
  const columns = Math.max(2, Math.floor(half / 100));
  const lines = room < 620 ? 3 : 4;
  const most = lines * columns;
  const first = Math.max(0, step - most);
  const [boxes, texts] = [[], []];
  for (let k = first; k < step; k++) {
    const [x, y] = [
      ((k - first) % columns) * 100,
      Math.floor((k - first) / columns) * 27,
    ];
    const text = chip(tokens[256 + k], 7);
    const newest = k === step - 1;
    boxes.push({
      x: x + 30,
      y: y + 1,
      width: SIGN * [...text].length + 9,
      height: 22,
      class: "cell piece",
    });
    texts.push(
      {
        x: x + 25,
        y: y + 12,
        text: 256 + k,
        class: newest ? "strong" : "quiet",
        "text-anchor": "end",
      },
      { x: x + 34.5, y: y + 12, text, class: newest ? "token strong" : "token" },
    );
  }
  return { boxes, texts, width: columns * 100, height: 27 * lines, first };
}

/** The tokens of the text after each merge, and where the reader is. */
export function curve({ steps, step, bytes, half }) {
  const [left, right] = [10 + SIGN * Math.max(3, String(bytes).length), half - 40];
  const x = scale([0, Math.max(1, steps.length - 1)], [left, right]);
  const y = scale([0, Math.max(1, bytes)], [84, 12]);
  const points = steps.map(({ size }, k) => [x(k), y(size)]);
  const [here, end] = [points[step], last(points)];
  return {
    width: half,
    height: 110,
    paths: [
      {
        d: line([
          [left, y(0)],
          [right, y(0)],
        ]),
        class: "axis",
      },
      { d: line(points), class: "curve" },
      { d: `M${here.join(" ")}V${y(0)}`, class: "drop" },
      { d: `M${here.join(" ")}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`, class: "dot" },
    ],
    texts: [
      { x: left - 6, y: y(bytes), text: bytes, class: "quiet", "text-anchor": "end" },
      { x: left - 6, y: y(0), text: "0", class: "quiet", "text-anchor": "end" },
      step &&
        step < steps.length - 1 && {
          x: here[0] + 6,
          y: here[1] - 9,
          text: steps[step].size,
          class: "strong",
        },
      { x: right + 6, y: end[1], text: last(steps).size, class: "quiet" },
      ...[...new Set([0, steps.length - 1])].map((k) => ({
        x: x(k),
        y: 98,
        text: k,
        class: "quiet",
        "text-anchor": "middle",
      })),
      {
        x: (left + right) / 2,
        y: 98,
        text: "merges →",
        class: "quiet",
        "text-anchor": "middle",
      },
    ].filter(Boolean),
  };
}
