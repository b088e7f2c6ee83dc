// Whatever scrolls sideways can be reached by keyboard and says what it is. Buttons
// print, and those that copy keep the focus.
/* global DOCUMENTATION_OPTIONS */

// A page from disk may not fetch, so a search shows titles without excerpts there.
// @ts-expect-error: the options are Sphinx's
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

// A task of its own: the page answers between this and the other scripts.
setTimeout(() => {
  for (const button of document.querySelectorAll("[data-prints]"))
    button.addEventListener("click", () => print());

  // What is copied takes the focus with it, else the next Tab starts at the page's top.
  document.addEventListener("click", ({ target }) => {
    const button = /** @type {Element} */ (target).closest(".copybtn");
    /** @type {HTMLElement?} */ (button)?.focus();
  });

  const kinds = {
    "div.math": "Formula",
    ".bd-article pre": "Code or text",
    ".pst-scrollable-table-container": "Table",
    ".cell_output": "Picture",
    ".cell_output .output": "Output",
  };

  function mark(element, scrolls) {
    if (element.dataset.scrolls === String(scrolls)) return;
    element.dataset.scrolls = scrolls;
    if (scrolls) {
      element.tabIndex = 0;
      element.setAttribute("role", "group");
      element.setAttribute("aria-label", `${element.dataset.kind}, scrolls sideways`);
    } else {
      for (const name of ["tabindex", "role", "aria-label"])
        element.removeAttribute(name);
    }
  }

  // All is measured before anything is marked: else each mark lays the page out anew.
  const observer = new ResizeObserver((entries) => {
    const found = entries.map(
      ({ target }) => target.scrollWidth > target.clientWidth + 1,
    );
    entries.forEach(({ target }, i) => mark(target, found[i]));
  });

  for (const [selector, kind] of Object.entries(kinds)) {
    const found = document.querySelectorAll(selector);
    for (const element of /** @type {NodeListOf<HTMLElement>} */ (found)) {
      element.dataset.kind = kind;
      element.tabIndex = 0;
      observer.observe(element);
    }
  }
});
