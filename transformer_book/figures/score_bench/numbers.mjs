// The numbers that ScoreBench shows. No DOM.
import { dot, draws, softmax, sum, times } from "../kit/index.mjs";
import limits from "./limits.json" with { type: "json" };

export const COUNT = 32; // queries, and keys
export const WIDEST = limits.width.one.at(-1);
export const REACH = 64; // of the histogram, on each side of 0; what is beyond is counted alone

/** For each width 2, 4, ... 512: scores of 32 random queries and 32 random keys. */
function draw(seed) {
  const next = draws(seed);
  const vector = () =>
    Float64Array.from({ length: WIDEST }, () => Math.sqrt(3) * (2 * next() - 1));
  const [queries, keys] = [times(COUNT, vector), times(COUNT, vector)];
  const scores = {};
  for (let width = 2; width <= WIDEST; width *= 2)
    scores[width] = times(COUNT, () => []);
  queries.forEach((query, i) =>
    keys.forEach((key, j) => {
      let [total, width] = [0, 2];
      for (let d = 0; d < WIDEST; d++) {
        total += query[d] * key[d];
        if (d + 1 < width) continue;
        scores[width][i][j] = total;
        width *= 2;
      }
    }),
  );
  return scores;
}

let drawn = { seed: null };

function scoresOf({ seed, width }) {
  if (drawn.seed !== seed) drawn = { seed, scores: draw(seed) };
  return drawn.scores[width];
}

/** Of scores: their histogram, their spread, query 0's scores and weights, largest weights. */
function describe(scores) {
  const all = scores.flat();
  const bins = times(2 * REACH, () => 0);
  let beyond = 0;
  for (const x of all) {
    const place = Math.floor(x) + REACH;
    if (place in bins) bins[place]++;
    else beyond++;
  }
  const mean = sum(all) / all.length;
  const weights = scores.map(softmax);
  return {
    bins,
    beyond,
    row: scores[0],
    weights: weights[0],
    spread: Math.sqrt(sum(all.map((x) => (x - mean) ** 2)) / all.length),
    largest: sum(weights.map((row) => Math.max(...row))) / COUNT,
  };
}

/** The random scores as they are, and divided by the square root of the width. */
export function bench(state) {
  const scores = scoresOf(state);
  const scale = Math.sqrt(state.width);
  const divided = scores.map((row) => row.map((x) => x / scale));
  return { plain: describe(scores), scaled: describe(divided) };
}

/** The query and the key in the plane: lengths, degrees apart (0 to 180), dot product. */
export function alignment({ query, key }) {
  const score = dot(query, key);
  const cross = query[0] * key[1] - query[1] * key[0];
  return {
    score,
    lengths: [Math.hypot(...query), Math.hypot(...key)],
    degrees: (Math.abs(Math.atan2(cross, score)) * 180) / Math.PI,
  };
}
