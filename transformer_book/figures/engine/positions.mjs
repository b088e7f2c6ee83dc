// Positions: what is added to embeddings, how queries and keys turn, what scores lose.

/** Speeds of width / 2 clocks, in radians per position, as float32. */
const speeds = (width, base) =>
  Float32Array.from({ length: width / 2 }, (_, i) => base ** ((-2 * i) / width));

/** Angles of all clocks at positions 0 ... count - 1: (count, width / 2), as float32. */
function angles(count, width, base) {
  const clocks = speeds(width, base);
  return Float32Array.from(
    { length: count * clocks.length },
    (_, i) => Math.floor(i / clocks.length) * clocks[i % clocks.length],
  );
}

function sines(count, width, base) {
  const clocks = angles(count, width, base);
  return Float32Array.from({ length: 2 * clocks.length }, (_, i) =>
    i % 2 ? Math.cos(clocks[i >> 1]) : Math.sin(clocks[i >> 1]),
  );
}

const nothing = {
  embed() {},
  turn() {},
  slopes: (heads) => new Float32Array(heads),
};

/** Adds the rows of a table (count, width), one for each position. */
const added = (table, width, placeOf) => ({
  ...nothing,
  embed(x, n, start) {
    for (let i = 0; i < n; i += 1) {
      const row = placeOf(start + i) * width;
      for (let k = 0; k < width; k += 1) x[i * width + k] += table[row + k];
    }
  },
});

/** Turns the planes (k, k + half) of each head, half being half its width. */
function turned(count, width, base, placeOf) {
  const half = width / 2;
  const clocks = angles(count, width, base);
  const [cos, sin] = [clocks.map(Math.cos), clocks.map(Math.sin)];
  const turnHead = (x, first, row) => {
    for (let k = 0; k < half; k += 1) {
      const [a, b] = [x[first + k], x[first + half + k]];
      x[first + k] = a * cos[row + k] - b * sin[row + k];
      x[first + half + k] = b * cos[row + k] + a * sin[row + k];
    }
  };
  return {
    ...nothing,
    turn(x, at, n, heads, start) {
      for (let i = 0; i < n; i += 1)
        for (let head = 0; head < heads; head += 1)
          turnHead(x, ((at + i) * heads + head) * width, placeOf(start + i) * half);
    },
  };
}

/**
 * Each: (model, path, size, placeOf) -> { embed(x, n, start), slopes(heads),
 * turn(x, at, n, heads, start) }. Row i of x is token start + i, which stands at the
 * position placeOf(start + i); turn begins at row `at` of x (rows, heads, d_head).
 */
export const POSITIONS = {
  none: () => nothing,
  sinusoidal: ({ config: { d_model: width } }, path, { capacity }, placeOf) =>
    added(sines(capacity, width, 10_000), width, placeOf),
  learned: (model, path, size, placeOf) =>
    added(model.tensor(`${path}.table.weight`).data, model.config.d_model, placeOf),
  rotary: ({ config }, path, { capacity, headWidth }, placeOf) =>
    turned(capacity, headWidth, config.rotary_base, placeOf),
  alibi: () => ({
    ...nothing,
    slopes: (heads) =>
      Float32Array.from({ length: heads }, (_, h) => 2 ** ((-8 * (h + 1)) / heads)),
  }),
};
