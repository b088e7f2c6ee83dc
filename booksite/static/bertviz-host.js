// Runs BertViz's views when they come near the screen. A classic script: see figure-host.js.
(() => {
  const { src: home } = /** @type {HTMLScriptElement} */ (document.currentScript);
  const loading = {};

  function load(name) {
    loading[name] ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL(`bertviz/${name}.js`, home).href;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${name}.js did not load`));
      document.head.append(script);
    });
    return loading[name];
  }

  async function mount(element) {
    const { bertviz, state } = element.dataset;
    try {
      await Promise.all([load("parts"), load(bertviz)]);
      globalThis.BertVizViews[bertviz](JSON.parse(state));
      element.dataset.mounted = "true";
    } catch (error) {
      const message = document.createElement("p");
      message.setAttribute("role", "status");
      message.textContent = `BertViz cannot start: ${error.message}.`;
      element.append(message);
    }
  }

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
  for (const element of document.querySelectorAll("[data-bertviz]"))
    observer.observe(element);
})();
