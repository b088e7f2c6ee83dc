// Where everything stands: the track of positions, the clocks, the curve. Pure: no DOM.
import { hatch, keep, line, number, range, scale, short, sum } from "../kit/index.mjs";
import { LAST, pairsOf, partsOf } from "./numbers.mjs";
import { stepsARound } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const TAU = 2 * Math.PI;
const PHONE = 480; // below this width, a narrow picture

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  const pairs = pairsOf(state);
  return { state, room, pairs, score: sum(pairs.map(({ part }) => part)) };
}

const text = (x, y, shown, kind, anchor = "middle", part = null) => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
  "data-part": part,
});

/** Where the distance of the positions is written: beside them, else between them. */
function besideGap(low, high, end) {
  if (high <= end - 96) return [high + 10, "start"];
  return low > 110 ? [low - 10, "end"] : [(low + high) / 2, "middle"];
}

/** Two lanes above each other, a handle in each, and their distance between them. */
export function track({ m, n }, room) {
  const x = scale([0, LAST], [78, room - 18]);
  const end = x(LAST);
  const lanes = [
    { kind: "query", name: "m", at: m, y: 24 },
    { kind: "key", name: "n", at: n, y: 84 },
  ].map((lane) => {
    const isAtEnd = x(lane.at) > end - 74;
    const words = `${lane.name} = ${lane.at}`;
    const place = x(lane.at) + (isAtEnd ? -16 : 16);
    const anchor = isAtEnd ? "end" : "start";
    const label = text(place, lane.y, words, `${lane.kind} strong clear`, anchor);
    return { ...lane, x: x(lane.at), label };
  });
  const tens = range(4).map((i) => 10 * i);
  const ticks = (y) => tens.map((at) => `M${x(at)} ${y - 4}v8`).join("");
  const [gap, anchor] = besideGap(Math.min(x(m), x(n)), Math.max(x(m), x(n)), end);
  return {
    x,
    lanes,
    height: 128,
    axes: lanes.map(({ y }) => `M${x(0)} ${y}H${end}${ticks(y)}`).join(""),
    gap: `M${x(m)} 37V54H${x(n)}V71`,
    texts: [
      text(0, 24, "query at", "quiet", "start"),
      text(0, 84, "key at", "quiet", "start"),
      text(0, 116, "∿ position", "position", "start"),
      ...tens.map((at) => text(x(at), 116, at, "position")),
      text(gap, 54, `m − n = ${m - n}`, "strong clear", anchor, "between"),
    ],
  };
}

/**
 * The point of a circle at an angle.
 * @param {number[]} center
 */
const at = ([cx, cy], radius, angle) => [
  cx + radius * Math.cos(angle),
  cy - radius * Math.sin(angle),
];
/** The same angle from -π to π. */
const wrap = (angle) => angle - TAU * Math.round(angle / TAU);

/** The arc from the key's to the query's angle, the shorter way. */
function arc(center, from, turn, radius = 15) {
  const steps = Math.max(2, Math.ceil(Math.abs(turn) / 0.2));
  return line(
    range(steps + 1).map((i) => at(center, radius, from + (turn * i) / steps)),
  );
}

/** A bar from the middle to `share` (-1 to 1) of its room; what is below 0 is hatched. */
function bar(left, y, width, share) {
  const size = (Math.abs(share) * width) / 2;
  const x = left + width / 2 - (share < 0 ? size : 0);
  return {
    x,
    y,
    size,
    minus: share < 0,
    strokes: share < 0 ? hatch(x, y, size, 10, 6) : "",
  };
}

/**
 * The clock of a pair: two hands and the angle between them.
 * @param {any} pair
 * @param {number[]} corner its left and its top
 * @param {any} sizes
 */
function face(pair, [left, y], { width, height, radius, longest, largest }) {
  const middle = left + width / 2;
  const center = [middle, y + 62 + radius];
  const [a, b] = [pair.q, pair.k].map(([first, second]) => Math.atan2(second, first));
  const turn = wrap(a - b);
  // letters of hands that lie on each other are pushed apart
  const push = Math.max(0, (0.44 - Math.abs(turn)) / 2) * (turn < 0 ? -1 : 1);
  const hand = (angle, vector) =>
    line([center, at(center, (radius * Math.hypot(...vector)) / longest, angle)]);
  const letter = (name, angle, kind) => {
    const [x, top] = at(center, radius + 11, angle);
    return text(x, top, name, `${kind} strong`);
  };
  const low = y + 102 + 2 * radius;
  return {
    ...pair,
    center,
    radius,
    box: { x: left + 4, y: y + 2, width: width - 8, height: height - 6 },
    q: hand(a, pair.q),
    k: hand(b, pair.k),
    arc: arc(center, b, turn),
    bar: bar(left + 14, low, width - 28, pair.part / largest),
    zero: `M${middle} ${low - 3}v16`,
    texts: [
      text(middle, y + 17, `pair ${pair.i}: dims ${pair.dims.join(", ")}`, "strong"),
      text(middle, y + 34, `period ${stepsARound(pair.speed)}`, "quiet"),
      letter("Q", a + push, "query"),
      letter("K", b - push, "key"),
      text(middle, low - 12, `adds ${number(pair.part)}`, "strong"),
    ],
  };
}

/** One clock per pair, and what it adds. */
export function clocks({ pairs }, room) {
  const hands = pairs.flatMap(({ q, k }) => [q, k]);
  const columns = Math.min(pairs.length, Math.max(2, Math.floor(room / 150)), 4);
  const width = Math.min(190, Math.floor(room / columns));
  const radius = Math.min(room < PHONE ? 42 : 52, width / 2 - 20); // a phone shows two rows
  const sizes = {
    width,
    radius,
    height: 2 * radius + 128,
    longest: Math.max(...hands.map((hand) => Math.hypot(...hand))) || 1,
    largest: Math.max(...pairs.map(({ most }) => most)) || 1,
  };
  const corner = (i) => [(i % columns) * width, Math.floor(i / columns) * sizes.height];
  return {
    faces: pairs.map((pair) => face(pair, corner(pair.i), sizes)),
    width: columns * width,
    height: Math.ceil(pairs.length / columns) * sizes.height,
  };
}

const distances = range(8 * LAST + 1).map((i) => i / 4 - LAST);

/** The dot product against m − n, which needs neither m nor n; a held pair's part too. */
export function curve({ state, pairs, score }, active, room) {
  const speeds = pairs.map(({ speed }) => speed);
  const all = distances.map((distance) => partsOf(state, distance, 0, speeds));
  const totals = all.map(sum);
  const reach = Math.max(...pairs.map(({ most }) => most)) || 1;
  const [low, high] = [Math.min(...totals, -reach), Math.max(...totals, reach)];
  const x = scale([-LAST, LAST], [48, room - 8]);
  const floor = room < PHONE ? 126 : 166; // a phone shows the track and the curve together
  const y = scale([low, high], [floor, 26]);
  const path = (values) => line(values.map((value, i) => [x(distances[i]), y(value)]));
  const here = x(state.m - state.n);
  return {
    height: floor + 40,
    total: path(totals),
    part: active ? path(all.map((parts) => parts[active[1]])) : "",
    zero: `M48 ${y(0)}H${room - 8}`,
    rule: `M${here} 20V${floor}`,
    dot: { cx: here, cy: y(score) },
    texts: [
      ...[high, 0, low].map((value) =>
        text(42, y(value), short(value, 1), "quiet", "end"),
      ),
      ...range(7).map((i) => text(x(10 * i - 30), floor + 15, 10 * i - 30, "position")),
      text(48, floor + 32, "∿ m − n →", "position", "start"),
      text(Math.min(here, room - 24), 10, number(score), "strong"),
    ],
  };
}
