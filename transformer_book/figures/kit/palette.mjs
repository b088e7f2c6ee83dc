// Colors: the one place. The values are palette.json; Python reads the same file.
import palette from "./palette.json" with { type: "json" };

export { palette };

const parse = (hex) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
const clamp = (x) => Math.min(1, Math.max(0, Number.isFinite(x) ? x : 0));

/** Red, green and blue (0 to 255) on the cividis scale at `x` in 0..1. */
export function cividisRGB(x) {
  const at = clamp(x) * (palette.cividis.length - 1);
  const low = Math.min(Math.floor(at), palette.cividis.length - 2);
  const [a, b] = [parse(palette.cividis[low]), parse(palette.cividis[low + 1])];
  return a.map((channel, i) => Math.round(channel + (at - low) * (b[i] - channel)));
}

export const cividis = (x) => `rgb(${cividisRGB(x).join(",")})`;

/** Relative luminance (WCAG) of [r, g, b] in 0..255. */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => {
    const s = c / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast ratio (WCAG) of two [r, g, b] colors. */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

export const rgb = parse;

/** Ink for a number on cividis(x): black or white, whichever reads better. */
export const inkOn = (x) => (luminance(cividisRGB(x)) > 0.179 ? "#000000" : "#ffffff");

const properties = (colors) =>
  Object.entries(colors)
    .map(([name, value]) => `--${name}:${value};`)
    .join("");

/** CSS custom properties (--query, --key, ...) for both themes. */
export const paletteCSS =
  `.fig{${properties(palette.light)}}` + `.fig[data-dark]{${properties(palette.dark)}}`;
