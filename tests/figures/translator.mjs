// node translator.mjs <task>: a job (JSON) in, its answer (JSON) out.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { unpack } from "../../transformer_book/figures/engine/index.mjs";
import { layout } from "../../transformer_book/figures/translator/layout.mjs";
import { sentence } from "../../transformer_book/figures/translator/text.mjs";
import {
  createAnswers,
  wordsOf,
} from "../../transformer_book/figures/translator/answers.mjs";
import {
  english,
  german,
  meantBy,
  numberOf,
} from "../../transformer_book/figures/translator/numbers.mjs";

const job = JSON.parse(await text(process.stdin));
const model = () => createAnswers(unpack(readFileSync(job.packed)));
const tasks = {
  words: () => job.numbers.map((n) => [english(n), german(n)]),
  back: () => job.texts.map(numberOf),
  meant: () => job.texts.map(meantBy),
  texts: () => job.texts.map(wordsOf),
  answers: () => job.texts.map(model()),
  said() {
    const ask = job.packed ? model() : null;
    return job.states.map((state) => {
      const geometry = layout(state, 680, ask);
      return [Boolean(geometry.here), sentence(geometry, state.selected)];
    });
  },
};
console.log(JSON.stringify(tasks[process.argv[2]]()));
