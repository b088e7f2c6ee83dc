// The numbers that EmbeddingLookup shows; the twin of embedding_values.py. No DOM.
export const MOST = 6; // words that are looked up at once

const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
const range = (n) => [...Array(n).keys()];

/** The cosine of two rows; 0 if one of them is all zeros. */
export function cosine(a, b) {
  const size = Math.sqrt(dot(a, a) * dot(b, b));
  return size ? dot(a, b) / size : 0;
}

/** The nearest other rows, { row, cosine }; of equal ones the first. */
export function neighbors(table, row, count) {
  const order = (near) => -Math.floor(1e6 * near.cosine + 0.5);
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

/** How many words have their nearest word in their own group, of those that have one. */
export function kin(table, groups) {
  const among = range(groups.length).filter(
    (i) => groups[i] && groups.filter((group) => group === groups[i]).length > 1,
  );
  const right = among.filter((i) => groups[nearest(table)[i].row] === groups[i]);
  return { right: right.length, among: among.length };
}

/** Eigenvalues and eigenvectors of a symmetric matrix, the largest first (Jacobi). */
function eigen(matrix) {
  const n = matrix.length;
  const a = matrix.map((row) => [...row]);
  const axes = range(n).map((i) => range(n).map((j) => Number(i === j))); // as rows
  const tiny = 1e-17 * a.reduce((total, row, i) => total + row[i], 0);
  for (let sweep = 0; sweep < 40; sweep++)
    for (let p = 0; p < n; p++)
      for (let q = p + 1; q < n; q++) {
        if (Math.abs(a[p][q]) <= tiny) continue;
        const half = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const tan = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(half, 1));
        const cos = 1 / Math.hypot(tan, 1);
        const turn = (x, y) => [cos * (x - tan * y), cos * (tan * x + y)];
        for (const row of a) [row[p], row[q]] = turn(row[p], row[q]);
        for (const rows of [a, axes])
          for (const k of range(n))
            [rows[p][k], rows[q][k]] = turn(rows[p][k], rows[q][k]);
      }
  return range(n)
    .map((i) => ({ value: a[i][i], axis: axes[i] }))
    .sort((x, y) => y.value - x.value);
}

/** All tables in the plane in which the last one spreads most, and the plane's share. */
export const plane = remembered((tables) => {
  const last = tables.at(-1);
  const middle = last[0].map(
    (_, d) => last.reduce((total, row) => total + row[d], 0) / last.length,
  );
  const away = (row) => row.map((x, d) => x - middle[d]);
  const centered = last.map(away);
  const found = eigen(
    middle.map((_, p) =>
      middle.map((_, q) => centered.reduce((total, row) => total + row[p] * row[q], 0)),
    ),
  );
  const total = found.reduce((sum, { value }) => sum + value, 0);
  const axes = found.slice(0, 2).map(({ axis, value }) => {
    const most = Math.max(...axis.map(Math.abs));
    const sign = Math.sign(axis.find((x) => Math.abs(x) > 0.99 * most));
    return axis.map((x) => (value > 1e-12 * total ? sign * x : 0)); // none without spread
  });
  return {
    places: tables.map((table) =>
      table.map((row) => axes.map((axis) => dot(away(row), axis))),
    ),
    share: total > 0 ? (found[0].value + found[1].value) / total : 1,
  };
});

/** A typed text as rows: { tokens, unknown: words without a row, more: are there too many }. */
export function read(text, words) {
  const plain = (word) => word.trim().toLowerCase();
  const find = (piece) => {
    const exact = words.indexOf(piece);
    return exact < 0 ? words.findIndex((word) => plain(word) === plain(piece)) : exact;
  };
  const pieces = text
    .split(/\s+/)
    .filter(Boolean)
    .flatMap((piece) =>
      find(piece) < 0 ? piece.split(/[-,.;:!?]+/).filter(Boolean) : [piece],
    );
  const known = pieces.map(find).filter((row) => row >= 0);
  return {
    tokens: known.slice(0, MOST),
    unknown: pieces.filter((piece) => find(piece) < 0),
    more: known.length > MOST,
  };
}
