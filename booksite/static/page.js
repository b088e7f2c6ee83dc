// Whatever scrolls sideways can be reached by keyboard and says what it is.
(() => {
  // A page from disk may not fetch, so a search shows titles without excerpts there.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

  const kinds = {
    "div.math": "Formula",
    ".bd-article pre": "Code or text",
    ".pst-scrollable-table-container": "Table",
    ".cell_output": "Picture",
    ".cell_output .output": "Output",
  };

  function mark(element, kind) {
    const scrolls = element.scrollWidth > element.clientWidth + 1;
    if (scrolls === (element.dataset.scrolls === "true")) return;
    element.dataset.scrolls = scrolls;
    if (scrolls) {
      element.tabIndex = 0;
      element.setAttribute("role", "group");
      element.setAttribute("aria-label", `${kind}, scrolls sideways`);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name);
    }
  }

  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) mark(target, target.dataset.kind);
  });

  for (const [selector, kind] of Object.entries(kinds)) {
    for (const element of document.querySelectorAll(selector)) {
      element.dataset.kind = kind;
      observer.observe(element);
    }
  }
})();
