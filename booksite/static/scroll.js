// Where the reader is: the list of sections marks it, and a page that is loaded again, or
// gone back to, shows it.
(() => {
  const top = (element) => element.getBoundingClientRect().top;

  // The section whose heading was passed last; at the page's end, where the last ones
  // cannot rise any higher, the last that is in sight.
  const links = /** @type {HTMLAnchorElement[]} */ ([
    ...document.querySelectorAll("nav.page-toc a"),
  ]);
  const sections = links.map(({ hash }) => document.getElementById(hash.slice(1)));
  function follow() {
    const left = document.documentElement.scrollHeight - scrollY - innerHeight;
    const line = left < 2 ? innerHeight : 0.3 * innerHeight;
    const passed = sections.findLastIndex((section) => top(section) < line);
    links.forEach((link, i) => link.setAttribute("aria-current", String(i === passed)));
  }
  if (links.length) {
    addEventListener("scroll", () => requestAnimationFrame(follow), { passive: true });
    new ResizeObserver(follow).observe(document.body); // figures that come alive
  }

  // The browser keeps a distance from the top, which says little where figures above
  // have not come alive yet and are taller or less tall. This keeps a block.
  const blocks = [...document.querySelectorAll(".bd-article section > *")];
  const key = `block ${location.pathname}`;
  addEventListener("pagehide", () => {
    const nth = blocks.findLastIndex((block) => top(block) < 0.3 * innerHeight);
    if (nth >= 0) sessionStorage.setItem(key, JSON.stringify([nth, top(blocks[nth])]));
  });
  const [nth, before] = JSON.parse(sessionStorage.getItem(key)) ?? [];
  const [visit] = performance.getEntriesByType("navigation");
  const { type } = /** @type {PerformanceNavigationTiming} */ (visit ?? {});
  if (type === "navigate" || !blocks[nth]) return;
  const observer = new ResizeObserver(() =>
    scrollBy({ top: top(blocks[nth]) - before, behavior: "instant" }),
  );
  addEventListener("load", () => observer.observe(document.body)); // after the browser
  for (const input of ["wheel", "touchstart", "pointerdown", "keydown", "click"])
    addEventListener(input, () => observer.disconnect(), { once: true, passive: true });
})();
