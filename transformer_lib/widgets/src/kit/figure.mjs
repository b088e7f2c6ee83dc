// The frame that all figures share: state in traits, one paint, exports, cleanup.
import { download, toPNG, toSVG } from "../exports/index.mjs";
import { controls } from "./controls.mjs";
import { h, set } from "./dom.mjs";
import { formula, light } from "./formula.mjs";
import { keyOf, last, read, write } from "./link.mjs";
import { palette } from "./palette.mjs";
import { kitCSS } from "./style.mjs";
import { csv } from "./text.mjs";
import { watchTheme } from "./theme.mjs";

const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** The figure's traits as a plain object, and the one way to change them. */
function store(model, traits, changed, signal) {
  const state = () => Object.fromEntries(traits.map((name) => [name, model.get(name) ?? null]));
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

/** A part that opens and closes; Escape closes it. */
function fold(text, props, ...children) {
  const head = h("summary", { text });
  const onkeydown = (event) => {
    if (event.key !== "Escape") return;
    set(node, { open: false });
    head.focus();
  };
  const node = h("details", { ...props, onkeydown }, head, ...children);
  return node;
}

/** A real table, filled only while it is open. */
function tableView() {
  const table = h("table");
  const wide = h("div", { class: "scroll", tabindex: 0 }, table); // it may scroll sideways
  const node = fold("Data table", {}, wide);
  const line = (values, head) =>
    h("tr", {}, values.map((value, i) =>
      h(i && !head ? "td" : "th", { scope: head ? "col" : !i && "row", text: value })));
  let shown;
  const draw = (make) => {
    if (!node.open) return;
    const data = make();
    const { caption, header, rows } = data;
    const now = JSON.stringify(data);
    if (now === shown) return; // what a reader has marked in it stays
    shown = now;
    table.replaceChildren(
      h("caption", { text: caption }), line(header, true), ...rows.map((row) => line(row)));
  };
  return { node, draw };
}

/** The export menu; `get` has svg(), rows(), code() and link() (null outside the book). */
function exportView(name, get) {
  const out = h("textarea", { readonly: true, hidden: true, "aria-label": "Export" });
  const done = h("span", { role: "status" });
  const copy = async (text) => {
    set(out, { hidden: false, value: text });
    const said = navigator.clipboard?.writeText(text).then(() => true, () => false);
    set(done, { text: (await said) ? "Copied." : "Copy it below." });
    if (!(await said)) out.select();
  };
  const item = (text, onclick) => h("button", { type: "button", text, onclick });
  const save = (kind, type, make) =>
    item(kind.toUpperCase(), async () => download(await make(), `${name}.${kind}`, type));
  const link = item("Copy link", () => copy(get.link()));
  const ontoggle = () => set(link, { hidden: get.link() === null });
  const node = fold(
    "Export", { ontoggle },
    h("div", {},
      h("div", { class: "menu" },
        save("svg", "image/svg+xml", get.svg),
        save("png", "image/png", () => toPNG(get.svg())),
        save("csv", "text/csv", () => csv(get.rows())),
        item("Copy as PyTorch", () => copy(get.code())),
        link,
        done),
      out),
  );
  const forget = () => {
    set(out, { hidden: true, value: "" });
    set(done, { text: "" });
  };
  return { node, forget };
}

function frame(spec) {
  const parts = {
    error: h("p", { class: "error", role: "alert", hidden: true }),
    formula: h("div"),
    controls: h("div", { class: "controls" }),
    picture: h("div", { class: "picture" }),
    say: h("p", { class: "say", role: "status", "aria-live": "polite" }),
    foot: h("div", { class: "foot" }),
  };
  const { error, say, foot, ...work } = parts;
  const tip = h("p", { class: "try" }, h("b", { text: "Try this: " }), spec.tip,
    h("span", { class: "tap", text: " Tap a cell to hold it, again to let go." }));
  const text = `Keys: arrows move, Enter holds, Esc lets go${spec.keys ?? ""}.`;
  const root = h(
    "div", { class: "fig", role: "group", "aria-label": spec.title },
    tip, error, ...Object.values(work),
    h("div", { class: "told" }, say, h("p", { class: "keys", text })), foot,
  );
  return { root, ...parts };
}

/**
 * Marks the frame while somebody uses it: its sentence stays in the window then. From the
 * end of a tap on, as what came up under the finger would take the tap away from a cell.
 */
function watchUse(root) {
  const used = (on) => root.classList.toggle("used", on);
  const starts = () => used(true);
  for (const type of ["click", "input", "keyup"]) root.addEventListener(type, starts);
  set(root, {
    onpointerenter: ({ pointerType }) => pointerType === "touch" || starts(),
    onpointerleave: () => used(root.matches(":focus-within")),
    // a button that goes out leaves the focus nowhere: it is not gone elsewhere
    onfocusout: ({ relatedTarget: to }) => to && used(root.contains(to)),
  });
}

function mount(spec, model, el) {
  const ended = new AbortController();
  const { signal } = ended;
  const part = frame(spec);
  watchUse(part.root);
  const host = h("div", { class: "tl-live", "data-lm-suppress-shortcuts": true });
  host.attachShadow({ mode: "open" }).append(
    h("style", { text: kitCSS + (spec.css ?? "") }), part.root,
  );
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
  const page = () => el.ownerDocument.location;
  const table = tableView();
  const menu = exportView(spec.name, {
    svg: () => {
      const theme = part.root.hasAttribute("data-dark") ? "dark" : "light";
      return toSVG(part.root.querySelectorAll(".picture, .more"), { title: part.say.textContent, ground: palette[theme].ground });
    },
    rows: () => {
      const { header, rows } = spec.table(geometry);
      return [header, ...rows];
    },
    code: () => spec.pytorch(data.state(), geometry),
    link: () => {
      if (key() === null) return null;
      const hash = write(page().hash, key(), data.state(), data.initial);
      return `${page().href.replace(/#.*$/, "")}#${hash}`;
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
      set(part.say, { text: spec.sentence(geometry, ui.active()) });
      table.draw(() => spec.table(geometry));
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
    fits(data.initial) ? "Reset brings it back." : "It came so; make it anew in Python.";

  /** Takes the state that the address carries, if this figure can show it. */
  function follow() {
    if (key() === null) return;
    const patch = read(page().hash, key(), data.initial);
    if (!fits({ ...data.initial, ...patch })) return;
    if (Object.keys(patch).length) data.set({ ...data.initial, ...patch });
    if (last(page().hash, key())) host.scrollIntoView({ block: "nearest" });
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

/** Turns a figure's description (see index.mjs) into { render({ model, el }) }. */
export const figure = (spec) => ({
  render: ({ model, el }) => mount(spec, model, el),
});
