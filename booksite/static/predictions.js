// What a reader predicts is kept in this browser, shown again at the answer, and counted
// in the list of chapters. Nothing is sent anywhere.
"use strict";
{
  const NAME = "transformers-piece-by-piece predictions";
  const forms = /** @type {NodeListOf<HTMLFormElement>} */ (
    document.querySelectorAll("form.tl-predict")
  );
  const sidebar = document.querySelector(".bd-sidebar-primary");
  const forget = document.createElement("button");

  /** Of each page: how many questions it asks, and what was predicted, by their keys. */
  let pages = read();

  function read() {
    try {
      return JSON.parse(localStorage.getItem(NAME) ?? "{}");
    } catch {
      return {}; // a browser that keeps nothing
    }
  }

  function keep() {
    try {
      if (Object.keys(pages).length) localStorage.setItem(NAME, JSON.stringify(pages));
      else localStorage.removeItem(NAME);
    } catch {
      // then until the page is left
    }
  }

  const here = () => pages[location.pathname]?.kept ?? {};
  /** The field or the group of choices of a form. */
  const field = (form) =>
    /** @type {RadioNodeList} */ (form.elements.namedItem("said"));

  function showHere() {
    for (const form of forms) {
      const said = here()[form.dataset.prediction];
      if (said) field(form).value = said;
      else form.reset();
      form.querySelector("output").value = said ? "Kept: the answer shows it." : "";
    }
    const lines = document.querySelectorAll(".tl-predicted");
    for (const line of /** @type {NodeListOf<HTMLElement>} */ (lines)) {
      const said = here()[line.dataset.of];
      line.hidden = !said;
      line.textContent = said ? `You predicted: ${said}` : "";
      if (said) line.closest("details").open = true;
    }
  }

  function showCounts() {
    for (const old of document.querySelectorAll(".tl-count")) old.remove();
    const links = sidebar?.querySelectorAll("nav a") ?? [];
    for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (links)) {
      const { of, kept = {} } = pages[link.pathname] ?? {};
      const n = Object.keys(kept).length;
      if (!n) continue;
      const count = document.createElement("span");
      count.className = "tl-count";
      count.textContent = `${n} of ${of}`;
      count.title = `${n} of ${of} predictions made`;
      link.append(" ", count);
    }
    forget.hidden = !Object.keys(pages).length;
  }

  function show() {
    showHere();
    showCounts();
  }

  function predict(event) {
    event.preventDefault();
    const form = event.target;
    const kept = { ...here() };
    const said = field(form).value.trim();
    if (said) kept[form.dataset.prediction] = said;
    else delete kept[form.dataset.prediction];
    pages[location.pathname] = { of: forms.length, kept };
    if (!Object.keys(kept).length) delete pages[location.pathname];
    keep();
    show();
  }

  for (const form of forms) form.addEventListener("submit", predict);
  forget.className = "tl-forget";
  forget.textContent = "Forget my predictions";
  forget.addEventListener("click", () => {
    pages = {};
    keep();
    show();
  });
  sidebar?.append(forget);
  show();
}
