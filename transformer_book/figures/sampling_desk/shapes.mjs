// Where everything stands: the bars, and texts as rows of tokens. Pure: no DOM.
import { hatch, percent, scale, tokenText } from "../kit/index.mjs";
import { others } from "./text.mjs";

export const ROWS = 12; // tokens that are listed
export const TALL = 24;
const SIGN = 7.6; // width of one monospace sign at 12.5 px
const LINE = 24;
const wide = (text) =>
  [...text].reduce((all, sign) => all + (sign.codePointAt(0) > 0x2e7f ? 2 : 1), 0) *
  SIGN;

/** The room of the bars: always from 0 to 1, so that lengths compare from state to state. */
export function frame({ room, state }) {
  const small = room < 500;
  const left = small ? 82 : 122;
  const right = (small ? 88 : 98) + (state.count ? 46 : 0);
  return {
    room,
    left,
    small,
    end: room - right,
    x: scale([0, 1], [left, room - right]),
    height: ROWS * TALL + 46,
  };
}

/** One token: its name, its bar before, its bar after, its count. */
export function row({ state, order, before, after, cut, drawn, frame: at }, place, r) {
  const { x, left, end, small } = at;
  const y = 20 + r * TALL;
  const off = cut[place];
  const middle = y + TALL / 2;
  const name = tokenText(state.tokens[order[place]], small ? 9 : 14);
  const number = { x: end + 8, y: middle, class: off ? "quiet" : "strong" };
  const was = {
    x: left,
    y: y + 3,
    width: Math.max(1, x(before[place]) - left),
    height: 8,
  };
  const [now, text] = off
    ? [0, `${short(before[place])}, cut`]
    : [
        Math.max(1, x(after[place]) - left),
        `${short(before[place]).replace(" %", "")} → ${short(after[place])}`,
      ];
  const times = state.count
    ? [
        {
          x: at.room,
          y: middle,
          text: `${drawn[place]}×`,
          "text-anchor": "end",
          class: drawn[place] ? null : "quiet",
        },
      ]
    : [];
  return {
    boxes: [
      { ...was, class: "before", "data-part": off ? "before cut" : "before" },
      {
        x: left,
        y: y + 12,
        width: now,
        height: 11,
        class: "after",
        "data-part": "after",
      },
    ],
    paths: [
      off && { d: hatch(was.x, was.y, was.width, was.height, 5), class: "hatch" },
      state.count &&
        !off && {
          d: diamond(x(drawn[place] / state.count), y + 17.5, small ? 4 : 6.5),
          class: "count",
        },
    ].filter(Boolean),
    texts: [
      {
        x: left - 8,
        y: middle,
        text: name,
        class: `token ${off ? "quiet" : ""}`,
        "text-anchor": "end",
      },
      { ...number, text },
      ...times,
    ],
    box: { x: 0, y, width: at.room, height: TALL - 1 },
  };
}

const short = (p) =>
  p > 0 && p < 0.005 ? "<1 %" : percent(p).replace("more than 99", ">99");
const diamond = (x, y, r) => `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`;

/** What stands around the rows: the axis, the line of the cut, all other tokens. */
export function around(geometry) {
  const {
    frame: { x, left, end, room },
    cut,
    listed,
    state,
  } = geometry;
  const bottom = 20 + ROWS * TALL;
  const rest = others(geometry);
  const all = rest.gone === rest.n;
  const ends = [...listed.map((i) => cut[i]), rest.n && all ? cut.at(-1) : ""];
  const first = ends.findIndex(Boolean);
  const y = 20 + first * TALL - 0.5;
  return {
    raster: [0, 0.5, 1].map((part) => `M${x(part)} 18V${bottom}`).join(""),
    cut: first < 0 ? "" : `M0 ${y}H${room}`,
    texts: [
      ...[0, 0.5, 1].map((part) => ({
        x: x(part),
        y: 9,
        text: `${100 * part} %`,
        class: "quiet",
        "text-anchor": part ? "middle" : "start",
      })),
      ...(first < 0
        ? []
        : [
            {
              x: end - 4,
              y: y + (first < ROWS ? 13 : -11),
              text: `✂ ${ends[first]}`,
              class: "strong",
              "text-anchor": "end",
              "data-part": "cut",
            },
          ]),
      ...(rest.n
        ? [
            {
              x: left - 8,
              y: bottom + 14,
              text: `${rest.n} others`,
              "text-anchor": "end",
              class: "quiet",
            },
            {
              x: left,
              y: bottom + 14,
              class: "quiet",
              text: `${short(rest.before)} → ${short(rest.after)} together, ${all ? "all cut off" : `${rest.n - rest.gone} stay`}`,
            },
          ]
        : []),
      ...(rest.n && state.count
        ? [
            {
              x: room,
              y: bottom + 14,
              text: `${rest.drawn}×`,
              class: "quiet",
              "text-anchor": "end",
            },
          ]
        : []),
    ],
  };
}

/** A piece as it is shown, and whether it goes on with the word before it. */
function shownAs({ text, kind }) {
  const boxed = kind === "drawn" || kind === "newest";
  const shown = boxed
    ? tokenText(text, 16)
    : tokenText(text, 32).replace(/[␣ ]/g, "\u00a0");
  return {
    shown,
    kind,
    boxed,
    width: wide(shown) + (boxed ? 6 : 0),
    joins: !boxed && /^\S/.test(text),
  };
}

/**
 * Pieces of text in lines that end with words: tokens in boxes, running text without; the
 * last `most` lines.
 */
export function flow(pieces, room, most) {
  const all = pieces.map(shownAs);
  const placed = [];
  let [x, line] = [0, 0];
  all.forEach((piece, i) => {
    const { boxed, width, joins } = piece;
    if (boxed && x && !placed.at(-1).kind) x += 4;
    let word = width;
    for (let end = i + 1; !joins && all[end]?.joins; end++) word += all[end].width;
    if (x && x + (word > room ? width : word) > room) [x, line] = [0, line + 1];
    placed.push({ ...piece, x, line });
    x += width + (boxed ? 3 : 0);
  });
  const first = Math.max(0, line + 1 - most);
  const seen = placed.filter((piece) => piece.line >= first);
  const y = (piece) => (piece.line - first) * LINE;
  return {
    cut: first > 0,
    height: Math.min(most, line + 1) * LINE,
    boxes: seen
      .filter(({ kind }) => kind && kind !== "quiet")
      .map((piece) => ({
        x: piece.x,
        y: y(piece) + 2,
        width: piece.width,
        height: LINE - 4,
        class: `piece ${piece.kind}`,
      })),
    paths: seen
      .filter(({ kind }) => kind === "again")
      .map((piece) => ({
        d: `M${piece.x} ${y(piece) + LINE - 3}h${piece.width}`,
        class: "under",
      })),
    texts: seen.map((piece) => ({
      x: piece.x + (piece.boxed ? 3 : 0),
      y: y(piece) + LINE / 2,
      text: piece.shown,
      class: piece.kind === "quiet" ? "token quiet" : "token",
    })),
  };
}

/** The prompt as words, then each drawn token as a box. */
export const pieces = ({ state: { text, drawn, tokens } }) => [
  ...(text.match(/\s*\S{1,16}|\s+/gu) ?? []).map((word) => ({ text: word })),
  ...drawn.map((id, i) => ({
    text: tokens[id],
    kind: i === drawn.length - 1 ? "newest" : "drawn",
  })),
];
