// The numbers that PositionLab shows. No DOM.
import { dot, draws, seedOf, softmax, times } from "../kit/index.mjs";

const WIDEST = 64;

/** Rows as LearnedPositions starts: about normal, standard deviation 0.02, 4 digits. */
function untrainedRows(length) {
  const draw = draws(1);
  const next = () => 0.02 * Math.sqrt(3) * (draw() + draw() + draw() + draw() - 2);
  return times(length, () => times(WIDEST, () => Math.floor(next() * 1e4 + 0.5) / 1e4));
}

/** A vector in -1..1 for each word, the same word the same vector. */
export function wordVectors(tokens, width) {
  return tokens.map((token) => {
    const draw = draws(
      seedOf(
        Array.from(token, (sign) => sign.codePointAt(0)),
        1,
      ),
    );
    return times(width, () => 2 * draw() - 1);
  });
}

/** What is added to the vectors, positions by dimensions: zeros if nothing is. */
export function positionVectors({ kind, base, rows }, length, width) {
  if (kind === "learned")
    return (rows.length ? rows : untrainedRows(length))
      .slice(0, length)
      .map((row) => row.slice(0, width));
  const speeds = times(width, (i) => base ** -((2 * Math.floor(i / 2)) / width));
  const value = (m, i) => (i % 2 ? Math.cos(m * speeds[i]) : Math.sin(m * speeds[i]));
  return times(length, (m) =>
    times(width, (i) => (kind === "sinusoidal" ? value(m, i) : 0)),
  );
}

export const slopeOf = (nHeads, head) => 2 ** ((-8 * (head + 1)) / nHeads);

/** What is added to the scores, queries by keys: zeros but for ALiBi. */
export function scoreBias({ kind, n_heads: heads }, length, head) {
  const slope = kind === "alibi" ? slopeOf(heads, head) : 0;
  return times(length, (m) => times(length, (n) => 0 - slope * Math.abs(m - n)));
}

/** Each row becomes an average of all rows, weighted by softmax(x x^T + bias). */
function mix(x, bias) {
  return x.map((query, m) => {
    const weights = softmax(x.map((key, n) => dot(query, key) + bias[m][n]));
    return query.map((_, i) =>
      dot(
        weights,
        x.map((row) => row[i]),
      ),
    );
  });
}

const distance = (a, b) => Math.max(...a.map((x, i) => Math.abs(x - b[i])));

/** For each row of `other`: whether `one` holds it too, each row used once. */
function inBoth(one, other) {
  const free = new Set(one.keys());
  return other.map((row) => {
    const match = [...free].find((i) => distance(one[i], row) < 1e-9);
    free.delete(match);
    return match !== undefined;
  });
}

/** The words' input vectors in both orders, and per shuffled word what became of it. */
export function shuffle(tokens, order, vectors, bias) {
  const x = wordVectors(tokens, vectors[0].length);
  const add = (row, m) => row.map((v, i) => v + vectors[m][i]);
  const before = x.map(add);
  const after = order.map((old) => x[old]).map(add);
  const [out, moved] = [mix(before, bias), mix(after, bias)];
  const change = order.map((old, place) => distance(moved[place], out[old]));
  return { before, after, same: inBoth(before, after), change };
}

/** Another order of as many words, always the same one after the same order. */
export function shuffledOrder(order) {
  const draw = draws(
    seedOf(
      order.map((i) => i + 1),
      7,
    ),
  );
  const next = order
    .map((old) => [draw(), old])
    .sort(([a], [b]) => a - b)
    .map(([, old]) => old);
  return String(next) === String(order) ? [...next.slice(1), next[0]] : next;
}
