// Where everything stands: thumbnails, the large maps, the losses. Pure: no DOM.
import {
  check as must,
  cividis,
  keep,
  number,
  range,
  tokenText,
} from "../kit/index.mjs";
import { SCORES, UNIT, isOff, numbers, runners } from "./numbers.mjs";
import { capital, name } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const SIZES = { "induction-1": [1, 4], "induction-2": [2, 4] }; // layers, heads in each
export const SORTS = [
  ["layer", "layer and head"],
  ["entropy", "entropy, low first"],
  ["previous", "previous token"],
  ["induction", "induction"],
  ["loss", "loss if off"],
];
export const MOST = limits.tokens.length[1]; // tokens
const VOCABULARY = 64; // of both shipped models
const LARGEST_ID = 1e9;

const LEVELS = 10; // shades of weights
const SIGN = 7.6; // width of one monospace sign
const SLANT = 0.72; // of a token's width, as high as it reaches when turned by 45°
const SAID = { entropy: "entropy", previous: "previous", induction: "induction" };
const TALL = 32; // of a bar with its words

const round = (x) => Math.round(100 * x) / 100;

/** How many layers, and heads in each. */
export const sizeOf = ({ source, stored }) =>
  SIZES[source] ?? [stored?.maps?.length, stored?.maps?.[0]?.length];

function check(state) {
  const { source, stored } = state;
  const [layers, heads] = sizeOf(state);
  const n = stored?.ids?.length;
  keep(state, limits, {
    layers,
    heads,
    last_id: SIZES[source] ? VOCABULARY - 1 : LARGEST_ID,
    triangle: (n * (n + 1)) / 2,
  });
  const row = { list: "any", length: [1, n], sum: [UNIT, MOST] }; // each weight is rounded
  const starts = range(n).map((q) => (q * (q + 1)) / 2);
  stored.maps.forEach((layer, l) =>
    layer.forEach((map, h) =>
      starts.forEach((start, q) =>
        must(row, map.slice(start, start + q + 1), `stored.maps[${l}][${h}]`),
      ),
    ),
  );
}

/** Everything that is drawn or said, from the state and a model that runs here, if any. */
export function layout(state, room = 680, runner = runners.get(state.source)) {
  check(state);
  const known = numbers(state, runner);
  if (!known) return { state, room, waiting: true };
  const geometry = { state, room, ...known };
  const small = thumbnails(geometry, room);
  const half = Math.floor((room - 28) / 2);
  const beside = room - small.width - 20;
  return {
    ...geometry,
    small,
    bars: bars(geometry, room >= 560 ? small.width : room),
    large: room < 560 ? room : beside < 240 ? half : Math.min(half, beside),
  };
}

/** A path for each shade of a map's cells, dark ones first; edges lie on whole pixels. */
function shades(rows, left, top, cell) {
  const paths = Array(LEVELS + 1).fill("");
  const edge = (i) => Math.round(i * cell);
  rows.forEach((row, q) => {
    for (let k = 0; k <= q; k += 1)
      paths[Math.floor(LEVELS * row[k] + 0.5)] +=
        `M${left + edge(k)} ${top + edge(q)}H${left + edge(k + 1)}V${top + edge(q + 1)}H${left + edge(k)}z`;
  });
  return paths.map((d, level) => ({ d, fill: cividis(level / LEVELS) }));
}

/** Strokes over the keys that come later, which no query may see. */
function later(n, left, top, cell, gap) {
  const side = n * cell;
  let d = "";
  for (let at = gap; at < 2 * side; at += gap) {
    const start = (at + cell) / 2; // the diagonal's own cells stay free
    const [x, y] = at < side ? [at, 0] : [side, at - side];
    if (x > start)
      d += `M${round(left + start)} ${round(top + at - start)}L${round(left + x)} ${round(top + y)}`;
  }
  return d;
}

/** What stands below a thumbnail, on the second line. */
function tagOf(geometry, head) {
  const { state, score, alone, period } = geometry;
  if (state.sort === "loss") return ["loss if off", alone(head)];
  const said = SCORES.slice(0, period ? 3 : 2).find(
    (one, i) =>
      one === state.sort || (state.sort === "layer" && i && score(head, one) >= 0.5),
  );
  return said ? [SAID[said], score(head, said)] : ["", null];
}

const mapOf = ({ maps }, [layer, head]) => maps[layer][head];

/** One small map with its names, at [x, y]. */
function thumbnail(geometry, head, [x, y], side) {
  const rows = mapOf(geometry, head);
  const cell = side / rows.length;
  const off = isOff(geometry.state, head);
  const [what, value] = tagOf(geometry, head);
  const narrow = isNarrow(side);
  const [left, right] = [x + 6, x + side + 4];
  return {
    head,
    off,
    shades: shades(rows, x + 5, y + 5, cell),
    later: off ? "" : later(rows.length, x + 5, y + 5, cell, 8),
    box: { x: x + 1, y: y + 1, width: side + 8, height: side + captionOf(side) + 8 },
    texts: [
      [left, y + side + 15, `L${head[0]} H${head[1]}`, "strong"],
      [
        right,
        y + side + (narrow ? 45 : 15),
        value === null ? "" : number(value),
        null,
        "end",
      ],
      [left, y + side + 30, what, "quiet"],
      [right, y + 14, off ? "✗ off" : "", null, "end"],
    ],
  };
}

const isNarrow = (side) => side < 70; // then the number stands on a line of its own
const captionOf = (side) => (isNarrow(side) ? 49 : 34);

/** Which color is which weight, below the small maps. */
const scaleAt = (low) => ({
  shades: shades([], 0, 0, 0).map(({ fill }, i) => ({
    fill,
    d: `M${64 + 9 * i} ${low}h9v12h-9z`,
  })),
  texts: [
    [6, low + 6, "weight 0"],
    [168, low + 6, "1"],
  ],
});

/** The small maps: { thumbs, columns, lines, width, height, scale }. */
function thumbnails(geometry, room) {
  const { heads, columns: most } = geometry;
  let columns = most; // of a layer's heads, all or a part that divides them
  while (most % columns || columns * 64 > room) columns -= 1;
  const step = Math.min(80, Math.floor(room / columns));
  const side = step - 10;
  const tall = side + captionOf(side) + 12;
  const thumbs = heads.map((head, i) => {
    const [row, col] = [Math.floor(i / columns), i % columns];
    return { row, col, ...thumbnail(geometry, head, [col * step, row * tall], side) };
  });
  const lines = heads.length / columns;
  const low = lines * tall;
  return {
    thumbs,
    columns,
    lines,
    width: Math.max(columns * step, 190),
    height: low + 20,
    scale: scaleAt(low),
  };
}

const offText = (off) => (off[1] ? `${off.length} heads` : name(off[0]));

/** The losses as bars below each other: [{ label, loss, strong, off }]. */
function losses({ state, period, first, loss, inPlace }) {
  const copy = period ? "later copies, " : "";
  return [
    ...(period
      ? [{ label: "first copy of the letters, all heads on", loss: first }]
      : []),
    { label: `${copy}all ${inPlace.length} heads on`, loss: loss([]), strong: true },
    state.off.length
      ? {
          label: `${copy}${offText(state.off)} off`,
          loss: loss(state.off),
          strong: true,
          off: true,
        }
      : { label: `${copy}after switching off`, loss: null, off: true },
  ];
}

function bars(geometry, room) {
  const rows = losses(geometry);
  const most = Math.max(8, ...rows.map(({ loss }) => loss)); // whatever the book's models lose: one scale
  return {
    width: room,
    height: rows.length * TALL,
    label: rows
      .map(({ label, loss }) => `${label}: ${loss === null ? "unknown" : number(loss)}`)
      .join("; "),
    rows: rows.map(({ label, loss, strong, off }, i) => {
      const long = ((room - 52) * (loss ?? 0)) / most;
      const nothing = strong ? "?" : "";
      return {
        off,
        bar: {
          x: 0,
          y: i * TALL + 16,
          width: round(Math.max(loss ? 1 : 0, long)),
          height: 12,
        },
        texts: [
          [0, i * TALL + 7, label, strong ? null : "quiet"],
          [long + 6, i * TALL + 22, loss === null ? nothing : number(loss), "strong"],
        ],
      };
    }),
  };
}

/** The band of cells that a score counts, between two thin lines, and where it ends. */
function band({ period }, score, { n, left, top, cell }) {
  const [far, first] = score === "previous" ? [1, 0] : [period - 1, 1];
  const [x, y] = [left + first * cell, top + (first + far) * cell];
  const long = (n - first - far) * cell;
  const side = (dx, dy) =>
    `M${round(x + dx)} ${round(y + dy)}l${round(long - cell)} ${round(long - cell)}`;
  return {
    score,
    d: side(0, cell) + side(cell, 0),
    end: left + (n - far - 0.5) * cell,
  };
}

/** How large the cells of a large map are, and where they begin. */
function frameOf(texts, room) {
  const n = texts.length;
  const longest = Math.max(...texts.map((text) => [...text].length));
  const flat = longest === 1; // letters need no turning
  const high = Math.ceil(SLANT * SIGN * longest);
  const left = Math.max(40, 10 + Math.ceil(SIGN * longest));
  const over = flat ? 0 : high;
  const cell = Math.max(
    6,
    Math.min(60, Math.floor(Math.min(room, 340) - left - over - 2) / n),
  );
  return { n, left, top: flat ? 18 : high + 14, cell, flat, over };
}

/** The tokens beside the rows and above the columns, as many as there is room for. */
function namesOf(texts, { left, top, cell, flat }) {
  const every = Math.ceil(11 / cell);
  const middle = (i) => (i + 0.5) * cell;
  const label = (text, i) => (!flat && i % every ? "" : text);
  const queries = texts.map((text, i) => [
    left - 5 - (flat ? 10 * (i % every) : 0),
    top + middle(i),
    label(text, i),
    "token query",
    "end",
  ]);
  const keys = texts.map((text, i) => {
    const [x, y] = [left + middle(i), top - 8];
    const turned = flat ? ["middle", null] : ["start", `rotate(-45 ${x} ${y})`];
    return [x, y, label(text, i), "token key", ...turned];
  });
  const note = flat || every < 2 ? "" : " · every 2nd token labeled";
  return { names: [...queries, ...keys], note };
}

const BELOW = { induction: "after its earlier copy ↑", previous: "previous ↑" };
const LEAST = { induction: 150, previous: 62 }; // pixels that these words take

/** A head's map in full: cells, tokens, and the two places that heads are scored by. */
export function largeMap(geometry, head, room) {
  const { state, period, score } = geometry;
  const texts = state.tokens.map((token) => tokenText(token, 6));
  const frame = frameOf(texts, room);
  const { n, left, top, cell, over } = frame;
  const { names, note } = namesOf(texts, frame);
  const scores = period ? ["induction", "previous"] : ["previous"];
  const bands = scores.map((one) => band(geometry, one, frame));
  const low = top + n * cell;
  return {
    head,
    ...frame,
    width: left + n * cell + over + 2,
    height: low + 20,
    title: `${capital(name(head))}${isOff(state, head) ? ", off" : ""}`,
    note:
      scores.map((one) => `${SAID[one]} ${number(score(head, one))}`).join(" · ") +
      note,
    shades: shades(mapOf(geometry, head), left, top, cell),
    later: later(n, left, top, cell, 9),
    marks: bands.map(({ d }) => d).join(""),
    texts: [
      ...names,
      ...bands.map(({ score: one, end }) => [
        Math.max(left + LEAST[one], end + 5),
        low + 11,
        BELOW[one],
        "quiet",
        "end",
      ]),
      [0, top - 8, "Q↓", "query"],
      [20, top - 8, "K→", "key"],
    ],
    pick(x, y) {
      const [q, k] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
      return Math.min(q, k) < 0 || Math.max(q, k) >= n ? null : [q, k];
    },
    box: ([q, k]) => ({
      x: left + k * cell,
      y: top + q * cell,
      width: cell,
      height: cell,
    }),
  };
}
