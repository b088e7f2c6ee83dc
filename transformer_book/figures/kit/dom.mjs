// Elements without innerHTML: text is always textContent, so a token is never markup.
const SVG = "http://www.w3.org/2000/svg";
const LIVE = new Set(["value", "checked", "disabled", "hidden", "open"]);

function setAttribute(node, name, value) {
  if (value === null || value === undefined || value === false)
    node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value))
    node.setAttribute(name, value === true ? "" : value);
}

/** Sets attributes, properties, listeners (`onclick`) and `text`; null or false removes. */
export function set(node, props) {
  for (const [name, value] of Object.entries(props)) {
    if (name === "text") {
      if (node.textContent !== String(value)) node.textContent = value;
    } else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (LIVE.has(name) && name in node) {
      if (node[name] !== value) node[name] = value;
    } else setAttribute(node, name, value);
  }
  return node;
}

/** HTML element: h("button", { class: "x", text: "Step", onclick }, ...children). */
export function h(tag, props = {}, ...children) {
  const node = set(document.createElement(tag), props);
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

/** SVG element, same arguments as `h`. */
export function s(tag, props = {}, ...children) {
  const node = set(document.createElementNS(SVG, tag), props);
  node.append(...children.flat().filter((child) => child != null));
  return node;
}

/** @type {(node: any, item: any, i: number) => void} */
const NOTHING = () => {};

/** Keyed join: makes parent's children match `items`, reusing nodes by `key(item, i)`. */
export function join(parent, items, key, create, update = NOTHING) {
  const old = new Map();
  for (const node of parent.children) old.set(node.joinKey, node);
  items.forEach((item, i) => {
    const k = String(key(item, i));
    let node = old.get(k);
    old.delete(k);
    if (!node) {
      node = create(item, i);
      node.joinKey = k;
    }
    const there = parent.children[i];
    if (there !== node) parent.insertBefore(node, there ?? null);
    update(node, item, i);
  });
  for (const node of old.values()) node.remove();
}

/** A child of `tag` for each of `items`, which are its attributes. */
export const fill = (parent, items, tag) =>
  join(
    parent,
    items,
    (_, i) => i,
    () => s(tag),
    (node, props) => set(node, props),
  );
