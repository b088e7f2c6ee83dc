/**
 * Uses live figures in a browser by keyboard, and says what they say then.
 *
 *     node tests/figures/engines.mjs ENGINE PROGRAM < visits.json
 *
 * ENGINE is chromium, firefox or webkit. PROGRAM is the browser; for WebKit the address
 * of its WebDriver. Each visit is { url, model, keys, typed }: a page with one figure,
 * whether a model has to come to it, the keys to press in its first grid, and a text for
 * its first field ("" presses its first button). Writes a list of { opened, moved,
 * answered, errors }, each a sentence with the cells of the table.
 */
import { readFileSync } from "node:fs";
import { argv } from "node:process";
import { setTimeout as pause } from "node:timers/promises";

import puppeteer from "puppeteer-core";

const PATIENCE = 30_000; // milliseconds
const SIZE = { width: 1280, height: 900 };
const FLAGS = { chromium: ["--no-sandbox", "--disable-gpu"], firefox: [] };
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

/** What is looked at in a page; `ROOT` is the figure's shadow root. */
const ROOT = `[...document.querySelectorAll("*")].find((n) => n.shadowRoot)?.shadowRoot`;
const READY = `!!document.querySelector(".tl-figure[data-mounted]") && !!${ROOT}`;
const RUNS = `[...${ROOT}.querySelectorAll(".coming")].some((line) =>
  line.textContent.includes("runs in this page")) && !${ROOT}.querySelector("progress")`;
const SEEN = `({
  sentence: ${ROOT}.querySelector(".say").innerText,
  cells: [...${ROOT}.querySelectorAll("table td, table th")].map((c) => c.textContent),
})`;
const GRID = `${ROOT}.querySelector("[data-row][tabindex='0']").focus()`;
const FIELD = `${ROOT}.querySelector("input[type=text], textarea").select()`;
const BUTTON = `${ROOT}.querySelector(".controls button:enabled").focus()`;
const PAINTED = `new Promise((done) => requestAnimationFrame(() => done(true)))`;

/** Chromium and Firefox, by WebDriver BiDi or Chromium's own protocol. */
async function openPuppeteer(browser, executablePath) {
  const protocol = browser === "firefox" ? "webDriverBiDi" : "cdp";
  const name = browser === "firefox" ? "firefox" : "chrome";
  const options = { browser: name, protocol, executablePath, args: FLAGS[browser] };
  const started = await puppeteer.launch(options);
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

async function visit(browser, { url, model, keys, typed }) {
  await browser.open(url);
  await until(browser, READY, `${url} must be alive`);
  if (model) await until(browser, RUNS, `${url} must run its model`);
  const opened = await seen(browser);
  await browser.run(GRID);
  for (const key of keys) await browser.press(key);
  const moved = await seen(browser);
  let answered;
  if (typed !== null) {
    await browser.run(typed ? FIELD : BUTTON);
    for (const key of typed ? [...typed, "Enter"] : ["Enter"]) await browser.press(key);
    answered = await answer(browser, moved);
  }
  return { opened, moved, answered, errors: await browser.run("window.heard") };
}

const [engine, program, binary] = argv.slice(2);
const visits = JSON.parse(readFileSync(0, "utf8"));
const browser = await (engine === "webkit"
  ? openWebKit(program, binary)
  : openPuppeteer(engine, program));
try {
  const told = [];
  for (const one of visits) told.push(await visit(browser, one));
  console.log(JSON.stringify(told));
} finally {
  await browser.close();
}
