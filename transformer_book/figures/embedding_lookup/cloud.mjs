// Where the rows stand as points of a plane, and their names. Pure: no DOM.
import { line, percent, range, scale, tokenText } from "../kit/index.mjs";
import { neighbors } from "./numbers.mjs";
import { SIGN, mark, signs, text } from "./symbols.mjs";

const overlaps = (a, b) =>
  a.x < b.x + b.width &&
  b.x < a.x + a.width &&
  a.y < b.y + b.height &&
  b.y < a.y + a.height;

/** @type {[number, number, string][]} */
const AROUND = [
  [8, 0, "start"],
  [-8, 0, "end"],
  [0, -13, "middle"],
  [0, 13, "middle"],
  [8, -12, "start"],
  [8, 12, "start"],
  [-8, -12, "end"],
  [-8, 12, "end"],
];

/** The places around a point where its name may stand. */
const labelsAround = (i, [x, y], shown) => {
  const width = SIGN * signs(shown);
  const before = { start: 0, middle: width / 2, end: width };
  return AROUND.map(([dx, dy, anchor]) => ({
    i,
    shown,
    anchor,
    at: [x + dx, y + dy],
    x: x + dx - before[anchor],
    y: y + dy - 7,
    width,
    height: 14,
  }));
};

/**
 * A place beside its point for each word, the first ones first; without room, none. Only
 * a name that is asked for may stand on another point.
 */
function labels(spots, words, order, asked, area) {
  const placed = [];
  const marks = spots.map(([x, y]) => ({ x: x - 5, y: y - 5, width: 10, height: 10 }));
  const isInside = ({ x, y, width }) =>
    x >= area.left &&
    x + width <= area.left + area.width &&
    y >= area.top &&
    y <= area.top + area.height - 14;
  for (const i of order) {
    const isFree = (label) => !placed.some((other) => overlaps(label, other));
    const hidden = (label) =>
      marks.filter((dot, j) => j !== i && overlaps(label, dot)).length;
    const [best] = labelsAround(i, spots[i], tokenText(words[i], 10))
      .filter((label) => isInside(label) && isFree(label))
      .sort((a, b) => hidden(a) - hidden(b));
    if (best && (asked.includes(i) || !hidden(best))) placed.push(best);
  }
  return placed;
}

const wide = (shown) => 28 + 6.6 * signs(shown); // with its mark, in pixels

/** What the plane shows, by name where there is room. */
function heading(words, rows, room) {
  const [first, ...near] = rows.map((i) => tokenText(words[i], 9));
  const named = `Nearest to ${first}: ${near.join(", ")}`;
  return wide(named) > room ? "Each row joined to its nearest" : named;
}

/** What the marks of the plane mean: { d, class, shown, x, y }, on as many lines as needed. */
function legend({ kinds, state: { groups }, frame: { plane: area } }, own) {
  const dots = [
    ...kinds
      .slice(0, 4)
      .map((kind, k) => [k, tokenText(kind, 12) + (kinds[k + 4] ? ", …" : ""), ""]),
    ...(kinds.length && groups.includes("") ? [[-1, "no group", "none"]] : []),
    [own, "selected; thick lines to its nearest", "on"],
  ];
  let [x, row] = [0, 0];
  const keys = dots.map(([kind, shown, look]) => {
    const width = wide(shown);
    if (x && x + width > area.width) [x, row] = [0, row + 1];
    x += width;
    return { kind, shown, look, x: area.left + x - width, row };
  });
  const tall = 18 * (row + 1);
  return {
    tall,
    keys: keys.map(({ kind, shown, look, x, row: line }) => {
      const y = area.top + area.height - tall + 18 * line + 10;
      return { shown, x: x + 16, y, d: mark(kind, x + 6, y), class: `dot ${look}` };
    }),
  };
}

/** The points of a table in the plane, as large as all tables leave room for. */
function spotsOf(places, index, area) {
  const flat = places.flat();
  const [across, up] = [0, 1].map((d) => {
    const all = flat.map((place) => place[d]);
    return [Math.min(...all), Math.max(...all)];
  });
  const [width, height] = [area.width - 40, area.height - 34];
  const per = Math.min(
    width / (across[1] - across[0] || 1),
    height / (up[1] - up[0] || 1),
  );
  const x = scale(across, [0, per * (across[1] - across[0])]);
  const y = scale(up, [per * (up[1] - up[0]), 0]);
  const dx = (width - x(across[1])) / 2 + area.left + 20;
  const dy = (height - y(up[0])) / 2 + area.top + 12;
  return places[index].map(([a, b]) => [dx + x(a), dy + y(b)]);
}

const lines = (pairs) => pairs.map((pair) => line(pair)).join("");

const titles = ({ left, top }, share, title) => [
  text(left, top - 22, title, "strong"),
  ...(share
    ? [
        text(
          left,
          top - 6,
          `rows as points: ${percent(share).replace("more than ", ">")} of the final table’s variance`,
          "quiet",
        ),
      ]
    : []),
];

/** The rows in the plane: a mark each, and a line to the nearest one. */
export function cloud(geometry, row) {
  const { state, table, plane, kinds, frame, index, nearest } = geometry;
  const { words, groups } = state;
  const kindOf = (i) => kinds.indexOf(groups[i] || null) % 4;
  const near = neighbors(table, row, 3).map((one) => one.row);
  const first = [row, ...near]; // their names are placed first
  const { keys, tall } = legend(geometry, kindOf(row));
  const area = { ...frame.plane, height: frame.plane.height - tall };
  const spots = spotsOf(plane.places, index, area);
  const order = [...first, ...range(words.length).filter((i) => !first.includes(i))];
  const dot = (i) => ({
    d: mark(kindOf(i), ...spots[i]),
    class: `dot ${kinds.length && kindOf(i) < 0 ? "none" : ""} ${i === row ? "on" : ""}`,
  });
  const look = (i) => `token ${first.includes(i) ? "strong clear" : "clear"}`;
  return {
    spots,
    joins: lines(nearest.map((one, i) => [spots[i], spots[one.row]])),
    bold: lines(near.map((j) => [spots[row], spots[j]])),
    dots: [
      ...[...order].reverse().map(dot),
      ...keys.map(({ d, class: kind }) => ({ d, class: kind })),
    ],
    texts: [
      ...labels(spots, words, order, first, area).map(
        ({ i, shown, anchor, at: [x, y] }) => text(x, y, shown, look(i), anchor),
      ),
      ...keys.map((key) => text(key.x, key.y, key.shown, "quiet")),
      ...titles(frame.plane, plane.share, heading(words, first, area.width)),
    ],
  };
}
