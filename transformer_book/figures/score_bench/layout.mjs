// Where everything stands: the plane, the histograms, the weights. Pure: no DOM.
import { cividis, keep, line, number, percent, range, scale } from "../kit/index.mjs";
import { COUNT, REACH, alignment, bench } from "./numbers.mjs";
import { angle } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const SPAN = limits.query.list.real[1]; // of the plane, on each side of 0
const RIM = 18; // around it, so that a tip at its end is whole, and the product fits
const text = (x, y, shown, kind, anchor = "middle", part = null) => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
  "data-part": part,
});

/** Plane and weights side by side where there is room, else stacked, and less high. */
export const rooms = (room) =>
  room < 560
    ? { side: 240, beside: room, high: 56 }
    : { side: 250, beside: room - 274, high: 84 };

const arc = (from, to, place) => {
  const turn = Math.atan2(Math.sin(to - from), Math.cos(to - from));
  return line(
    range(21).map((i) => {
      const angle = from + (turn * i) / 20;
      return place([0.5 * Math.cos(angle), 0.5 * Math.sin(angle)]);
    }),
  );
};

/** Query and key as arrows; the key's shadow on the query's line; the product below. */
export function plane({ state: { query, key }, alignment }, side) {
  const far = side - RIM;
  const [x, y] = [scale([-SPAN, SPAN], [RIM, far]), scale([-SPAN, SPAN], [far, RIM])];
  const place = ([a, b]) => [x(a), y(b)];
  const { score, lengths } = alignment;
  const none = Math.min(...lengths) === 0;
  const share = none ? 0 : score / lengths[0] ** 2;
  const foot = query.map((a) => a * share);
  const origin = place([0, 0]);
  const lines = range(2 * SPAN + 1).map((i) => i - SPAN);
  return {
    x,
    y,
    height: side + 26,
    q: place(query),
    k: place(key),
    raster: lines.map((a) => `M${x(a)} ${RIM}V${far}M${RIM} ${y(a)}H${far}`).join(""),
    axes: `M${x(0)} ${RIM}V${far}M${RIM} ${y(0)}H${far}`,
    query: line([origin, place(query)]),
    key: line([origin, place(key)]),
    drop: line([place(key), place(foot)]),
    shadow: line([origin, place(foot)]),
    arc: none
      ? ""
      : arc(Math.atan2(query[1], query[0]), Math.atan2(key[1], key[0]), place),
    texts: [
      text(
        side / 2,
        side + 12,
        none
          ? "q · k = 0.00"
          : `${number(lengths[0])} × ${number(lengths[1])} × cos ${angle(alignment)} ≈ ${number(score)}`,
        "strong",
        "middle",
        "score",
      ),
    ],
  };
}

/** Two histograms on one axis, each as high as its own top, and how far each spreads. */
export function histograms({ state, plain, scaled, room }) {
  const tall = 80;
  const x = scale([-REACH, REACH], [4, room - 4]);
  const rows = [
    ["plain", plain, "q · k"],
    ["scaled", scaled, `q · k / √${state.width}`],
  ];
  const ticks = room < 360 ? [-60, -30, 0, 30, 60] : [-60, -40, -20, 0, 20, 40, 60];
  return {
    height: 2 * tall + 42,
    bars: rows.map(([part, { bins }], r) => {
      const floor = (r + 1) * tall - 10;
      const top = Math.max(...bins);
      const d = bins
        .map((count, i) =>
          count
            ? `M${x(i - REACH)} ${floor}V${floor - Math.max(1, ((tall - 34) * count) / top)}H${x(i + 1 - REACH)}V${floor}`
            : "",
        )
        .join("");
      return { d, class: "bar", "data-part": part };
    }),
    axis: rows.map((_, r) => `M4 ${(r + 1) * tall - 10}H${room - 4}`).join(""),
    spreads: rows
      .map(([, { spread }], r) => {
        const y = (r + 1) * tall - 5;
        return `M${x(-spread)} ${y - 3}v6M${x(-spread)} ${y}H${x(spread)}m0 -3v6`;
      })
      .join(""),
    texts: [
      ...rows.map(([part, { spread, beyond }, name], r) =>
        text(
          4,
          r * tall + 12,
          `${name}: std ${number(spread, 1)}${beyond ? `, ${beyond} more beyond ±${REACH}` : ""}`,
          "strong",
          "start",
          part,
        ),
      ),
      ...ticks.map((tick) => text(x(tick), 2 * tall + 16, tick, "quiet")),
      text(4, 2 * tall + 34, "score →", "quiet", "start"),
    ],
  };
}

/** Query 0's weights of 32 keys: upwards as they are, downwards with the root. */
export function bars({ state, plain, scaled }, active, room, high) {
  const [left, base, end] = [50, high + 26, 2 * high + 28];
  const step = (room - left - 2) / COUNT;
  const center = (j) => left + (j + 0.5) * step;
  const rows = [
    ["plain", plain, "↑ softmax(q · k)", 12, -1],
    ["scaled", scaled, `↓ softmax(q · k / √${state.width})`, end + 34, 1],
  ];
  const held = active?.[1] ?? -9;
  return {
    rows: 1,
    cols: COUNT,
    height: end + 46,
    axis: `M${left} ${base}H${room - 2}`,
    bars: rows.flatMap(([part, { weights }, , , sign]) =>
      weights.map((weight, j) => {
        const height = Math.max(0.5, high * weight);
        return {
          x: left + j * step + 1,
          y: base + (sign < 0 ? -height : 0),
          width: step - 2,
          height,
          fill: cividis(weight),
          class: "weight",
          "data-part": part,
        };
      }),
    ),
    texts: [
      ...rows.map(([part, { weights }, name, y]) =>
        text(
          0,
          y,
          `${name}: largest ${percent(Math.max(...weights))}`,
          "strong",
          "start",
          part,
        ),
      ),
      ...[
        [1, base - high],
        [0, base],
        [1, base + high],
      ].map(([shown, y]) => text(left - 6, y, shown, "quiet", "end")),
      text(0, base - high / 2, "q · k", null, "start", "plain"),
      text(0, base + high / 2, `÷ √${state.width}`, null, "start", "scaled"),
      text(0, end + 15, "key", "key", "start"),
      ...range(4)
        .filter((i) => Math.abs(8 * i - held) > 2)
        .map((i) => text(center(8 * i), end + 15, 8 * i, "key")),
      ...(held < 0 ? [] : [text(center(held), end + 15, held, "key strong")]),
    ],
    pick: (px, py) => {
      const j = Math.floor((px - left) / step);
      return j >= 0 && j < COUNT && py > 20 && py < end + 24 ? [0, j] : null;
    },
    box: ([, j]) => ({ x: left + j * step, y: 24, width: step, height: end - 22 }),
  };
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  return { state, room, alignment: alignment(state), ...bench(state) };
}
