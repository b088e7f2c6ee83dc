// Light or dark by what the page really shows, whatever its theme system is.
import { contrast, luminance, palette, rgb } from "./palette.mjs";

const numbers = (color) => (color.match(/[\d.]+/g) ?? [0, 0, 0]).map(Number);

/** The first ground behind `el` that is not transparent, or null. */
function groundOf(el) {
  for (let at = el; at; at = at.parentElement ?? at.getRootNode().host) {
    const color = numbers(getComputedStyle(at).backgroundColor);
    if ((color[3] ?? 1) > 0.5) return color.slice(0, 3);
  }
  return null;
}

/** Whether the page around `el` is dark, its ground, and a text color if its own fails. */
export function readTheme(el) {
  const text = numbers(getComputedStyle(el).color).slice(0, 3);
  const found = groundOf(el);
  const dark = found ? luminance(found) < 0.2 : luminance(text) > 0.35;
  const theme = palette[dark ? "dark" : "light"];
  const ground = found ?? rgb(theme.ground);
  return { dark, ground, text: contrast(text, ground) < 4.5 ? theme.text : "" };
}

/** Keeps data-dark on `root` right; every listener ends with `signal`. */
export function watchTheme(el, root, signal) {
  const read = () => {
    if (!el.isConnected) return;
    const { dark, ground, text } = readTheme(el);
    root.toggleAttribute("data-dark", dark);
    root.style.color = text;
    root.style.setProperty("--page", `rgb(${ground})`);
  };
  const later = () => {
    read();
    requestAnimationFrame(() => requestAnimationFrame(() => signal.aborted || read()));
  };
  const observer = new MutationObserver(later);
  for (const node of [document.documentElement, document.body])
    observer.observe(node, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later, {
    signal,
  });
  signal.addEventListener("abort", () => observer.disconnect());
  return read;
}
