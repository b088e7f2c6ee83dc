// Texts and marks that the pictures share. Pure: no DOM.

export const SIGN = 7.6; // width of one monospace sign
export const signs = (text) => [...text].length;
export const text = (x, y, shown, kind = null, anchor = "start") => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
});

/** The mark of a group: a disk, a square, a triangle, a diamond; a disk for none. */
export function mark(kind, x, y, r = 4.5) {
  const marks = [
    `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x} ${y - r - 1}l${r + 1} ${2 * r + 1}h${-2 * r - 2}z`,
    `M${x} ${y - r - 1.5}l${r + 1.5} ${r + 1.5}l${-r - 1.5} ${r + 1.5}l${-r - 1.5} ${-r - 1.5}z`,
  ];
  return marks[kind] ?? marks[0];
}
