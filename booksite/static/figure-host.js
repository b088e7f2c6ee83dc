// Mounts the live figures of a page. A classic script that fetches nothing, so that
// the book works from disk too. The figures' code is in figures/<name>.js.
"use strict"; // so that functions in a block stay in it

{
  const { src: home } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const defined = {};
  const loading = {};
  const cleanups = new Map();
  globalThis.TransformerFigures = {
    home,
    load,
    define(name, needs, make) {
      defined[name] = { needs, make };
    },
  };

  function script(name) {
    return new Promise((resolve, reject) => {
      const node = document.createElement("script");
      node.src = new URL(`figures/${encodeURIComponent(name)}.js`, home).href;
      node.onload = () => resolve(defined[name]);
      node.onerror = () => reject(new Error(`there is no figure named "${name}"`));
      document.head.append(node);
    });
  }

  /** What a script of figures/ exports; what it needs is loaded once for all. */
  function load(name) {
    loading[name] ??= script(name).then(async ({ needs, make }) => {
      const parts = await Promise.all(needs.map(load));
      return make(Object.fromEntries(parts.map((part, i) => [needs[i], part])));
    });
    return loading[name];
  }

  // What anywidget gives a figure in a notebook, over a plain object.
  function createModel(state) {
    const listeners = {};
    return {
      get: (key) => state[key],
      set(key, value) {
        if (JSON.stringify(state[key]) === JSON.stringify(value)) return;
        state[key] = value;
        const heard = [
          ...(listeners[`change:${key}`] ?? []),
          ...(listeners.change ?? []),
        ];
        for (const callback of heard) callback();
      },
      on(event, callback) {
        (listeners[event] ??= []).push(callback);
      },
      off(event, callback) {
        const others = (listeners[event] ?? []).filter((other) => other !== callback);
        listeners[event] = callback ? others : [];
      },
      save_changes() {},
    };
  }

  function explain(element, error) {
    const message = document.createElement("p");
    message.className = "tl-figure-message";
    message.setAttribute("role", "status");
    message.textContent = `This figure stays still: ${error.message}.`;
    element.append(message);
    console.warn("figure", element.dataset.figure, error);
  }

  async function mount(element) {
    const fallback = [...element.childNodes];
    const stage = document.createElement("div");
    try {
      const model = createModel(JSON.parse(element.dataset.state || "{}"));
      load("kit").catch(() => {}); // at once, as each figure needs it
      const { default: figure } = await load(element.dataset.figure);
      element.append(stage);
      cleanups.set(element, await figure.render({ model, el: stage }));
      for (const node of fallback) node.remove();
      element.dataset.mounted = "true";
    } catch (error) {
      stage.remove();
      explain(element, error);
    }
  }

  function start() {
    /** @type {NodeListOf<HTMLElement>} */
    const elements = document.querySelectorAll("[data-figure]");
    if (!("IntersectionObserver" in globalThis)) return elements.forEach(mount);
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          observer.unobserve(target);
          mount(target);
        }
      },
      { rootMargin: "300px" },
    );
    // A link to a figure's state scrolls to the figure, so that one cannot wait.
    const linked = ({ dataset }) => location.hash.includes(`${dataset.figure}-`);
    for (const element of elements) {
      if (linked(element)) mount(element);
      else observer.observe(element);
    }
    whenUsed(() => loadAhead([...elements].map(({ dataset }) => dataset.figure)));
  }

  /** Not while the page itself comes: when a reader begins to scroll, point or type. */
  function whenUsed(act) {
    const kinds = ["scroll", "pointermove", "pointerdown", "keydown"];
    const once = (event) => {
      // A browser tells of a resting pointer, too, when the page comes under it.
      const { movementX, movementY } = /** @type {PointerEvent} */ (event);
      if (event.type === "pointermove" && !movementX && !movementY) return;
      for (const kind of kinds) removeEventListener(kind, once);
      act();
    };
    for (const kind of kinds) addEventListener(kind, once, { passive: true });
  }

  /** The figures' code and font, one after the other while nothing else is to do. */
  function loadAhead(names) {
    const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 200));
    const loads = names.map((name) => () => load(name));
    // A sign of figures alone; a font that comes has the whole page laid out anew.
    loads.unshift(() => document.fonts.load('1em "Source Sans 3"', "⏎"));
    const next = () =>
      loads
        .shift()?.()
        .catch(() => {})
        .then(() => idle(next));
    idle(next);
  }

  if (document.readyState === "loading")
    document.addEventListener("DOMContentLoaded", start);
  else start();
}
