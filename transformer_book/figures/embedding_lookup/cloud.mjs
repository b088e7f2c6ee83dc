// Where the rows stand as points of a plane, and their names. Pure: no DOM.
import { line, scale, tokenText } from "../kit/index.mjs";
import { SIGN, mark, range, signs, text } from "./marks.mjs";
import { neighbors } from "./numbers.mjs";

const overlaps = (a, b) =>
  a.x < b.x + b.width &&
  b.x < a.x + a.width &&
  a.y < b.y + b.height &&
  b.y < a.y + a.height;

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

/** A place beside its point for each word, the first ones first; without room, none. */
function labels(spots, words, order, area) {
  const placed = [];
  const marks = spots.map(([x, y]) => ({ x: x - 5, y: y - 5, width: 10, height: 10 }));
  for (const i of order) {
    const [x, y] = spots[i];
    const shown = tokenText(words[i], 10);
    const width = SIGN * signs(shown);
    const places = AROUND.map(([dx, dy, anchor]) => {
      const start = x + dx - { start: 0, middle: width / 2, end: width }[anchor];
      return {
        i,
        shown,
        anchor,
        at: [x + dx, y + dy],
        x: start,
        y: y + dy - 7,
        width,
        height: 14,
      };
    });
    const inside = places.filter(
      (p) =>
        p.x >= area.left &&
        p.x + width <= area.left + area.width &&
        p.y >= area.top &&
        p.y <= area.top + area.height - 14,
    );
    const hidden = (p) => marks.filter((dot, j) => j !== i && overlaps(p, dot)).length;
    const apart = inside.filter((p) => !placed.some((other) => overlaps(p, other)));
    const [best] = apart.sort((p, q) => hidden(p) - hidden(q));
    if (best && (i === order[0] || !hidden(best))) placed.push(best);
  }
  return placed;
}

/** What the marks of the plane mean: { d, class, shown, x, y }, on as many lines as needed. */
function legend({ kinds, state: { groups }, frame: { plane: area } }, own) {
  const dots = [
    ...kinds.slice(0, 4).map((kind, k) => [k, tokenText(kind, 12), ""]),
    ...(kinds.length && groups.includes("") ? [[-1, "no group", "none"]] : []),
    [own, "chosen, with thick lines to its nearest", "on"],
  ];
  let [x, row] = [0, 0];
  const keys = dots.map(([kind, shown, look]) => {
    const width = 28 + 6.6 * signs(shown);
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

/** The rows in the plane: a mark each, and a line to the nearest one. */
export function cloud(geometry, row) {
  const {
    state: { words },
    table,
    plane: { places, share },
    kinds,
    frame: { plane: area },
    index,
    nearest,
  } = geometry;
  const flat = places.flat();
  const span = [0, 1].map((d) => [
    Math.min(...flat.map((p) => p[d])),
    Math.max(...flat.map((p) => p[d])),
  ]);
  const kindOf = (i) => kinds.indexOf(geometry.state.groups[i] || null) % 4;
  const { keys, tall } = legend(geometry, kindOf(row));
  const [width, height] = [area.width - 40, area.height - 34 - tall];
  const per = Math.min(
    width / (span[0][1] - span[0][0] || 1),
    height / (span[1][1] - span[1][0] || 1),
  );
  const x = scale(span[0], [0, per * (span[0][1] - span[0][0])]);
  const y = scale(span[1], [per * (span[1][1] - span[1][0]), 0]);
  const [dx, dy] = [
    (width - x(span[0][1])) / 2 + area.left + 20,
    (height - y(span[1][0])) / 2 + area.top + 12,
  ];
  const spots = places[index].map(([a, b]) => [dx + x(a), dy + y(b)]);
  const near = neighbors(table, row, 3).map((one) => one.row);
  const order = [
    row,
    ...near,
    ...range(words.length).filter((i) => i !== row && !near.includes(i)),
  ];
  const one = (i) => ({
    d: mark(kindOf(i), ...spots[i]),
    class: `dot ${kinds.length && kindOf(i) < 0 ? "none" : ""} ${i === row ? "on" : ""}`,
  });
  const sure = new Set([row, ...near]);
  return {
    spots,
    joins: lines(nearest.map((one, i) => [spots[i], spots[one.row]])),
    bold: lines(near.map((j) => [spots[row], spots[j]])),
    dots: [
      ...order.slice().reverse().map(one),
      ...keys.map(({ d, class: look }) => ({ d, class: look })),
    ],
    texts: [
      ...labels(spots, words, order, { ...area, height: area.height - tall }).map(
        ({ i, shown, anchor, at }) =>
          text(...at, shown, `token ${sure.has(i) ? "strong clear" : "clear"}`, anchor),
      ),
      ...keys.map((key) => text(key.x, key.y, key.shown, "quiet")),
      text(
        area.left,
        area.top - 22,
        "Rows as points, each joined to its nearest",
        "strong",
      ),
      text(
        area.left,
        area.top - 6,
        `a plane with ${Math.round(100 * share)} % of the last table’s spread`,
        "quiet",
      ),
    ],
  };
}

const lines = (pairs) => pairs.map((pair) => line(pair)).join("");
