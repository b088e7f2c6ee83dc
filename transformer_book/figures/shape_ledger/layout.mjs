// Where everything stands: the ledger and the picture of the reshape. Pure: no DOM.
import { compact, keep } from "../kit/index.mjs";
import { SMALL, lines as linesOf, sources, total } from "./lines.mjs";
import { shapeText } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const MEASURES = [
  ["params", "parameters"],
  ["flops", "FLOPs"],
  ["bytes", "bytes"],
];
const HEAD = 24; // height of the line of names
const NOTES = {
  attention: "attention: tokens attend to each other",
  ff: "feed-forward: each token on its own",
};

/** The frame of the ledger in `room` pixels: columns, heights, where each line stands. */
export function frame(lines, room) {
  const narrow = room < 560;
  const tall = narrow ? 46 : 24;
  const first = narrow ? 14 : 330;
  const step = (room - first) / 3;
  let y = HEAD;
  const tops = lines.map(({ part }, r) => {
    if (part !== lines[r - 1]?.part && part in NOTES) y += 22;
    else if (part === "end" && lines[r - 1].part !== "end") y += 10;
    const top = y;
    y += tall;
    return top;
  });
  return {
    narrow,
    tall,
    first,
    step,
    tops,
    sum: y + 8,
    height: y + 8 + (narrow ? 46 : 26),
    room,
  };
}

const most = (lines, name) =>
  Math.max(...lines.map((line) => line.blocks * line[name]));

/** Three numbers and their bars at height `y`. */
function measures({ first, step }, values, tops, y, strong) {
  const boxes = [];
  /** @type {Record<string, any>[]} */
  const texts = [];
  values.forEach((value, c) => {
    const x = first + c * step;
    const room = Math.max(0, step - 62);
    texts.push({
      x: x + 46,
      y,
      text: value ? compact(value) : "–",
      "text-anchor": "end",
      class: strong ? "strong" : value ? null : "quiet",
    });
    if (tops && value)
      boxes.push({
        x: x + 52,
        y: y - 5,
        width: Math.max(1, (room * value) / tops[c]),
        height: 10,
        class: "bar",
      });
  });
  return { boxes, texts };
}

/** One line of the ledger. */
export function row({ lines, frame, state }, line, r) {
  const { narrow, tall, room, tops } = frame;
  const y = tops[r];
  const middle = y + 12;
  const values = MEASURES.map(([name]) => line.blocks * line[name]);
  const best = MEASURES.map(([name]) => most(lines, name));
  const { boxes, texts } = measures(frame, values, best, narrow ? y + 33 : middle);
  const bad = state.wrong && line.name === "split_heads";
  texts.push(
    {
      x: 14,
      y: middle,
      text: bad
        ? "✗ view(…)"
        : narrow && line.copies > 1 && !line.view
          ? "q, k, v"
          : line.name,
      class: `token${bad ? " strong" : ""}`,
    },
    {
      x: narrow ? room - 8 : 158,
      y: middle,
      text: shapeText(line),
      class: "token quiet",
      "text-anchor": narrow ? "end" : null,
    },
  );
  return {
    boxes,
    texts,
    part: line.part,
    box: { x: 8, y: y + 1, width: room - 11, height: tall - 2 },
  }; // all of its ring is seen
}

/** What stands around the lines: names of columns, groups with their lines, sums. */
export function around({ lines, frame, params, flops, bytes, state }) {
  const { narrow, first, step, tops, tall, room, sum } = frame;
  /** @type {Record<string, any>[]} */
  const texts = MEASURES.map(([, name], c) => ({
    x: first + c * step + 46,
    y: 10,
    text: name,
    class: "quiet",
    "text-anchor": "middle",
  }));
  if (!narrow)
    texts.push(
      { x: 14, y: 10, text: "line", class: "quiet" },
      { x: 158, y: 10, text: "shape", class: "quiet" },
    );
  const paths = [];
  for (const part of Object.keys(NOTES)) {
    const own = [...lines.keys()].filter((r) => lines[r].part === part);
    const [top, low] = [tops[own[0]], tops[own.at(-1)] + tall];
    paths.push({ d: `M3 ${top - 18}V${low - 2}`, class: `group ${part}` });
    texts.push({
      x: 10,
      y: top - 10,
      class: "quiet strong",
      text: `${state.n_layers} × ${narrow ? NOTES[part].split(":")[0] : NOTES[part]}`,
    });
  }
  paths.push({ d: `M0 ${sum}H${room}`, class: "rule" });
  texts.push({ x: 14, y: sum + 14, text: "sum", class: "strong" });
  const sums = measures(
    frame,
    [params, flops, bytes],
    null,
    sum + (narrow ? 33 : 14),
    true,
  );
  return { paths, texts: [...texts, ...sums.texts] };
}

/** The pieces of a few tokens, cut into a few heads: { boxes, texts, width, height, tokens }. */
export function reshape({ length, n_heads: heads, wrong }) {
  const [T, h] = [Math.min(length, SMALL), Math.min(heads, SMALL)];
  const boxes = [];
  /** @type {Record<string, any>[]} */
  const texts = [];
  const [left, wide, tall] = [50, 64, 26];
  const from = sources(T, h, wrong);
  for (let t = 0; t < T; t++)
    texts.push({
      x: left + (t + 0.5) * wide - 2,
      y: 9,
      text: `pos ${t}`,
      class: "quiet",
      "text-anchor": "middle",
    });
  from.forEach((tokens, j) => {
    const y = 20 + j * (tall + 4);
    texts.push({ x: 0, y: y + tall / 2, text: `head ${j}`, class: "quiet" });
    tokens.forEach((token, t) => {
      boxes.push({
        x: left + t * wide,
        y,
        width: wide - 4,
        height: tall,
        class: `piece of${token}`,
      });
      texts.push({
        x: left + t * wide + wide / 2 - 2,
        y: y + tall / 2,
        class: `token of${token}${token === t ? "" : " strong"}`,
        text: `tok ${token} ${token === t ? "✓" : "✗"}`,
        "text-anchor": "middle",
      });
    });
  });
  return { boxes, texts, from, width: left + T * wide, height: 20 + h * (tall + 4) };
}

function check(state) {
  keep(state, limits);
  const { d_model: d, n_heads: heads } = state;
  if (d % heads)
    throw Error(`n_heads must divide d_model, got n_heads=${heads}, d_model=${d}`);
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const all = linesOf(state);
  const [params, flops, bytes] = ["params", "flops", "bytes"].map((name) =>
    total(all, name),
  );
  return { state, lines: all, params, flops, bytes, frame: frame(all, room) };
}

/** Every attribute, as `fill` keeps those that are not named. */
export const plain = ({
  text,
  x,
  y,
  class: kind = null,
  "text-anchor": anchor = null,
}) => ({
  text,
  x,
  y,
  class: kind,
  "text-anchor": anchor,
});
