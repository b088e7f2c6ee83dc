// Rows near each other, and the plane in which they are drawn. No DOM.
import { dot, range } from "../kit/index.mjs";
import limits from "./limits.json" with { type: "json" };

export const MOST_WORDS = limits.tokens.length[1]; // that are looked up at once

/** The cosine of two rows; 0 if one of them is all zeros. */
export function cosine(a, b) {
  const size = Math.sqrt(dot(a, a) * dot(b, b));
  return size ? dot(a, b) / size : 0;
}

/** The nearest other rows, { row, cosine }; of equal ones the first. */
export function neighbors(table, row, count) {
  const order = (near) => -Math.floor(1e6 * near.cosine + 0.5); // the same on every machine
  return table
    .map((other, i) => ({ row: i, cosine: cosine(table[row], other) }))
    .filter((near) => near.row !== row)
    .sort((a, b) => order(a) - order(b) || a.row - b.row)
    .slice(0, count);
}

/** Remembers what f makes of a list, as long as there is that very list. */
function remembered(f) {
  const known = new WeakMap();
  return (list) => {
    if (!known.has(list)) known.set(list, f(list));
    return known.get(list);
  };
}

/** The nearest other row of each row. */
export const nearest = remembered((table) =>
  table.map((_, i) => neighbors(table, i, 1)[0]),
);

/** How many words have their nearest word in their own group, of those that have both. */
export function ownGroup(table, groups) {
  const isShared = (group) => groups.filter((other) => other === group).length > 1;
  const isTied = (i) => {
    const [one, next] = neighbors(table, i, 2);
    return next && one.cosine - next.cosine < 1e-6; // so are all others of zeros
  };
  const among = range(groups.length).filter(
    (i) => groups[i] && isShared(groups[i]) && !isTied(i),
  );
  const right = among.filter((i) => groups[nearest(table)[i].row] === groups[i]);
  return { right: right.length, among: among.length };
}

/** One Jacobi rotation: makes the entry (p, q) of a symmetric matrix 0. */
function rotatePlane(matrix, axes, p, q) {
  const half = (matrix[q][q] - matrix[p][p]) / (2 * matrix[p][q]);
  const tan = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(half, 1));
  const cos = 1 / Math.hypot(tan, 1);
  const rotate = (x, y) => [cos * (x - tan * y), cos * (tan * x + y)];
  for (const row of matrix) [row[p], row[q]] = rotate(row[p], row[q]);
  for (const rows of [matrix, axes])
    for (const k of range(matrix.length))
      [rows[p][k], rows[q][k]] = rotate(rows[p][k], rows[q][k]);
}

/** Eigenvalues and eigenvectors of a symmetric matrix, the largest first (Jacobi). */
function eigen(symmetric) {
  const n = symmetric.length;
  const matrix = symmetric.map((row) => [...row]);
  const axes = range(n).map((i) => range(n).map((j) => Number(i === j))); // as rows
  const trace = matrix.reduce((total, row, i) => total + row[i], 0);
  for (let sweep = 0; sweep < 40; sweep++)
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++)
        if (Math.abs(matrix[p][q]) > 1e-17 * trace) rotatePlane(matrix, axes, p, q);
  return range(n)
    .map((i) => ({ value: matrix[i][i], axis: axes[i] }))
    .sort((x, y) => y.value - x.value);
}

/** The sign of an axis is that of its first large number, so that pictures agree. */
function signOf(axis) {
  const most = Math.max(...axis.map(Math.abs));
  return Math.sign(axis.find((x) => Math.abs(x) > 0.99 * most));
}

const mean = (rows) =>
  rows[0].map((_, d) => rows.reduce((total, row) => total + row[d], 0) / rows.length);

/**
 * All tables in the plane of the first two principal components of the last one:
 * { places: [across, up] of each table and row, share: of the last table's variance }.
 */
export const plane = remembered((tables) => {
  const middle = mean(tables.at(-1));
  const away = (row) => row.map((x, d) => x - middle[d]);
  const centered = tables.at(-1).map(away);
  const scatter = middle.map((_, p) =>
    middle.map((_, q) => centered.reduce((total, row) => total + row[p] * row[q], 0)),
  );
  const found = eigen(scatter);
  const total = found.reduce((sum, { value }) => sum + value, 0);
  const axes = found.slice(0, 2).map(({ axis, value }) => {
    const sign = value > 1e-12 * total ? signOf(axis) : 0; // 0: no spread, no axis
    return axis.map((x) => sign * x);
  });
  const place = (row) => axes.map((axis) => dot(away(row), axis));
  return {
    places: tables.map((table) => table.map(place)),
    share: total > 0 ? (found[0].value + found[1].value) / total : 0,
  };
});
