/**
 * Uses pages and live figures in a browser by keyboard, and says what they say then.
 *
 *     node tests/engines.mjs ENGINE PROGRAM [FLAG ...] < visits.json
 *
 * ENGINE is chromium, firefox or webkit. PROGRAM is the browser, which gets the flags;
 * for WebKit the address of its WebDriver, and the flag is the browser. Each visit is
 * { url, figures }: a page, and of each figure on it { model, keys, typed }: whether a
 * model has to come to it, the keys to press in its first grid, and a text for its first
 * field ("" presses its first button). Writes a list of { opened, moved, answered,
 * errors } for each page, each of the three a sentence with the cells of the table.
 * Or a visit is { url, steps }, each of them { until: code }, { press: key } or
 * { run: code }; then its answer is the list of what the code of each `run` gave.
 */
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { setTimeout as pause } from "node:timers/promises";

import puppeteer from "puppeteer-core";

const PATIENCE = 30_000; // milliseconds
const SIZE = { width: 1280, height: 900 };
// WebDriver's names for keys that are no signs (W3C WebDriver, section 17.4.2).
const KEYS = {
  ArrowLeft: "\uE012",
  ArrowUp: "\uE013",
  ArrowRight: "\uE014",
  ArrowDown: "\uE015",
  Control: "\uE009",
  End: "\uE010",
  Enter: "\uE007",
  Escape: "\uE00C",
  Home: "\uE011",
  PageDown: "\uE00F",
  PageUp: "\uE00E",
  Space: " ",
};

/** What is looked at in the figure that is in use: `ROOT` is its shadow root. */
const ROOT = `globalThis.used.querySelector(".tl-live")?.shadowRoot`;
const READY = `globalThis.used.matches("[data-mounted]") && !!${ROOT}`;
const RUNS = `[...${ROOT}.querySelectorAll(".coming")].some((line) =>
  line.textContent.includes("runs in this page")) && !${ROOT}.querySelector("progress")`;
const SEEN = `({
  sentence: ${ROOT}.querySelector(".say").innerText,
  cells: [...${ROOT}.querySelectorAll("table td, table th")].map((c) => c.textContent),
})`;
const GRID = `${ROOT}.querySelector("[data-row][tabindex='0']").focus()`;
const FIELD = `${ROOT}.querySelector("input[type=text], textarea").select()`;
const BUTTON = `${ROOT}.querySelector(".controls button:enabled").focus()`;
const MORE = `${ROOT}.querySelectorAll(".controls > details")
  .forEach((more) => (more.open = true))`;
const PAINTED = `new Promise((done) => requestAnimationFrame(() => done(true)))`;
const goTo = (nth) =>
  `(globalThis.used = document.querySelectorAll(".tl-figure")[${nth}]).scrollIntoView()`;

/** Chromium and Firefox, by WebDriver BiDi or Chromium's own protocol. */
async function openPuppeteer(engine, executablePath, args) {
  const protocol = engine === "firefox" ? "webDriverBiDi" : "cdp";
  const browser = engine === "firefox" ? "firefox" : "chrome";
  const started = await puppeteer.launch({ browser, protocol, executablePath, args });
  const page = await started.newPage();
  await page.setViewport(SIZE);
  return {
    open: (url) => page.goto(url),
    run: (code) => page.evaluate(code),
    async press(key) {
      const [first, second] = key.split("+").filter(Boolean);
      if (!second) return page.keyboard.press(key);
      await page.keyboard.down(first);
      await page.keyboard.press(second);
      return page.keyboard.up(first);
    },
    close: () => started.close(),
  };
}

/** WebKit, by plain WebDriver: what is used of it are five addresses. */
async function openWebKit(address, binary) {
  async function ask(path, body, method = "POST") {
    const sent = method === "POST" ? { body: JSON.stringify(body) } : {};
    const answer = await fetch(`${address}${path}`, { method, ...sent });
    const { value } = await answer.json();
    if (value?.error) throw new Error(`${path}: ${value.message || value.error}`);
    return value;
  }
  const options = { binary, args: ["--automation"] };
  const alwaysMatch = { "webkitgtk:browserOptions": options };
  const { sessionId } = await ask("/session", { capabilities: { alwaysMatch } });
  const here = `/session/${sessionId}`;
  await ask(`${here}/window/rect`, SIZE);
  return {
    open: (url) => ask(`${here}/url`, { url }),
    run: (code) => ask(`${here}/execute/sync`, { script: `return ${code}`, args: [] }),
    press(key) {
      const values = key.split("+").filter(Boolean);
      const named = (values.length ? values : [key]).map((k) => KEYS[k] ?? k);
      const down = named.map((value) => ({ type: "keyDown", value }));
      const up = named.toReversed().map((value) => ({ type: "keyUp", value }));
      const actions = [{ type: "key", id: "keyboard", actions: [...down, ...up] }];
      return ask(`${here}/actions`, { actions });
    },
    close: () => ask(here, undefined, "DELETE"),
  };
}

async function until(browser, condition, what) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await pause(50))
    if (await browser.run(condition)) return;
  throw new Error(`${what} within ${PATIENCE / 1000} s`);
}

async function seen(browser) {
  await browser.run(PAINTED);
  return browser.run(SEEN);
}

/** What the figure says when its sentence has changed and then stood for a while. */
async function answer(browser, before) {
  let last = before;
  for (let still = 0, end = Date.now() + PATIENCE; still < 5; await pause(60)) {
    const now = await seen(browser);
    const same = JSON.stringify(now) === JSON.stringify(last);
    still = same && JSON.stringify(now) !== JSON.stringify(before) ? still + 1 : 0;
    last = now;
    if (Date.now() > end) throw new Error(`nothing came of ${before.sentence}`);
  }
  return last;
}

async function use(browser, what, { model, keys, typed }) {
  await until(browser, READY, `${what} must be alive`);
  if (model) await until(browser, RUNS, `${what} must run its model`);
  const opened = await seen(browser);
  await browser.run(MORE);
  await browser.run(GRID);
  for (const key of keys) await browser.press(key);
  const moved = await seen(browser);
  let answered;
  if (typed !== null) {
    await browser.run(typed ? FIELD : BUTTON);
    for (const key of typed ? [...typed, "Enter"] : ["Enter"]) await browser.press(key);
    answered = await answer(browser, moved);
  }
  const errors = await browser.run("window.heard.splice(0)");
  return { opened, moved, answered, errors };
}

async function take(browser, steps) {
  const told = [];
  for (const { until: condition, press, run } of steps)
    if (condition) await until(browser, condition, `${condition} must hold`);
    else if (press) await browser.press(press);
    else told.push(await browser.run(run));
  return told;
}

async function visit(browser, { url, figures, steps }) {
  await browser.open(url);
  if (steps) return take(browser, steps);
  const told = [];
  for (const [nth, figure] of figures.entries()) {
    await browser.run(goTo(nth));
    told.push(await use(browser, `figure ${nth} of ${url}`, figure));
  }
  return told;
}

const [engine, program, ...flags] = argv.slice(2);
const visits = JSON.parse(readFileSync(0, "utf8"));
const browser = await (engine === "webkit"
  ? openWebKit(program, flags[0])
  : openPuppeteer(engine, program, flags));
try {
  const told = [];
  for (const one of visits) told.push(await visit(browser, one));
  console.log(JSON.stringify(told));
} finally {
  await browser.close();
}
