// Times the models as a page runs them: in Node (page.py) and, bundled, in Chromium.
import {
  argmax,
  createSession,
  createTokenizer,
  unpack,
} from "../transformer_book/figures/engine/index.mjs";

const PROMPT = 64;
const REPEATS = 30;
const NUMBER = "seven hundred and forty-eight thousand, three hundred and seventy-six";

/** Milliseconds of `count` runs; the first five do not count. */
function timed(count, action) {
  const times = [];
  for (let i = -5; i < count; i += 1) {
    const start = performance.now();
    action(i);
    if (i >= 0) times.push(performance.now() - start);
  }
  return times;
}

/** Times of each action, from the bytes of manual-lm and of number-translator. */
export function measure(languageModel, translator) {
  const session = createSession(unpack(languageModel));
  const prompt = Array.from({ length: PROMPT }, (_, i) => (7 * i) % 256);
  const prefill = timed(REPEATS, () => {
    session.rewind(0);
    session.read(prompt);
  });
  const step = timed(session.capacity - PROMPT - 5, (i) =>
    session.read([(i + 256) % 256]),
  );
  const start = () => createSession(unpack(languageModel));
  const pair = unpack(translator);
  const tokenizer = createTokenizer(pair.tokenizer);
  const writer = createSession(pair);
  const [first, last] = ["<start>", "<end>"].map(tokenizer.special);
  const source = tokenizer.encode(NUMBER);
  const translate = () => {
    writer.encode(source);
    let next = argmax(writer.read([first]));
    while (next !== last) next = argmax(writer.read([next]));
  };
  return {
    prefill,
    step,
    unpack: timed(REPEATS, start),
    translate: timed(REPEATS, translate),
  };
}

if (globalThis.process?.argv[1]?.endsWith("page.mjs")) {
  const { readFileSync } = await import("node:fs");
  const bytes = process.argv.slice(2, 4).map((path) => readFileSync(path));
  console.log(JSON.stringify(measure(...bytes)));
}
