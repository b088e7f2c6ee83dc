// A page that is loaded again, or gone back to, shows what it showed. The browser keeps
// a distance from the top, which says little while far sections are not laid out; this
// keeps what stands at the top of the window: the block, of which section, and how high.
(() => {
  const sections = [...document.querySelectorAll(".bd-article > section > section")];
  if (!sections.length) return;
  const key = `place ${location.pathname}`;
  const height = (element) => element.getBoundingClientRect().top;
  const last = (elements) => elements.findLastIndex((each) => height(each) < 120);

  addEventListener("pagehide", () => {
    const nth = last(sections);
    const blocks = [...(sections[nth]?.children ?? [])];
    const block = last(blocks);
    const kept = block < 0 ? [] : [nth, block, height(blocks[block])];
    sessionStorage.setItem(key, JSON.stringify(kept));
    history.scrollRestoration = block < 0 ? "auto" : "manual";
  });
  // Within the page it is the browser that goes back, from one link to the next.
  addEventListener("click", () => { history.scrollRestoration = "auto"; }, true);

  const [nth, block, before] = JSON.parse(sessionStorage.getItem(key)) ?? [];
  const [visit] = performance.getEntriesByType("navigation");
  if (visit?.type === "navigate" || !sections[nth]?.children[block]) return;
  sections[nth].style.contentVisibility = "visible";
  const goThere = () => {
    const top = height(sections[nth].children[block]) - before;
    scrollBy({ top, behavior: "instant" });
  };
  goThere();
  addEventListener("load", goThere);
})();
