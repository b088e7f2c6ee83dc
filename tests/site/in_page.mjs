// What the tests of the book run in its pages; `in_page("walk")` of page_audit.py.

const all = (selector) => [...document.querySelectorAll(selector)];
const rest = (time) => new Promise((done) => setTimeout(done, time));
const frame = () => new Promise(requestAnimationFrame);
const start = (element) => element.outerHTML.slice(0, 100);

// Everything a reader can unfold is unfolded, so that it is examined too.
export function unfold() {
  for (const fold of all("details")) fold.open = true;
  for (const title of all(".toggle-hidden .toggle-button")) title.click();
}

// How many cells of a page wait to be laid out (booksite/static/cells.js).
export function waiting() {
  const isLaidOut = (e) => e.checkVisibility({ contentVisibilityAuto: true });
  const firsts = all(".bd-article .cell > :first-child:not(details:not([open]) *)");
  return firsts.filter((e) => !isLaidOut(e)).length;
}

// Waits until all is laid out, and brings every figure to life.
export async function walk() {
  const isComing = () => document.documentElement.matches(".tl-coming:not(.tl-come)");
  for (let i = 0; i < 1500 && isComing(); i++) await rest(20);
  for (const figure of all("[data-figure]")) {
    figure.scrollIntoView({ behavior: "instant" });
    for (let i = 0; i < 1500 && !figure.dataset.mounted; i++) await rest(20);
  }
  await document.fonts.ready;
  await frame();
  await frame(); // what observes sizes is told of them
  scrollTo(0, 0);
}

function moves(element) {
  const style = getComputedStyle(element);
  const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0);
  return (
    lasts(style.transitionDuration) ||
    style.animationName !== "none" ||
    style.scrollBehavior === "smooth"
  );
}

export function moving() {
  return all("*").filter(moves).map(start);
}

function texts() {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode())
    if (!walker.currentNode.parentElement.closest("pre, code, script, style, math"))
      found.push(walker.currentNode.data);
  return found;
}

export function look() {
  const formulas = all(".math");
  const bare = formulas.filter((formula) => !formula.querySelector("math"));
  const still = all("[data-figure]:not([data-mounted])");
  return {
    h1: all("h1").filter((element) => element.checkVisibility()).length,
    figures: all("[data-figure]").map((figure) => figure.dataset.figure),
    still: still.map((figure) => figure.dataset.figure),
    formulas: formulas.length,
    unset: bare.length + all(".katex-error").length,
    dollars: texts().filter((text) => text.includes("$")),
    mode: document.documentElement.dataset.theme,
  };
}

const within = (root) =>
  [...root.querySelectorAll("*")].flatMap((e) => [
    e,
    ...(e.shadowRoot ? within(e.shadowRoot) : []),
  ]);

// Most of axe's time goes into colors. Of the words that look alike on the same ground,
// one is examined. What else is there many times over, and says nothing of its own, goes.
export function mergeTwins() {
  const grounds = new Map([[undefined, ""]]);
  const ground = (element) => {
    if (grounds.has(element)) return grounds.get(element);
    const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
    const up = ground(element.parentElement ?? element.getRootNode().host);
    const own = [backgroundColor, backgroundImage, opacity].join();
    const behind = own === "rgba(0, 0, 0, 0),none,1" ? up : up + own;
    grounds.set(element, behind);
    return behind;
  };
  const seen = new Set();
  const hasText = (e) =>
    [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const isSeen = (e) =>
    e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  for (const element of within(document.body)) {
    if (!hasText(element) || !isSeen(element)) continue;
    const kind = element.closest("pre, .katex-html, svg, label, :disabled")?.localName;
    const { color, fill, fontSize, fontWeight } = getComputedStyle(element);
    const look = [kind, color, fill, fontSize, fontWeight, ground(element)].join();
    if (!seen.has(look)) element.dataset.example = "";
    seen.add(look);
  }
  for (const word of all("pre span:not([data-example])"))
    word.replaceWith(...word.childNodes);
  for (const formula of all(".katex-html:not(:has([data-example]))")) {
    const { width, height } = formula.getBoundingClientRect();
    formula.replaceChildren();
    formula.style = `display: inline-block; width: ${width}px; height: ${height}px`;
  }
  for (const math of all("math")) math.replaceChildren(math.textContent);
  for (const button of all(".copybtn").slice(1)) button.remove();
  for (const shape of all(".tl-plot :not([data-example], :has([data-example]))"))
    shape.remove();
  const selector = "[data-example], input, select, textarea";
  globalThis.axe.configure({ rules: [{ id: "color-contrast", selector }] });
}

export function excess() {
  const root = document.documentElement;
  return Math.max(root.scrollWidth, document.body.scrollWidth) - root.clientWidth;
}

// Figures draw themselves anew a moment after the window has changed.
export async function settledExcess() {
  for (let i = 0; i < 100 && excess() > 0; i++) await rest(20);
  return excess();
}

// Presses every button, and those that appear when others are pressed; but of those of
// an article that look alike, as the ones that copy, one, and none of a figure that is
// known. What is redrawn when it is pressed would come anew for ever: hence the bounds.
// A button that cannot be pressed yet waits for the next round.
export async function press([rounds, most, known]) {
  const buttons = "button, summary, [role=button], [type=radio], [type=checkbox]";
  const ready = (e) => e.isConnected && !e.disabled && !e.closest("form");
  const kind = (e) => (e.closest("article") ? `${e.localName} ${e.className}` : e);
  const isKnown = (e) =>
    known.includes(e.getRootNode().host?.closest("[data-figure]")?.dataset.figure);
  const pressed = new Set();
  for (let round = 0; round < rounds; round++) {
    const found = within(document).filter((e) => e.matches(buttons) && ready(e));
    const fresh = found.filter((e) => !pressed.has(kind(e)) && !isKnown(e));
    if (!fresh.length) break;
    for (const element of fresh) {
      if (pressed.size === most || pressed.has(kind(element)) || !ready(element))
        continue;
      element.click();
      pressed.add(kind(element));
      if (pressed.size % 8 === 0) await rest(0); // now and then the page draws itself
    }
    await frame();
    await rest(0);
  }
  await rest(400);
  return pressed.size;
}

function put(tag, given = {}) {
  const element = Object.assign(document.createElement(tag), given);
  document.body.append(element);
  return element;
}

// What a foreign text on a page could ask elsewhere. A test's own hand is not held by
// the policy; elements that it makes are.
export function ask([kind, url]) {
  const ways = {
    link: () => put("link", { rel: "stylesheet", href: url }),
    object: () => put("object", { data: url }),
    font: () => new FontFace("f", `url(${url})`).load().catch(() => 0),
    fetch: () => fetch(url).catch(() => 0),
    beacon: () => navigator.sendBeacon(url),
    form: () => put("form", { action: url, target: "_blank" }).submit(),
  };
  (ways[kind] ?? (() => put(kind, { src: url })))();
}

// How a foreign text on a page could run.
export function run(kind) {
  const code = `globalThis.ran = '${kind}'`;
  const ways = {
    script: () => put("script", { textContent: code }),
    handler: () => {
      const button = put("button");
      button.setAttribute("onclick", code); // eslint-disable-line no-restricted-syntax
      button.click();
    },
    address: () => put("a", { href: `javascript:void (${code})` }).click(),
  };
  ways[kind]();
}

// What Tab should reach: of a group of radio buttons only the chosen one.
export function stops() {
  const can = "a[href], button, input, select, textarea, summary, [tabindex]";
  const isUnchosen = (e) => e.type === "radio" && e.name && !e.checked;
  const isThere = (e) =>
    e.tabIndex >= 0 &&
    e.checkVisibility({ visibilityProperty: true }) &&
    !e.disabled &&
    !e.closest("[inert], dialog:not([open])");
  const found = all(can).filter((e) => isThere(e) && !isUnchosen(e));
  return found.map((e, i) => ((e.dataset.stop = i), start(e)));
}

function isInSight(e) {
  const { top, bottom, left, right } = e.getBoundingClientRect();
  const x = (Math.max(left, 0) + Math.min(right, innerWidth)) / 2;
  const y = (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2;
  const on = e.getRootNode().elementFromPoint(x, y);
  return !!on && (e.contains(on) || on.contains(e) || !!e.labels?.[0]?.contains(on));
}

// The stop that has the focus; null where the page was left. What comes late, as a font,
// moves the page: a stop has a second to come into sight.
export async function here() {
  let e = document.activeElement;
  if (e === document.body) return null;
  const stop = e.dataset.stop ?? null;
  while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  for (let i = 0; i < 50 && !isInSight(e); i++) await rest(20);
  const isRing = ({ outlineStyle, outlineWidth, boxShadow }) =>
    boxShadow !== "none" || (outlineStyle !== "none" && parseFloat(outlineWidth) > 0);
  const inFigure = e.getRootNode() !== document; // see tests/figures/test_on_a_phone.py
  const ring = [null, "::after"].some((part) => isRing(getComputedStyle(e, part)));
  return { stop, html: start(e), ring: inFigure || ring, seen: isInSight(e) };
}

// The computed style of every kind of element, and of what stands before and after it.
// A kind is a tag and its classes within such a tag; hidden ones are there as well, but
// for the MathML, which only screen readers see.
export function styles() {
  const kinds = new Map();
  const named = (node) => `${node.localName}.${node.getAttribute("class") ?? ""}`;
  for (const node of all("body, body :not(math, math *)"))
    kinds.set(`${named(node.parentElement)} ${named(node)}`, node);
  const lines = [];
  for (const [kind, node] of kinds)
    for (const part of ["", "::before", "::after"]) {
      const style = getComputedStyle(node, part || null);
      if (part && style.content === "none") continue;
      for (const name of style)
        if (!name.startsWith("--"))
          lines.push(`${kind}${part} ${name}: ${style.getPropertyValue(name)}`);
    }
  return lines.join("\n"); // a long list travels slowly
}

// The sheets themselves in place of the joined one.
export async function takeSheetsApart() {
  const joined = document.querySelector("link[data-joined]");
  const folder = joined.href.replace(/[^/]*$/, "");
  const load = (name) => {
    const link = document.createElement("link");
    Object.assign(link, { rel: "stylesheet", href: folder + name });
    joined.before(link);
    return new Promise((done) => (link.onload = done));
  };
  await Promise.all(joined.dataset.joined.split(" ").map(load));
  joined.remove();
}

// Until all that is near the window is alive (the host begins 300 pixels before), and
// nothing has moved for twenty frames: fonts and figures change sizes for a while. The
// theme marks a page that is scrolled; that it is at its top again it hears late, or on
// a busy machine never, as it reads the first of two messages that come together.
// Throws after half a minute.
export async function settle() {
  const near = (figure) => {
    const { top, bottom } = figure.getBoundingClientRect();
    return bottom > -300 && top < innerHeight + 300;
  };
  const deadline = performance.now() + 30_000;
  let place = "";
  for (let frames = 0; frames < 20; frames++) {
    await document.fonts.ready;
    await frame();
    if (scrollY === 0) document.body.classList.remove("scrolled");
    const now = [document.body.getBoundingClientRect().height, scrollY].join();
    const asleep = all(".tl-figure:not([data-mounted])").filter(near);
    if (performance.now() > deadline)
      throw new Error(
        `${location} does not settle: height and place were ${place} and are ${now}, ` +
          `asleep are [${asleep.map((figure) => figure.dataset.figure)}]`,
      );
    if (now !== place || asleep.length) frames = 0;
    place = now;
  }
}

// Where the title of a section stands: its top, the window's height, its own.
export function titleInWindow(id) {
  const title = document.querySelector(`#${id} > h2`);
  return [title.getBoundingClientRect().top, innerHeight, title.scrollHeight];
}

export function firstInSight() {
  const blocks = all(".bd-article :is(h1, h2, h3, p, li)");
  return blocks.find((e) => e.getBoundingClientRect().top >= 100).textContent;
}

// What the list of sections marks, and the section whose heading was passed last.
export async function marked() {
  await frame();
  await rest(0); // the list follows at the end of a frame
  const passed = all(".bd-article section section[id]").filter(
    (e) => e.getBoundingClientRect().top < 0.3 * innerHeight,
  );
  const links = all("nav.page-toc [aria-current=true]");
  return [links.map((e) => e.hash.slice(1)), passed.map((e) => e.id).slice(-1)];
}

// On paper: what is folded, what is cut off, and what only a screen can use.
export function folded() {
  const parts = all(
    "details > :not(summary, .tl-predict, .tl-predicted, .tag_setup *)",
  );
  return parts
    .filter((e) => !e.getClientRects().length || !e.checkVisibility())
    .map(start);
}

export function cut() {
  return all("article pre")
    .filter((pre) => pre.scrollWidth > pre.clientWidth + 1)
    .map((pre) => pre.textContent.slice(0, 100));
}

export function tools() {
  return all("nav, button, input, .bd-header")
    .filter((e) => e.checkVisibility() && !e.closest("#jb-print-docs-body"))
    .map(start);
}

export function drawn() {
  return all("[data-figure]").map(
    (figure) => figure.querySelector("img, svg")?.getClientRects().length ?? 0,
  );
}

// The letters of the pictures of the transformer, in pixels, and those that leave their
// box or the picture, or that a line or other letters cross.
export async function lettering() {
  const words = all(".tl-diagram[role=group] text");
  all("a[href^='#']")[0].click(); // who goes to a place has all laid out
  await frame();
  const within = (a, b) =>
    a.left >= b.left &&
    a.right <= b.right &&
    a.top >= b.top - 2 &&
    a.bottom <= b.bottom;
  const overlap = (a, b) =>
    a.left < b.right &&
    b.left < a.right &&
    a.top < b.bottom - 3 &&
    b.top < a.bottom - 3;
  const place = (e) => e.getBoundingClientRect();
  const points = all(".tl-diagram[role=group] path:is(.l, .s)").flatMap((path) => {
    const { a, d, e, f } = path.getScreenCTM();
    const steps = [...Array(Math.ceil(path.getTotalLength())).keys()];
    return steps.map((at) => {
      const { x, y } = path.getPointAtLength(at);
      return [a * x + e, d * y + f];
    });
  });
  const crossed = ({ left, right, top, bottom }) =>
    points.some(([x, y]) => x > left && x < right && y > top + 3 && y < bottom - 3);
  const faults = words.filter((word) => {
    const room = word.closest("a")?.querySelector("rect") ?? word.closest("svg");
    const mine = place(word);
    const others = words.filter(
      (other) => other !== word && overlap(mine, place(other)),
    );
    return !within(mine, place(room)) || crossed(mine) || others.length > 0;
  });
  const size = (e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a;
  return [words.map(size), faults.map((word) => word.textContent)];
}
