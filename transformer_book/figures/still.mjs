// Still pictures of figures, for stored outputs: what the figure itself draws and says.
//   node still.mjs    a JSON list of { figure, state, width } in, a list of HTML out
// The figure is mounted in a document without a browser; its SVGs are kept with the
// values of its CSS as attributes, its sentence and its table as they are.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { JSDOM } from "jsdom";
import postcss from "postcss";
import { figure } from "./kit/figure.mjs";
import { palette } from "./kit/palette.mjs";

const here = import.meta.dirname;
const COLUMN = 680; // pixels, as wide as a column of text
const SHOWN = new Set([
  ...["fill", "fill-opacity", "opacity", "display", "visibility", "transform"],
  ...["stroke", "stroke-opacity", "stroke-width", "stroke-dasharray"],
  ...["stroke-linecap", "stroke-linejoin", "paint-order", "shape-rendering"],
  ...["text-anchor", "dominant-baseline", "font-weight", "font-size", "font-family"],
]);
const PLACED = new Set(
  "x y x1 x2 y1 y2 cx cy r rx ry width height d points viewBox href".split(" "),
);
// Colors by name, so that the book's page can turn them dark; elsewhere they are light.
const COLORS = Object.fromEntries(
  Object.entries({ ...palette.light, page: palette.light.ground }).map(
    ([name, color]) => [name, `var(--tl-${name},${color})`],
  ),
);
// What all parts of a picture take from it, unless they say otherwise.
const COMMON = {
  fill: COLORS.text,
  "font-family": "sans-serif",
  "font-size": "12.5px",
  "dominant-baseline": "central",
};

const { window } = new JSDOM("<!doctype html><body></body>");
class Observer {
  observe() {}
  disconnect() {}
}
class WidthObserver extends Observer {
  static width = COLUMN;
  constructor(changed) {
    super();
    this.changed = changed;
  }
  observe() {
    this.changed([{ contentRect: { width: WidthObserver.width } }]);
  }
}
Object.assign(globalThis, {
  document: window.document,
  location: { hash: "", href: "" },
  MutationObserver: Observer,
  ResizeObserver: WidthObserver,
  addEventListener() {},
  getComputedStyle: () => ({
    color: "rgb(0,0,0)",
    backgroundColor: "rgb(255,255,255)",
  }),
  matchMedia: () => ({ addEventListener() {} }),
  requestAnimationFrame() {},
});

const css = (folder) => readFileSync(join(here, folder, "style.css"), "utf8");

/** The rules for pictures, [selector, [[property, value]]], in their order. */
function rulesOf(style) {
  const rules = [];
  postcss.parse(style).each((rule) => {
    if (rule.type !== "rule") return; // what asks for a medium or a width is left out
    const values = [];
    rule.each((node) => {
      if (node.type === "decl" && SHOWN.has(node.prop))
        values.push([node.prop, node.value, node.important]);
    });
    if (values.length) rules.push([rule.selector, values]);
  });
  return rules;
}

const plain = (value) =>
  value
    .replace(/var\(--(\w+)[^)]*\)/g, (_, name) => COLORS[name] ?? "monospace")
    .replace("currentColor", COLORS.text)
    .replace(/-?\d+\.\d{2,}/g, (x) => String(Math.round(10 * x) / 10));

/** The values that the rules give to the nodes of a picture: node -> { property: value }. */
function styled(root, rules) {
  const styles = new Map();
  for (const [selector, values] of rules) {
    let found;
    try {
      found = root.querySelectorAll(selector);
    } catch {
      continue; // a state that only a browser knows, such as ::details-content
    }
    for (const node of found) {
      const own = styles.get(node) ?? {};
      for (const [prop, value, important] of values)
        if (important || !own[prop]?.important) own[prop] = { value, important };
      styles.set(node, own);
    }
  }
  return styles;
}

/** What is written into a node: its own attributes, then its style, which wins. */
function valuesOf(node, styles) {
  const own = [...node.attributes].filter(
    ({ name }) => PLACED.has(name) || SHOWN.has(name),
  );
  const inline = [...(node.style ?? [])].map((name) => [
    name,
    node.style.getPropertyValue(name),
  ]);
  const sheet = Object.entries(styles.get(node) ?? {});
  const values = [
    ...own.map(({ name, value }) => [name, value]),
    ...sheet.map(([name, { value }]) => [name, value]),
    ...inline.filter(
      ([name]) => SHOWN.has(name) && !styles.get(node)?.[name]?.important,
    ),
  ].map(([name, value]) => [name, plain(value)]);
  return Object.fromEntries(values);
}

const isClear = (paint) => paint === "none" || paint === "transparent";
const isUnseen = ({ display, visibility, fill, stroke = "none" }) =>
  display === "none" || visibility === "hidden" || (isClear(fill) && isClear(stroke));

/** A node of a picture as SVG text with attributes alone, or nothing if it is not seen. */
function drawn(node, styles) {
  if (node.nodeType === 3) return escape(node.data);
  const values = valuesOf(node, styles);
  if (isUnseen(values)) return "";
  const inside = [...node.childNodes].map((child) => drawn(child, styles)).join("");
  if (!inside && ["g", "text"].includes(node.localName)) return "";
  const attributes = Object.entries(values)
    .filter(
      ([name, value]) => !["", COMMON[name]].includes(value) && name !== "display",
    )
    .map(([name, value]) => ` ${name}="${escape(value)}"`)
    .join("");
  return `<${node.localName}${attributes}>${inside}</${node.localName}>`;
}

/** A whole picture, on its own ground, with what it is called. */
function pictureOf(svg, title, styles) {
  const common = Object.entries(COMMON).map(([name, value]) => ` ${name}="${value}"`);
  const label = ` role="img" aria-label="${escape(svg.getAttribute("aria-label") ?? title)}"`;
  const paper = `<rect width="100%" height="100%" fill="${COLORS.ground}"></rect>`;
  const heading = svg.closest(".panel")?.querySelector(".title");
  const words = [...(heading?.children ?? [])].map((node) => node.textContent.trim());
  const name = words.filter(Boolean).join(": ");
  const drawing = drawn(svg, styles).replace("<svg", `<svg${common.join("")}${label}`);
  return `${name ? `<p>${escape(name)}</p>` : ""}${drawing.replace(">", `>${paper}`)}`;
}

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (value) => String(value).replace(/[&<>"]/g, (sign) => SIGNS[sign]);

function tableOf({ caption, header, rows }) {
  const cell = (tag, scope) => (value) =>
    `<${tag}${scope ? ` scope="${scope}"` : ""}>${escape(value ?? "")}</${tag}>`;
  const head = header.map(cell("th", "col")).join("");
  const body = rows
    .map(
      ([first, ...others]) =>
        `<tr>${cell("th", "row")(first)}${others.map(cell("td")).join("")}</tr>`,
    )
    .join("");
  return `<table><caption>${escape(caption)}</caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

/** What anywidget gives a figure, over a plain object. */
const modelOf = (state) => ({
  get: (name) => state[name],
  set: (name, value) => (state[name] = value),
  on() {},
  off() {},
  save_changes() {},
});

async function still({ figure: name, state, width = COLUMN }) {
  WidthObserver.width = width;
  const { default: given } = await import(`./${name}/view.mjs`);
  const spec = typeof given === "function" ? given() : given;
  const el = document.createElement("div");
  document.body.replaceChildren(el);
  const sheet = css("kit") + css(name);
  const end = figure(spec, sheet).render({
    model: modelOf(structuredClone(state)),
    el,
  });
  const root = el.firstElementChild.shadowRoot;
  const fault = root.querySelector(".error:not([hidden])");
  if (fault) throw Error(`${name}: ${fault.textContent}`);
  const styles = styled(root, rulesOf(sheet));
  const pictures = [...root.querySelectorAll(".picture svg")]
    .filter((svg) => !svg.closest("[hidden]"))
    .map((svg) => pictureOf(svg, spec.title, styles));
  const sentence = root.querySelector(".say").textContent;
  const html = `<p>${escape(sentence)}</p>${pictures.join("")}${tableOf(spec.table(spec.layout(state, width)))}`;
  end();
  return html;
}

const answers = [];
for (const asked of JSON.parse(await text(process.stdin)))
  answers.push(await still(asked));
console.log(JSON.stringify(answers));
