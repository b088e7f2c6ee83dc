// Where everything stands: thumbnails, the large maps, the losses. Pure: no DOM.
import { cividis, number, tokenText } from "../kit/index.mjs";
import { SCORES, isOff } from "./numbers.mjs";
import { capital, name } from "./text.mjs";

const LEVELS = 10; // shades of weights
const SIGN = 7.6; // width of one monospace sign
const SAID = { entropy: "entropy", previous: "before", induction: "induction" };
const TALL = 46; // of a bar with its words

const round = (x) => Math.round(100 * x) / 100;

/** A path for each shade of a map's cells, dark ones first; edges lie on whole pixels. */
export function shades(rows, left, top, cell) {
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
  const { state, score, alone } = geometry;
  if (state.sort === "loss") return ["loss if off", alone(head)];
  const said = SCORES.find(
    (one, i) =>
      one === state.sort || (state.sort === "place" && i && score(head, one) >= 0.5),
  );
  return said ? [SAID[said], score(head, said)] : ["", null];
}

/** The small maps: { width, height, columns, side, thumbs }. */
export function thumbnails(geometry, room) {
  const { heads, maps, columns: most } = geometry;
  let columns = most; // of a layer's heads, all or a part that divides them
  while (most % columns || columns * 64 > room) columns -= 1;
  const step = Math.min(92, Math.floor(room / columns));
  const side = Math.min(78, step - 10);
  const narrow = side < 72; // the number stands on a line of its own
  const caption = narrow ? 49 : 34;
  const tall = side + caption + 12;
  const thumbs = heads.map(([l, h], i) => {
    const [row, col] = [Math.floor(i / columns), i % columns];
    const [x, y] = [col * step, row * tall];
    const rows = maps[l][h];
    const cell = side / rows.length;
    const [what, value] = tagOf(geometry, [l, h]);
    const off = isOff(geometry.state, [l, h]);
    return {
      head: [l, h],
      row,
      col,
      off,
      shades: shades(rows, x + 5, y + 5, cell),
      later: off ? "" : later(rows.length, x + 5, y + 5, cell, 8),
      box: { x: x + 1, y: y + 1, width: side + 8, height: tall - 4 },
      texts: [
        [x + 6, y + side + 15, `L${l} H${h}`, "strong"],
        [
          x + side + 4,
          y + side + (narrow ? 45 : 15),
          value === null ? "" : number(value),
          null,
          "end",
        ],
        [x + 6, y + side + 30, what, "quiet"],
        [x + side + 4, y + 14, off ? "✗ off" : "", null, "end"],
      ],
    };
  });
  const lines = heads.length / columns;
  const low = lines * tall;
  return {
    thumbs,
    columns,
    lines,
    width: Math.max(columns * step, 190),
    height: low + 20,
    scale: {
      shades: shades([]).map(({ fill }, i) => ({
        fill,
        d: `M${64 + 9 * i} ${low}h9v12h-9z`,
      })),
      texts: [
        [6, low + 6, "weight 0"],
        [168, low + 6, "1"],
      ],
    },
  };
}

const offText = (off) => (off[1] ? `${off.length} heads` : name(off[0]));

/** The losses as bars below each other: [{ label, loss, kind }]. */
function losses({ state, period, first, loss, inPlace }) {
  const copy = period ? "second copy, " : "";
  return [
    ...(period ? [{ label: "first copy, all heads on", loss: first }] : []),
    { label: `${copy}all ${inPlace.length} heads on`, loss: loss([]), strong: true },
    state.off.length
      ? {
          label: `${copy}${offText(state.off)} off`,
          loss: loss(state.off),
          strong: true,
          off: true,
        }
      : { label: `${copy}no head is off`, loss: null, off: true },
  ];
}

export function bars(geometry, room) {
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
      return {
        off,
        bar: {
          x: 0,
          y: i * TALL + 20,
          width: round(Math.max(loss ? 1 : 0, long)),
          height: 14,
        },
        texts: [
          [0, i * TALL + 9, label, strong ? null : "quiet"],
          [
            long + 6,
            i * TALL + 27,
            loss === null ? (strong ? "?" : "") : number(loss),
            "strong",
          ],
        ],
      };
    }),
  };
}

/** The band of cells `far` keys back, between two thin lines, and its name below. */
function band({ period }, n, score, left, top, cell) {
  const [far, first] = score === "previous" ? [1, 0] : [period - 1, 1];
  const [x, y] = [left + first * cell, top + (first + far) * cell];
  const long = (n - first - far) * cell;
  const side = (dx, dy) =>
    `M${round(x + dx)} ${round(y + dy)}l${round(long - cell)} ${round(long - cell)}`;
  return {
    d: side(0, cell) + side(cell, 0),
    end: left + (n - far - 0.5) * cell,
  };
}

/** A head's map in full: cells, tokens, and the two places that heads are scored by. */
export function largeMap(geometry, head, room) {
  const {
    state: { tokens },
    maps,
    period,
    score,
  } = geometry;
  const n = tokens.length;
  const texts = tokens.map((token) => tokenText(token, 6));
  const longest = Math.max(...texts.map((text) => [...text].length));
  const left = Math.max(40, 10 + Math.ceil(SIGN * longest));
  const flat = longest === 1;
  const top = flat ? 18 : Math.ceil(0.72 * SIGN * longest) + 14;
  const over = flat ? 0 : Math.ceil(0.72 * SIGN * longest);
  const cell = Math.max(
    6,
    Math.min(60, Math.floor(Math.min(room, 340) - left - over - 2) / n),
  );
  const every = Math.ceil(11 / cell);
  const middle = (i) => (i + 0.5) * cell;
  const label = (text, i) => (!flat && i % every ? "" : text);
  const marks = (period ? ["induction", "previous"] : ["previous"]).map((one) => [
    one,
    band(geometry, n, one, left, top, cell),
  ]);
  const low = top + n * cell;
  const [l, h] = head;
  const said = { induction: "after the earlier copy ↑", previous: "before ↑" };
  return {
    head,
    n,
    left,
    top,
    cell,
    width: left + n * cell + over + 2,
    height: low + 20,
    title: `${capital(name(head))}${isOff(geometry.state, head) ? ", off" : ""}`,
    note:
      marks.map(([one]) => `${SAID[one]} ${number(score(head, one))}`).join(" · ") +
      (flat || every < 2 ? "" : " · every 2nd token is named"),
    shades: shades(maps[l][h], left, top, cell),
    later: later(n, left, top, cell, 9),
    marks: marks.map(([, { d }]) => d).join(""),
    texts: [
      ...texts.map((text, i) => [
        left - 5 - (flat && 10 * (i % every)),
        top + middle(i),
        label(text, i),
        "token query",
        "end",
      ]),
      ...texts.map((text, i) => {
        const [x, y] = [left + middle(i), top - 8];
        return [
          x,
          y,
          label(text, i),
          "token key",
          flat ? "middle" : "start",
          flat ? null : `rotate(-45 ${x} ${y})`,
        ];
      }),
      ...marks.map(([one, { end }]) => [
        Math.max(left + (one === "induction" ? 150 : 46), end + 5),
        low + 11,
        said[one],
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
