// What all figures share: state in traits, one paint, exports, cleanup.
import { toSVG } from "./export.mjs";
import { controls } from "./controls.mjs";
import { h, set } from "./dom.mjs";
import { exportView, tableView } from "./foot.mjs";
import { formula, light } from "./formula.mjs";
import { frame, say, watchUse } from "./frame.mjs";
import { keyOf, last, read, write } from "./link.mjs";
import { palette, paletteCSS } from "./palette.mjs";
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

function mount(spec, css, model, el) {
  const ended = new AbortController();
  const { signal } = ended;
  const part = frame(spec);
  watchUse(part.root);
  const host = h("div", { class: "tl-live", "data-lm-suppress-shortcuts": true });
  host
    .attachShadow({ mode: "open" })
    .append(h("style", { text: paletteCSS + css }), part.root);
  el.append(host);

  const view = { hover: null, width: 680 };
  const [bound, resets] = [[], []];
  let [geometry, fresh, waiting] = [null, false, false];
  const repaint = () => {
    fresh = false;
    redraw();
  };
  const redraw = () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      if (!signal.aborted) paint();
    });
  };
  const data = store(model, spec.traits, repaint, signal);
  const ui = {
    ...data,
    widget: model,
    signal,
    repaint,
    bind: (update) => bound.push(update),
    onReset: (forget) => resets.push(forget),
    locked: (state = data.state()) => spec.locked?.(state) ?? null,
    lock: (cell) => data.set(spec.lock(cell, data.state())),
    active: () => view.hover ?? ui.locked() ?? spec.rest?.(data.state()) ?? null,
    hover: (cell) => {
      if (String(cell) === String(view.hover)) return;
      view.hover = cell;
      redraw();
    },
    light: (name) => light(part.root, name),
  };
  Object.assign(ui, controls(ui));
  const built = spec.build(ui);
  if (built.formula) part.formula.replaceWith(formula(ui, built.formula));
  else part.formula.remove();
  part.controls.append(...built.controls);
  part.picture.append(...built.picture);

  const key = () => keyOf(el, spec.name); // null as long as `el` is on no page
  const numbers = () => spec.table(geometry);
  const table = tableView();
  const menu = exportView(spec.name, {
    svg: () => {
      const theme = part.root.hasAttribute("data-dark") ? "dark" : "light";
      return toSVG(part.root.querySelectorAll(".picture, .more"), {
        title: part.say.textContent,
        ground: palette[theme].ground,
      });
    },
    table: numbers,
    code: () => spec.pytorch(data.state(), geometry),
    link: () => {
      if (key() === null) return null;
      const hash = write(location.hash, key(), data.state(), data.initial);
      return `${location.href.split("#")[0]}#${hash}`;
    },
  });
  ui.onReset(menu.forget);
  const reset = ui.button({
    label: "Reset",
    action: () => {
      for (const forget of resets) forget();
      data.reset();
    },
  });
  part.foot.append(reset, menu.node, table.node);
  table.node.addEventListener("toggle", redraw);

  function paint() {
    try {
      const state = data.state();
      if (!fresh) geometry = spec.layout(state, view.width);
      fresh = true;
      for (const update of bound) update(state);
      built.draw(geometry, view);
      say(part.say, spec.sentence(geometry, ui.active()));
      table.draw(numbers);
      show(null);
    } catch (error) {
      show(error);
    }
  }
  function show(error) {
    for (const node of [part.controls, part.picture, part.say, menu.node, table.node])
      node.hidden = error !== null;
    set(part.error, {
      hidden: error === null,
      text: error ? `This figure cannot be drawn: ${error.message}. ${way()}` : "",
    });
  }
  const fits = (state) => {
    try {
      return Boolean(spec.layout(state, view.width));
    } catch {
      return false;
    }
  };
  /** What a reader can do about a state that cannot be drawn. */
  const way = () =>
    fits(data.initial)
      ? "Reset brings it back."
      : "It came so; make it anew in Python.";

  /** Takes the state that the address carries, if this figure can show it. */
  function follow() {
    if (key() === null) return;
    const patch = read(location.hash, key(), data.initial);
    if (!fits({ ...data.initial, ...patch })) return;
    if (Object.keys(patch).length) data.set({ ...data.initial, ...patch });
    if (last(location.hash, key())) host.scrollIntoView({ block: "nearest" });
  }

  const theme = watchTheme(el, part.root, signal);
  let placed = false;
  const size = new ResizeObserver(([{ contentRect }]) => {
    theme();
    if (!placed) follow();
    placed = true;
    if (!contentRect.width || Math.abs(contentRect.width - view.width) < 1) return;
    view.width = contentRect.width;
    repaint();
  });
  size.observe(part.root);
  signal.addEventListener("abort", () => size.disconnect());
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
