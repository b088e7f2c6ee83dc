// The state of SamplingDesk, checked, whose answer is shown, and where everything stands:
// the bars, and texts as rows of tokens. Pure: no DOM.
import { hatch, keep, percent, scale, tokenText } from "../kit/index.mjs";
import { MODEL, ROOM, answer, continuations } from "./model.mjs";
import { counts, others, reshape } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

export const SIGNS = limits.text.text[1]; // of a text
const ROWS = 12; // tokens that are listed
const TALL = 24;
const SIGN = 7.6; // width of one monospace sign at 12.5 px
const LINE = 24;

/** Whose logits are shown: the stored ones, the page's, or with a problem the stored ones of another text. */
export function source(state) {
  const { text, drawn, asked, logits, tokens } = state;
  const now = [text, ...drawn];
  const found =
    JSON.stringify(now) !== JSON.stringify(asked) &&
    (state.source === MODEL
      ? (answer(state) ?? {
          problem: "This text needs the model, which is not loaded.",
        })
      : { problem: "Other texts need Python's answer." });
  const [first, ...ids] = found.logits ? now : asked;
  return { logits, ...found, read: first + ids.map((id) => tokens[id]).join("") };
}

/** Whether no token fits behind the text. */
export const isFull = (state) =>
  state.drawn.length >= ROOM ||
  (state.source === MODEL && answer(state)?.ids?.length >= ROOM);

/** Everything that is drawn or said, from the state and from the model if it is here. */
export function layout(state, room = 680) {
  keep(state, limits);
  const from = source(state);
  const shares = reshape(from.logits, state);
  const drawn = counts(shares.after, state);
  const place = shares.order.indexOf(state.held);
  const listed = shares.order.slice(0, ROWS).map((_, i) => i);
  if (place >= ROWS) listed[ROWS - 1] = place;
  const trap = state.trap && state.source === MODEL && (continuations(state) ?? {});
  const geometry = { ...from, ...shares, state, drawn, listed, room, trap };
  return { ...geometry, frame: frame(geometry) };
}

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

const short = (p) =>
  p > 0 && p < 0.005 ? "<1%" : percent(p).replace("more than 99", ">99");
const diamond = (x, y, r) => `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`;

/** What a line says: the token, its shares, and how often it was drawn. */
function rowTexts({ state, order, before, after, cut, drawn, frame }, place, middle) {
  const { left, end, small, room } = frame;
  const off = cut[place];
  const shares = off
    ? `${short(before[place])}, cut`
    : `${short(before[place]).replace("%", "")} → ${short(after[place])}`;
  const times = {
    x: room,
    y: middle,
    text: `${drawn[place]}×`,
    "text-anchor": "end",
    class: drawn[place] ? null : "quiet",
  };
  return [
    {
      x: left - 8,
      y: middle,
      text: tokenText(state.tokens[order[place]], small ? 9 : 14),
      class: `token ${off ? "quiet" : ""}`,
      "text-anchor": "end",
    },
    { x: end + 8, y: middle, text: shares, class: off ? "quiet" : "strong" },
    ...(state.count ? [times] : []),
  ];
}

/** One token: its name, its bar before, its bar after, its count. */
export function row(geometry, place, r) {
  const { state, before, after, cut, drawn, frame } = geometry;
  const { x, left, small, room } = frame;
  const y = 20 + r * TALL;
  const off = cut[place];
  const long = (share) => Math.max(1, x(share) - left);
  const was = { x: left, y: y + 3, width: long(before[place]), height: 8 };
  const now = {
    x: left,
    y: y + 12,
    width: off ? 0 : long(after[place]),
    height: 11,
  };
  const paths = [];
  if (off)
    paths.push({ d: hatch(was.x, was.y, was.width, was.height, 5), class: "hatch" });
  else if (state.count)
    paths.push({
      d: diamond(x(drawn[place] / state.count), y + 17.5, small ? 4 : 6.5),
      class: "count",
    });
  return {
    boxes: [
      { ...was, class: "before", "data-part": off ? "before cut" : "before" },
      { ...now, class: "after", "data-part": "after" },
    ],
    paths,
    texts: rowTexts(geometry, place, y + TALL / 2),
    box: { x: 0, y, width: room, height: TALL - 1 },
  };
}

const BOTTOM = 20 + ROWS * TALL; // of the lines

/** What the other tokens have together, below the lines. */
function otherTexts({ frame: { left, room }, state }, rest) {
  if (!rest.n) return [];
  const y = BOTTOM + 14;
  const stay = rest.gone === rest.n ? "all cut off" : `${rest.n - rest.gone} remain`;
  const shares = `${short(rest.before)} → ${short(rest.after)}`;
  const texts = [
    { x: left - 8, y, text: `${rest.n} others`, "text-anchor": "end" },
    { x: left, y, text: `${shares} together, ${stay}` },
    { x: room, y, text: `${rest.drawn}×`, "text-anchor": "end" },
  ];
  return texts
    .slice(0, state.count ? 3 : 2)
    .map((text) => ({ ...text, class: "quiet" }));
}

/** The line below which tokens are cut off, and what cuts the first of them; or nothing. */
function cutOff({ frame: { end, room }, cut, listed }, rest) {
  const allGone = rest.n && rest.gone === rest.n;
  const ends = [...listed.map((i) => cut[i]), allGone ? cut.at(-1) : ""];
  const first = ends.findIndex(Boolean);
  if (first < 0) return { path: "", texts: [] };
  const y = 20 + first * TALL - 0.5;
  const text = {
    x: end - 4,
    y: y + (first < ROWS ? 13 : -11),
    text: `✂ ${cut.find(Boolean)}`,
    class: "strong",
    "text-anchor": "end",
    "data-part": "cut",
  };
  return { path: `M0 ${y}H${room}`, texts: [text] };
}

/** What stands around the rows: the axis, the line of the cut, all other tokens. */
export function around(geometry) {
  const { x } = geometry.frame;
  const rest = others(geometry);
  const cut = cutOff(geometry, rest);
  const axis = [0, 0.5, 1].map((part) => ({
    x: x(part),
    y: 9,
    text: `${100 * part}%`,
    class: "quiet",
    "text-anchor": part ? "middle" : "start",
  }));
  return {
    raster: axis.map((at) => `M${at.x} 18V${BOTTOM}`).join(""),
    cut: cut.path,
    texts: [...axis, ...cut.texts, ...otherTexts(geometry, rest)],
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
