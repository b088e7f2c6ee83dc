// Pure geometry shared by the figures: no DOM, so Node can test it.

const round = (x) => Math.round(100 * x) / 100;

/** Path of diagonal strokes that fills a rectangle: the sign of a masked cell. */
export function hatch(x, y, width, height, gap = 7) {
  const strokes = [];
  for (let d = gap / 2; d < width + height; d += gap) {
    const [x1, y1] = d < height ? [0, d] : [d - height, height];
    const [x2, y2] = d < width ? [d, 0] : [width, d - width];
    strokes.push(
      `M${round(x + x1)} ${round(y + y1)}L${round(x + x2)} ${round(y + y2)}`,
    );
  }
  return strokes.join("");
}

/** Polyline path through [x, y] points; a gap where a value is not finite. */
export function line(points) {
  let pen = "M";
  return points
    .map(([x, y]) => {
      if (!Number.isFinite(y)) {
        pen = "M";
        return "";
      }
      const step = `${pen}${round(x)} ${round(y)}`;
      pen = "L";
      return step;
    })
    .join("");
}

/**
 * Linear scale: domain [a, b] to range [c, d], with `invert`.
 * @param {number[]} domain
 * @param {number[]} range
 */
export function scale([a, b], [c, d]) {
  const to = (x) => c + ((x - a) / (b - a || 1)) * (d - c);
  to.invert = (y) => a + ((y - c) / (d - c || 1)) * (b - a);
  return to;
}

const SIGN = 7.5; // width of one monospace sign at 12.5 px
const SLANT = 0.72; // cosine and sine of the slanted column labels, about 45 degrees
const WIDE = 36; // room for a number in a column beside the cells
const wide = (text) => [...text].length * SIGN;

/**
 * Where a token-by-token matrix stands: cell size, label room, total size.
 * rows, cols: shown texts; width: room; extra: more columns of cell width at the right.
 */
export function matrixFrame({ rows, cols, width, extra = 0, max = 56, min = 24 }) {
  const left = Math.max(50, Math.min(96, Math.ceil(Math.max(...rows.map(wide))) + 12));
  const longest = Math.max(SIGN, ...cols.map(wide));
  const columns = cols.length + extra;
  const more = (cell) => extra * Math.max(cell, WIDE);
  const size = (room) => {
    const even = (room - left - 6) / columns;
    const fit = even < WIDE ? (room - left - 6 - extra * WIDE) / cols.length : even;
    return Math.max(min, Math.min(max, Math.floor(fit)));
  };
  const flat = longest <= size(width) - 4;
  const over = (cell) =>
    Math.max(
      0,
      ...cols.map(
        (t, i) => SLANT * wide(t) - (cols.length - i - 0.4) * cell - more(cell),
      ),
    );
  const cell = flat ? size(width) : size(width - over(size(width)));
  return {
    cell,
    left,
    flat,
    beside: Math.max(cell, WIDE), // width of one more column
    top: flat ? 26 : Math.ceil(longest * SLANT) + 18,
    width: Math.ceil(
      left + cell * cols.length + more(cell) + 6 + (flat ? 0 : over(cell)),
    ),
    height: (flat ? 26 : Math.ceil(longest * SLANT) + 18) + cell * rows.length + 6,
  };
}
