// What is asked of a model in the page: functions of a model that give functions of a job.
// Logits go as float32 into the file that the job names.
import { writeFileSync } from "node:fs";
import {
  createSession,
  createTokenizer,
  recorder,
} from "../../transformer_book/figures/engine/index.mjs";

const off =
  (heads = []) =>
  (part, layer, head) =>
    heads.some((one) => String(one) === String([part, layer, head])) ? 0 : 1;

/** Logits of every token of the chunks, (tokens, vocab), and those that read returns. */
function run(model, session, { source, chunks }) {
  if (source) session.encode(source);
  else session.rewind?.(0);
  const all = [];
  const last = model.config.n_layers;
  for (const chunk of chunks) {
    let own = null;
    const stream = (part, layer, query, x) => {
      if (part === "decoder" && layer === last) all.push((own = session.logits(x)));
    };
    const latest = session.read(chunk, { stream });
    if (own === null)
      all.push(latest.slice()); // a classifier
    else if (String(own) !== String(latest)) throw Error("two answers for one token");
  }
  return all;
}

const flat = (rows) => Buffer.concat(rows.map((row) => Buffer.from(row.buffer)));

export const logits = (model) => (job) => {
  const session = createSession(model, { headFactor: off(job.off) });
  const rows = job.prompts.flatMap((prompt) => run(model, session, prompt));
  writeFileSync(job.out, flat(rows));
};

export const shifted = (model) => (job) => {
  const session = createSession(model, { placeOf: (token) => job.places[token] });
  writeFileSync(job.out, flat(run(model, session, job.prompt)));
};

export const watched = (model) => (job) => {
  const session = createSession(model);
  const added = [];
  const keep = (part, layer, name, query, change, x) =>
    added.push({ part, layer, name, query, change: [...change], x: [...x] });
  const watch = { ...recorder(), added: keep };
  if (job.source) session.encode(job.source, watch);
  for (const chunk of job.chunks) session.read(chunk, watch);
  return { ...watch, added };
};

export const tokens = (model) => (job) => {
  const tokenizer = createTokenizer(model.tokenizer);
  return {
    ids: job.texts.map(tokenizer.encode),
    back: job.texts.map((one) => tokenizer.decode(tokenizer.encode(one))),
    decoded: job.ids.map(tokenizer.decode),
  };
};
