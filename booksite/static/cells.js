// Cells are most of a long page. When it comes, those of its beginning are laid out
// (cells.css); then this lays out the others, a few at a time while nothing else is to
// do, so that the page answers at once. Who comes for a place within it has all at once.
(() => {
  const { classList } = document.documentElement;
  if (!classList.contains("tl-coming")) return;
  const SLICE = 8; // milliseconds
  const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 20));
  const cells = /** @type {HTMLElement[]} */ ([
    ...document.querySelectorAll(".bd-article .cell"),
  ]);
  function layOut() {
    const end = performance.now() + SLICE;
    while (cells.length && performance.now() < end) {
      const cell = cells.shift();
      cell.style.contentVisibility = "visible";
      cell.getBoundingClientRect();
    }
    if (cells.length) idle(layOut);
    else classList.remove("tl-coming");
  }
  addEventListener("load", () => idle(layOut));
})();
