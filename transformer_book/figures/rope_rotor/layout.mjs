// Where everything stands: the track of positions, the clocks, the curve. Pure: no DOM.
import { hatch, line, number, scale, short } from "../kit/index.mjs";
import { partsOf, sum } from "./numbers.mjs";
import { LAST, round } from "./text.mjs";

const TAU = 2 * Math.PI;
const range = (n) => [...Array(n).keys()];
const text = (x, y, shown, kind, anchor = "middle", part = null) => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
  "data-part": part,
});

/** Two lanes above each other, a handle in each, and their distance between them. */
export function track({ m, n }, room) {
  const x = scale([0, LAST], [78, room - 18]);
  const end = x(LAST);
  const beside = (at) => (at > end - 74 ? [at - 16, "end"] : [at + 16, "start"]);
  const lanes = [
    ["query", "m", m, 24],
    ["key", "n", n, 84],
  ].map(([kind, name, at, y]) => {
    const [place, anchor] = beside(x(at));
    return {
      kind,
      name,
      at,
      x: x(at),
      y,
      label: text(place, y, `${name} = ${at}`, `${kind} strong clear`, anchor),
    };
  });
  const [low, high] = [Math.min(x(m), x(n)), Math.max(x(m), x(n))];
  const side =
    high <= end - 96
      ? [high + 10, "start"]
      : low > 110
        ? [low - 10, "end"]
        : [(low + high) / 2, "middle"];
  return {
    x,
    lanes,
    height: 128,
    axes: lanes
      .map(
        ({ y }) =>
          `M${x(0)} ${y}H${end}${range(4)
            .map((i) => `M${x(10 * i)} ${y - 4}v8`)
            .join("")}`,
      )
      .join(""),
    gap: `M${x(m)} 37V54H${x(n)}V71`,
    texts: [
      text(0, 24, "query at", "quiet", "start"),
      text(0, 84, "key at", "quiet", "start"),
      text(0, 116, "∿ position", "position", "start"),
      ...range(4).map((i) => text(x(10 * i), 116, 10 * i, "position")),
      text(side[0], 54, `m − n = ${m - n}`, "strong clear", side[1], "between"),
    ],
  };
}

const at = ([cx, cy], radius, angle) => [
  cx + radius * Math.cos(angle),
  cy - radius * Math.sin(angle),
];
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

/** One clock per pair: two hands, the angle between them, and what it adds. */
export function clocks({ pairs }, room) {
  const most =
    Math.max(...pairs.flatMap(({ q, k }) => [Math.hypot(...q), Math.hypot(...k)])) || 1;
  const top = Math.max(...pairs.map((pair) => pair.most)) || 1;
  const columns = Math.min(pairs.length, Math.max(2, Math.floor(room / 150)), 4);
  const width = Math.min(190, Math.floor(room / columns));
  const radius = Math.min(room < 480 ? 42 : 52, width / 2 - 20); // a phone shows two rows
  const height = 2 * radius + 128;
  const faces = pairs.map((pair) => {
    const [left, y] = [
      (pair.i % columns) * width,
      Math.floor(pair.i / columns) * height,
    ];
    const center = [left + width / 2, y + 62 + radius];
    const [a, b] = [pair.q, pair.k].map(([first, second]) => Math.atan2(second, first));
    const turn = wrap(a - b);
    const push = Math.max(0, (0.44 - Math.abs(turn)) / 2) * (turn < 0 ? -1 : 1);
    const hand = (angle, vector) =>
      line([center, at(center, (radius * Math.hypot(...vector)) / most, angle)]);
    const low = y + 102 + 2 * radius;
    const middle = left + width / 2;
    return {
      ...pair,
      center,
      radius,
      box: { x: left + 4, y: y + 2, width: width - 8, height: height - 6 },
      q: hand(a, pair.q),
      k: hand(b, pair.k),
      arc: arc(center, b, turn),
      bar: bar(left + 14, low, width - 28, pair.part / top),
      zero: `M${middle} ${low - 3}v16`,
      texts: [
        text(middle, y + 17, `pair ${pair.i}: dims ${pair.dims.join(", ")}`, "strong"),
        text(middle, y + 34, `${round(pair.speed)} steps a round`, "quiet"),
        text(...at(center, radius + 11, a + push), "Q", "query strong"),
        text(...at(center, radius + 11, b - push), "K", "key strong"),
        text(middle, low - 12, `adds ${number(pair.part)}`, "strong"),
      ],
    };
  });
  return {
    faces,
    width: columns * width,
    height: Math.ceil(pairs.length / columns) * height,
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
  const floor = room < 480 ? 126 : 166; // a phone shows the track and the curve together
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
