// While a notebook's page comes, only its beginning is laid out (cells.css). When its
// reader has had a moment, this lays out the rest, a little at a time while nothing else
// is to do, so that the scroll bar is right. Who goes to a place has all at once.
(() => {
  const { classList } = document.documentElement;
  if (!classList.contains("tl-coming")) return;
  const AT_ONCE = 250; // elements; each time costs a walk through the whole page
  const MOMENT = 2000; // milliseconds
  const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 20));
  const parts = /** @type {HTMLElement[]} */ ([
    ...document.querySelectorAll(".bd-article section > :not(section)"),
  ]);
  function layOut(elements) {
    while (parts.length && elements > 0) {
      const part = parts.shift();
      part.style.contentVisibility = "visible";
      elements -= part.getElementsByTagName("*").length + 1;
    }
    document.body.getBoundingClientRect();
    if (!parts.length) classList.add("tl-come"); // without "tl-coming", all is styled anew
  }
  function goOn() {
    layOut(AT_ONCE);
    if (parts.length) idle(goOn);
  }
  async function begin() {
    // A font that comes later lays all of it out anew: first those of a few signs.
    const ofSigns = [...document.fonts].filter(
      ({ family, unicodeRange }) =>
        family.startsWith("KaTeX_Size") || unicodeRange !== "U+0-10FFFF",
    );
    await Promise.allSettled(ofSigns.map((font) => font.load()));
    idle(goOn);
  }
  addEventListener("load", () => setTimeout(begin, MOMENT));
  const toAPlace = ({ target }) => target.closest("a[href^='#']") && layOut(Infinity);
  addEventListener("click", toAPlace, { capture: true });
})();
