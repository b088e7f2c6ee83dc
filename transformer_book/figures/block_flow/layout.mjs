// Where everything stands: the stream, row by row, and the random stack. Pure: no DOM.
import { keep, line, number, percent, quote, scale, tokenText } from "../kit/index.mjs";
import { flowOf } from "./numbers.mjs";
import { block, brief, degrees, leader, part } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const HEAD = 24; // height of the line of names
const KINDS = { attention: "attention", "feed-forward": "ff", embedding: "stream" };
const SIGN = 7.6; // width of one monospace sign
const text = (x, y, words, kind = null, anchor = null) => ({
  x,
  y,
  text: words,
  class: kind,
  "text-anchor": anchor,
});

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  const flow = flowOf(state);
  return { state, flow, frame: frame(flow, room), stack: stack(state, room) };
}

/** The frame of the rows in `room` pixels. */
function frame({ lengths, changes }, room) {
  const narrow = room < 560;
  const place = narrow
    ? { tall: 40, middle: 40, half: 40, words: 96 }
    : { tall: 40, middle: 222, half: 60, words: 412, added: 306 };
  const most = Math.max(...lengths, ...changes);
  const height = HEAD + place.tall * lengths.length;
  return {
    ...place,
    narrow,
    room,
    height,
    unit: place.half / most,
    step: (room - place.words) / 3,
  };
}

const top = ({ tall }, r) => HEAD + r * tall;

/** The band: half its width is the length of the stream. */
function band({ lengths }, at) {
  const ends = lengths.flatMap((length, r) =>
    [r ? 0.4 : 0, 1].map((share) => [at.unit * length, top(at, r) + share * at.tall]),
  );
  const side = (sign, all) => all.map(([half, y]) => [at.middle + sign * half, y]);
  return `${line([...side(1, ends), ...side(-1, ends.toReversed())])}Z`;
}

/** What stands around the rows: names of columns, the band, brackets of blocks. */
export function around({ flow, frame: at }) {
  const { narrow, middle, words, added, tall } = at;
  const groups = flow.lengths.flatMap((_, r) => (r % 2 ? [top(at, r)] : []));
  const left = narrow ? words - 8 : 4;
  const before = [...flow.tokens.slice(0, flow.position + 1).join("")];
  const end = quote(`${before.length > 12 ? "…" : ""}${before.slice(-12).join("")}`);
  return {
    paths: [
      { d: band(flow, at), class: "band", "data-part": "stream" },
      ...groups.map((y) => ({
        d: `M${left} ${y + 4}v${2 * tall - 8}`,
        class: "group",
      })),
    ],
    texts: [
      text(
        middle,
        10,
        narrow ? "its length" : "length of the stream",
        "quiet",
        "middle",
      ),
      ...(narrow ? [] : [text(added, 10, "addition", "quiet")]),
      text(
        words,
        10,
        narrow ? `next after ${end}` : `logit lens: next token after ${end}`,
        "quiet",
      ),
    ],
  };
}

/** An arrow from (x, y): as long as the addition, at its angle to a stream that flows down. */
const arrow = (x, y, length, angle) => ({
  d: `M0 0v${Math.max(length, 5)}l-4 -5m4 5l4 -5`,
  transform: `translate(${x} ${y})rotate(${-angle})`,
});

function addition({ lengths, changes, cosines }, at, r, y) {
  const { narrow, added, unit, middle, room } = at;
  const kind = KINDS[part(r)];
  const angle = degrees(cosines[r - 1]);
  const words = `+ ${number(changes[r - 1], 1)} at ${angle}°`;
  if (narrow) return { paths: [], texts: [text(room - 4, y + 8, words, kind, "end")] };
  const length = 2 * unit * changes[r - 1];
  const edge = middle + unit * lengths[r - 1] + 3;
  return {
    paths: [
      { d: `M${added} ${y + 4}v20`, class: "flow" },
      { ...arrow(added, y + 11, length, angle), class: `vector ${kind}` },
      { d: `M${added - 8} ${y + 11}H${edge}m5 -4l-5 4l5 4`, class: `into ${kind}` },
    ],
    texts: [text(added - 8, y + 31, words, kind)],
  };
}

/** What the lens reads: three tokens with their bars; the answer's are black and high. */
function lens(flow, at, r, y) {
  const { narrow, words, step } = at;
  const answer = leader(flow, -1);
  const limit = Math.floor((step - (narrow ? 44 : 50)) / SIGN);
  const bars = [];
  const texts = flow.top[r].flatMap(([token, p], i) => {
    const [x, strong] = [words + i * step, token === answer];
    const [low, height] = narrow ? [y + 31, 5] : [y + 22, 10];
    const wide = Math.max(1, p * (step - 12));
    bars.push({ x, y: low, width: step - 12, height, class: "room" });
    bars.push({ x, y: low, width: wide, height, class: strong ? "answer" : "other" });
    const kind = strong ? "strong" : "";
    const middle = y + (narrow ? 23 : 12);
    return [
      text(x, middle, tokenText(token, limit), `token ${kind}`),
      text(x + step - 12, middle, brief(p), kind, "end"),
    ];
  });
  return { bars, texts };
}

/** One row of the picture, with the cell that a reader can go to. */
export function row({ flow, frame: at }, r) {
  const { narrow, words, middle, tall, room } = at;
  const y = top(at, r);
  const kind = KINDS[part(r)];
  const added = r ? addition(flow, at, r, y) : { paths: [], texts: [] };
  const read = lens(flow, at, r, y);
  const name = narrow
    ? [text(words, y + 8, r ? `${block(r)} ${part(r)}` : "embedding", kind)]
    : [
        text(64, y + 12, part(r), kind),
        ...(r % 2 ? [text(12, y + 12, `block ${block(r)}`, "quiet")] : []),
      ];
  return {
    part: kind,
    box: { x: 0, y: y + 1, width: room, height: tall - 2 },
    paths: added.paths,
    bars: read.bars,
    texts: [
      ...name,
      ...added.texts,
      ...read.texts,
      text(middle, y + tall * 0.7, number(flow.lengths[r], 1), "strong", "middle"),
    ],
  };
}

const HALF = 30; // of the random stack's band
const [LOW, SIDE] = [134, 42]; // where its bars stand; room for numbers at both sides

/** The root of depth through the first and the last length. */
const rootOf = (lengths) =>
  lengths.map((_, i) => {
    const [first, last] = [lengths[0] ** 2, lengths.at(-1) ** 2];
    return Math.sqrt(first + ((last - first) * i) / (lengths.length - 1));
  });

/** The random stack of a kind: its band, the root of depth, the shares as bars. */
function stack({ residual, stacks }, room) {
  const { lengths, shares } = stacks[residual];
  const most = Math.max(...stacks.pre.lengths, ...stacks.post.lengths);
  const at = scale([0, shares.length], [SIDE, room - SIDE]);
  const middle = 20 + HALF;
  const side = (values, sign) =>
    values.map((x, i) => [at(i), middle + (sign * HALF * x) / most]);
  const both = (values) => line(side(values, 1)) + line(side(values, -1));
  const step = at(1) - at(0);
  const bars = shares.map((share, i) => ({
    x: at(i) + 0.1 * step,
    y: LOW - 40 * share,
    width: 0.8 * step,
    height: 40 * share,
    class: KINDS[part(i + 1)],
  }));
  return {
    width: room,
    height: LOW + 22,
    bars,
    paths: [
      {
        d: `${line([...side(lengths, 1), ...side(lengths, -1).toReversed()])}Z`,
        class: "band",
      },
      { d: residual === "pre" ? both(rootOf(lengths)) : "", class: "root" },
      { d: `M${SIDE} ${LOW}H${room - SIDE}`, class: "rule" },
    ],
    texts: [
      text(0, 8, "length of the stream", "quiet"),
      text(room, 8, residual === "pre" ? "dashed: √depth" : "", "quiet", "end"),
      text(SIDE - 6, middle, number(lengths[0], 1), "strong", "end"),
      text(room - SIDE + 6, middle, number(lengths.at(-1), 1), "strong"),
      text(SIDE - 6, LOW - 8, percent(shares[0]), null, "end"),
      text(room - SIDE + 6, LOW - 8, percent(shares.at(-1))),
      text(0, LOW + 14, "length of addition ÷ length of sum", "quiet"),
      text(room, LOW + 14, "depth →", "quiet", "end"),
    ],
  };
}
