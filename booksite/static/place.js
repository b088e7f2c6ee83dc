// A page that is loaded again, or gone back to, shows what it showed. The browser keeps
// a distance from the top, which says little while far sections are not laid out; this
// keeps a block, of which section, and how high it stands: the first that begins in the
// window, else the one that fills it.
(() => {
  const sections = [...document.querySelectorAll(".bd-article > section > section")];
  if (!sections.length) return;
  const key = `place ${location.pathname}`;
  const height = (element) => element.getBoundingClientRect().top;
  const above = (elements, line) =>
    elements.findLastIndex((each) => height(each) < line);
  const shown = (blocks) => {
    const next = above(blocks, 0) + 1;
    return next < blocks.length && height(blocks[next]) < innerHeight ? next : next - 1;
  };

  addEventListener("pagehide", () => {
    const nth = above(sections, 120);
    const blocks = [...(sections[nth]?.children ?? [])];
    const block = shown(blocks);
    const kept = block < 0 ? [] : [nth, block, height(blocks[block])];
    sessionStorage.setItem(key, JSON.stringify(kept));
    history.scrollRestoration = block < 0 ? "auto" : "manual";
  });
  // Within the page it is the browser that goes back, from one link to the next.
  addEventListener(
    "click",
    () => {
      history.scrollRestoration = "auto";
    },
    true,
  );

  const [nth, block, before] = JSON.parse(sessionStorage.getItem(key)) ?? [];
  const [visit] = performance.getEntriesByType("navigation");
  if (visit?.type === "navigate" || !sections[nth]?.children[block]) return;
  sections[nth].style.contentVisibility = "visible";
  const goThere = () => {
    const top = height(sections[nth].children[block]) - before;
    scrollBy({ top, behavior: "instant" });
  };
  // What comes alive or is laid out above moves it, until the reader does.
  const observer = new ResizeObserver(goThere);
  observer.observe(document.querySelector(".bd-article"));
  for (const input of ["wheel", "touchstart", "pointerdown", "keydown", "click"])
    addEventListener(input, () => observer.disconnect(), { once: true, passive: true });
})();
