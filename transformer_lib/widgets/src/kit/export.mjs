// What a reader takes away: the picture as SVG or PNG, the numbers, the code.
import { h, s, set } from "./dom.mjs";

const STYLE = [
  "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order",
  "opacity", "font-family", "font-size", "font-weight", "text-anchor",
  "dominant-baseline", "display",
];

/** Leaves only what a picture alone needs: no roles, and no values of this page's CSS. */
function strip(node) {
  for (const { name, value } of [...node.attributes])
    if (/^(role|class|aria|tabindex|data|style)/.test(name) || value.includes("var("))
      node.removeAttribute(name);
}

function frozen(svg) {
  const copy = svg.cloneNode(true);
  const copies = copy.querySelectorAll("*");
  svg.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(node);
    strip(copies[i]);
    for (const name of STYLE) copies[i].style.setProperty(name, style.getPropertyValue(name));
  });
  strip(copy);
  return copy;
}

/** All SVG pictures below `picture` as one standalone SVG text, on the page's ground. */
export function toSVG(picture, { title, ground }) {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const all = s("svg", {
    xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}`,
  });
  all.append(s("title", { text: title }), s("rect", { width, height, fill: ground }));
  for (const svg of picture.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    const copy = frozen(svg);
    const style = getComputedStyle(svg);
    set(copy, {
      x: box.left - left, y: box.top - top, width: box.width,
      height: box.height, "font-family": style.fontFamily, color: style.color,
    });
    all.append(copy);
  }
  return new XMLSerializer().serializeToString(all);
}

/** A PNG (blob, at twice the size) of a standalone SVG text. */
export async function toPNG(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** Lets the browser save `content` (text or blob) as `name`. */
export function download(content, name, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
