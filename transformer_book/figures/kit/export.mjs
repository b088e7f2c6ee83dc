// What a reader takes away: the picture as SVG or PNG, the numbers, the code.
import { h, s, set } from "./dom.mjs";

const [GAP, EDGE] = [16, 8]; // between pictures, around all
const FONT = ["font-family", "font-size", "font-style", "font-weight"];
const STYLE = [
  ...FONT,
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "paint-order",
  "opacity",
  "text-anchor",
  "dominant-baseline",
  "shape-rendering",
  "display",
  "visibility",
];
// A control's choice is text too; what else it offers, and what it does, is not.
const SKIPPED = "svg, button, option, .options label:not(:has(:checked))";

const FIELDS = "select, [type=number], [type=checkbox]";

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
    for (const name of STYLE)
      copies[i].style.setProperty(name, style.getPropertyValue(name));
  });
  strip(copy);
  return copy;
}

/** The lines of an HTML text, each with its place: { text, left, right, top, bottom }. */
function linesOf(node) {
  const range = document.createRange();
  const all = [];
  for (const { 0: sign, index } of node.data.matchAll(/[^]/gu)) {
    range.setStart(node, index);
    range.setEnd(node, index + sign.length);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    const line = all.at(-1);
    const wide = right > left; // neither a space that shows nothing nor an accent
    if (wide && !(line && Math.abs(top - line.top) < 2))
      all.push({ text: sign, left, right, top, bottom });
    else if (wide || (line && /\S/.test(sign))) {
      line.text += sign;
      if (!wide) continue;
      line.left = Math.min(line.left, left);
      line.right = Math.max(line.right, right);
    }
  }
  return all;
}

/** What a select, a box to tick or a field of a number shows, as one line. */
function valueOf(node) {
  const { left, top, bottom } = node.getBoundingClientRect();
  const tick = node.type === "checkbox" && (node.checked ? "☑" : "☐");
  const text = tick || (node.selectedOptions?.[0]?.text ?? node.value);
  return bottom > top && text
    ? [{ text, left: left + (tick ? 2 : 11), top, bottom }]
    : [];
}

const { SHOW_ELEMENT, SHOW_TEXT, FILTER_ACCEPT, FILTER_REJECT } =
  globalThis.NodeFilter ?? {};

/** The texts below `picture`, and the fields that show a value. */
function* shownIn(picture) {
  const skip = (node) =>
    node instanceof Element && node.matches(SKIPPED) ? FILTER_REJECT : FILTER_ACCEPT;
  const walk = document.createTreeWalker(picture, SHOW_ELEMENT | SHOW_TEXT, skip);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    if (!(node instanceof Element) || node.matches(FIELDS)) yield node;
}

/** The HTML texts below `picture` as SVG texts that stand where those stand. */
function texts(picture, at) {
  const found = [];
  for (const node of shownIn(picture)) {
    const field = node instanceof Element;
    const of = field ? node : node.parentElement;
    const style = getComputedStyle(of);
    if (style.visibility !== "visible") continue;
    const fill = getComputedStyle(of.closest(".options") ?? of).color; // a chosen one is inverted
    for (const { text, left, right, top, bottom } of (field ? valueOf : linesOf)(
      node,
    )) {
      const line = s("text", {
        ...at(left, (top + bottom) / 2),
        text,
        fill,
        "dominant-baseline": "central",
        "xml:space": "preserve",
        textLength: right && right - left,
        lengthAdjust: "spacingAndGlyphs",
      });
      for (const name of FONT) line.setAttribute(name, style.getPropertyValue(name));
      found.push(line);
    }
  }
  return found;
}

/** A picture's SVGs and texts, moved down by `down` from where it stands, and its bounds. */
function partsOf(picture, down) {
  const from = picture.getBoundingClientRect();
  const at = (x, y) => ({ x: x - from.left, y: y - from.top + down });
  const bounds = [];
  const parts = [];
  const take = ({ left, right, top, bottom, width, height }, scrolled = 0) => {
    const { x, y } = at(left + scrolled, top);
    if (width || height) bounds.push([x, x + right - left, y + bottom - top]);
  };
  take(from);
  for (const svg of picture.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    if (!box.width) continue;
    const scrolled = svg.closest(".scroll")?.scrollLeft ?? 0;
    for (const node of [svg, ...svg.querySelectorAll("text")])
      take(node.getBoundingClientRect(), scrolled);
    const style = getComputedStyle(svg);
    parts.push(
      set(frozen(svg), {
        ...at(box.left + scrolled, box.top),
        width: box.width,
        height: box.height,
        overflow: "visible",
        "font-family": style.fontFamily,
        color: style.color,
      }),
    );
  }
  return { parts: [...parts, ...texts(picture, at)], bounds };
}

/** The pictures one below the other as one standalone SVG text, on the page's ground. */
export function toSVG(pictures, { title, ground }) {
  const parts = [];
  let [x, right, low] = [0, 0, -GAP];
  for (const picture of pictures) {
    const own = partsOf(picture, low + GAP);
    parts.push(...own.parts);
    x = Math.min(x, ...own.bounds.map(([left]) => left));
    right = Math.max(right, ...own.bounds.map(([, end]) => end));
    low = Math.max(low, ...own.bounds.map(([, , bottom]) => bottom));
  }
  x -= EDGE;
  const [width, height] = [Math.ceil(right - x + EDGE), Math.ceil(low + 2 * EDGE)];
  const all = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    width,
    height,
    viewBox: `${x} ${-EDGE} ${width} ${height}`,
  });
  const paper = s("rect", { x, y: -EDGE, width, height, fill: ground });
  all.append(s("title", { text: title }), paper, ...parts);
  return new XMLSerializer().serializeToString(all);
}

/** A PNG (bytes, at twice the size) of a standalone SVG text. */
export async function toPNG(svg) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = h("canvas", { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  // toBlob would wait, for seconds, until a busy page has nothing else to do
  const [, base64] = canvas.toDataURL("image/png").split(",");
  return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
}

/** A table as CSV, one line per row; quoted where needed, formulas of spreadsheets disarmed. */
export const csv = ({ header, rows }) =>
  [header, ...rows]
    .map((row) =>
      row
        .map((value) => {
          let text = String(value ?? "");
          if (typeof value === "string" && /^[=+@\t\r]|^-(?![\d.i])/.test(text))
            text = `'${text}`;
          return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
        })
        .join(","),
    )
    .join("\n") + "\n";

/** Lets the browser save `content` (text or bytes) as `name`. */
export function download(content, name, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
