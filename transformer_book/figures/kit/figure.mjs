// What all figures share: state in traits, one paint, exports, cleanup.
import { toSVG } from "./export.mjs";
import { controls } from "./controls.mjs";
import { more, term } from "./disclosure.mjs";
import { h, set } from "./dom.mjs";
import { exportView, tableView } from "./foot.mjs";
import { formula, light } from "./formula.mjs";
import { frame, say, watchUse } from "./frame.mjs";
import { keyOf, last, read, write } from "./link.mjs";
import { palette, paletteCSS } from "./palette.mjs";
import { steps } from "./steps.mjs";
import { watchTheme } from "./theme.mjs";

const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** The figure's traits as a plain object, and the one way to change them. */
function store(model, traits, changed, signal) {
  const state = () =>
    Object.fromEntries(traits.map((name) => [name, model.get(name) ?? null]));
  const initial = copyOf(state());
  for (const name of traits) {
    model.on(`change:${name}`, changed);
    signal.addEventListener("abort", () => model.off(`change:${name}`, changed));
  }
  const patch = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, copyOf(value));
    model.save_changes();
    changed();
  };
  return { state, initial, set: patch, reset: () => patch(initial) };
}

/** Runs `task` once after all changes of a moment, unless the figure is gone by then. */
function onceAMoment(task, signal) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      if (!signal.aborted) task();
    });
  };
}

/** What the parts of a figure use of it: see index.mjs. */
function createUI(spec, data, { view, root, ...given }) {
  const [bound, resets] = [[], []];
  const ui = {
    ...data,
    ...given,
    bind: (update) => bound.push(update),
    update: (state) => bound.forEach((update) => update(state)),
    onReset: (forget) => resets.push(forget),
    reset() {
      for (const forget of resets) forget();
      data.reset();
    },
    locked: (state = data.state()) => spec.locked?.(state) ?? null,
    lock: (cell) => data.set(spec.lock(cell, data.state())),
    active: () => view.hover ?? ui.locked() ?? spec.rest?.(data.state()) ?? null,
    hover(cell) {
      if (String(cell) === String(view.hover)) return;
      view.hover = cell;
      given.redraw();
    },
    light: (name) => light(root, name),
    term: (word, explanation) => term(root, word, explanation),
  };
  return Object.assign(ui, controls(ui));
}

/** A figure's part of the page's address: how it is written, and followed. */
function linkOf(spec, data, el) {
  const key = () => keyOf(el, spec.name); // null as long as `el` is on no page
  return {
    address() {
      if (key() === null) return null;
      const hash = write(location.hash, key(), data.state(), data.initial);
      return `${location.href.split("#")[0]}#${hash}`;
    },
    /** Takes the state that the address carries, if this figure can show it. */
    follow(fits, host) {
      if (key() === null) return;
      const patch = read(location.hash, key(), data.initial);
      if (!fits({ ...data.initial, ...patch })) return;
      if (Object.keys(patch).length) data.set({ ...data.initial, ...patch });
      if (last(location.hash, key())) host.scrollIntoView({ block: "nearest" });
    },
  };
}

/** Puts what a figure has built, and the steps that lead to it, into the frame. */
function fill(part, spec, ui, built) {
  const { controls, more: others, below, formula: equation } = built;
  part.controls.append(...controls);
  if (others?.length) part.controls.append(more(others));
  if (below) part.below.append(...below);
  else part.below.remove();
  if (equation) part.formula.replaceWith(formula(ui, equation));
  else part.formula.remove();
  const strip = steps(ui, spec.name, spec.steps);
  part.steps.replaceWith(strip.node);
  part.foot.append(strip.again);
}

const NARROW = 480; // pixels: a phone

/** Panels of the class "after" stand below the sentence where none is beside another. */
function arrange({ picture, follows }, { picture: panels }, width) {
  const isMoved = (node) => width < NARROW && node.classList.contains("after");
  const moved = panels.filter(isMoved);
  if (picture.hasChildNodes() && moved.length === follows.children.length) return;
  picture.append(...panels.filter((node) => !isMoved(node)));
  follows.replaceChildren(...moved);
}

/** What stands below a figure: Reset, what a reader takes away, the data table. */
function footer(spec, ui, { part, link, geometry }) {
  const table = tableView();
  const menu = exportView(spec.name, {
    svg: () => {
      const theme = part.root.hasAttribute("data-dark") ? "dark" : "light";
      return toSVG(part.root.querySelectorAll(".picture"), {
        title: part.say.textContent,
        ground: palette[theme].ground,
      });
    },
    table: () => spec.table(geometry()),
    code: () => spec.pytorch(ui.state(), geometry()),
    link: link.address,
  });
  ui.onReset(menu.forget);
  const reset = ui.button({ label: "Reset", action: () => ui.reset() });
  part.foot.append(reset, menu.node, table.node);
  table.node.addEventListener("toggle", ui.redraw);
  return { menu: menu.node, table };
}

/** A frame in a shadow root at the end of `el`, where no style of the page comes in. */
function stage(part, css, el) {
  const host = h("div", { class: "tl-live", "data-lm-suppress-shortcuts": true });
  const shadow = host.attachShadow({ mode: "open" });
  shadow.append(h("style", { text: paletteCSS + css }), part.root);
  el.append(host);
  return host;
}

// What a reader can do about a state that cannot be drawn.
const RESET = "Reset restores it.";
const REMAKE = "It was stored this way; create it again in Python.";

/** Says why a figure cannot be drawn, in the place of all that would be wrong; or null. */
function explain({ error, controls, picture, told, follows, below }, others, why) {
  const hidden = why !== null;
  const all = [controls, picture, told, follows, below, ...others];
  for (const node of all) set(node, { hidden });
  set(error, {
    hidden: !hidden,
    text: hidden ? `This figure cannot be drawn: ${why}` : "",
  });
}

/**
 * Calls `resized` with the width in a node, from the first time that it has one. Watched
 * is a line without height: what is drawn again may make the node itself higher, which
 * the browser would report as an error.
 */
function watchWidth(node, resized, signal) {
  const observer = new ResizeObserver(([{ contentRect }]) =>
    resized(contentRect.width),
  );
  observer.observe(node.appendChild(h("div")));
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Whether a figure can show a state. */
function canDraw(spec, state, width) {
  try {
    return Boolean(spec.layout(state, width));
  } catch {
    return false;
  }
}

function mount(spec, css, model, el) {
  const ended = new AbortController();
  const { signal } = ended;
  const part = frame(spec);
  watchUse(part.root);
  const host = stage(part, css, el);
  const view = { hover: null, width: 680 };
  let [geometry, fresh] = [null, false];
  const redraw = onceAMoment(() => paint(), signal);
  const repaint = () => {
    fresh = false;
    redraw();
  };
  const data = store(model, Object.keys(spec.limits), repaint, signal);
  const shared = { view, root: part.root, widget: model, signal, repaint, redraw };
  const ui = createUI(spec, data, shared);
  const built = spec.build(ui);
  const link = linkOf(spec, data, el);
  const { menu, table } = footer(spec, ui, { part, link, geometry: () => geometry });
  fill(part, spec, ui, built);
  arrange(part, built, view.width);

  const fits = (state) => canDraw(spec, state, view.width);
  function paint() {
    try {
      const state = data.state();
      if (!fresh) geometry = spec.layout(state, view.width);
      fresh = true;
      ui.update(state);
      arrange(part, built, view.width);
      built.draw(geometry, view);
      say(part.say, spec.sentence(geometry, ui.active()));
      table.draw(() => spec.table(geometry));
      explain(part, [menu, table.node], null);
    } catch (error) {
      const way = fits(data.initial) ? RESET : REMAKE;
      explain(part, [menu, table.node], `${error.message}. ${way}`);
    }
  }

  const follow = () => link.follow(fits, host);
  const theme = watchTheme(el, part.root, signal);
  let placed = false;
  const resized = (width) => {
    theme();
    if (!placed) follow();
    placed = true;
    if (!width || Math.abs(width - view.width) < 1) return;
    view.width = width;
    repaint();
  };
  watchWidth(part.root, resized, signal);
  addEventListener("hashchange", follow, { signal });
  theme();
  paint();
  return () => {
    ended.abort();
    host.remove();
  };
}

/**
 * Turns a figure's description (see index.mjs), or a function that makes one for each
 * figure of a page, and all its CSS into { render({ model, el }) }.
 */
export const figure = (spec, css) => ({
  render: ({ model, el }) =>
    mount(typeof spec === "function" ? spec() : spec, css, model, el),
});
