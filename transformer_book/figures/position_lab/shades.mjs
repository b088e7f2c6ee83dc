// Numbers as shades of two colors. Pure: no DOM.
import { times } from "../kit/index.mjs";

export const SIGN = 7.6; // width of one monospace sign
const STEPS = 10; // shades on each side of zero

export const largest = (rows) => Math.max(...rows.flat().map(Math.abs)) || 1;

/** Whole pixels between `count` bands from `start` on. */
export const edges = (start, count, size) =>
  times(count + 1, (i) => Math.round(start + (i * size) / count));
export const bands = (all) => all.slice(1).map((end, i) => [all[i], end]);
export const box = (x, y, right, low) => `M${x} ${y}H${right}V${low}H${x}z`;

/**
 * Paths of a heatmap: one per shade of "plus" and "minus", then the strokes that mark what
 * is below zero, dark ("ink") on light shades, light ("chalk") on dark ones.
 * columns: [[left, right], ...]; lines: edges; at(line, column) -> value in -1..1.
 */
export function shades(columns, lines, at) {
  const [fills, strokes] = [{}, { ink: "", chalk: "" }];
  bands(lines).forEach(([y, low], r) => {
    const shade = (c) => Math.round(STEPS * at(r, c));
    let from = 0;
    columns.forEach(([, right], c) => {
      const k = shade(c);
      if (columns[c + 1]?.[0] === right && shade(c + 1) === k) return;
      const x = columns[from][0];
      const inset = Math.min(3, (right - x) / 4);
      from = c + 1;
      fills[k] = (fills[k] ?? "") + box(x, y, right, low);
      if (k < 0)
        strokes[k < -STEPS / 2 ? "chalk" : "ink"] +=
          `M${x + inset} ${(y + low) / 2}H${right - inset}`;
    });
  });
  return [
    ...Object.entries(fills).map(([k, d]) => [
      d,
      Number(k) > 0 ? "plus" : "minus",
      Math.abs(Number(k)) / STEPS,
    ]),
    ...Object.entries(strokes).map(([name, d]) => [d, name]),
  ];
}
