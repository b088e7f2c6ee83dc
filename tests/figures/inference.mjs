// node inference.mjs <task>: a job (JSON) in, its answer (JSON) out. The job names the
// file of a packed model; logits go as float32 into the file that it names.
import { readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import {
  argmax,
  createSession,
  createTokenizer,
  recorder,
  unpack,
} from "../../transformer_book/figures/engine/index.mjs";

const job = JSON.parse(await text(process.stdin));
const model = unpack(readFileSync(job.packed));
const off =
  (heads = []) =>
  (part, layer, head) =>
    heads.some((one) => String(one) === String([part, layer, head])) ? 0 : 1;

/** Logits of every token of the chunks, (tokens, vocab), and those that read returns. */
function run(session, { source, chunks }) {
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

const tasks = {
  logits() {
    const session = createSession(model, { headFactor: off(job.off) });
    writeFileSync(job.out, flat(job.prompts.flatMap((prompt) => run(session, prompt))));
  },
  shifted() {
    const session = createSession(model, { placeOf: (token) => job.places[token] });
    writeFileSync(job.out, flat(run(session, job.prompt)));
  },
  watched() {
    const session = createSession(model);
    const added = [];
    const keep = (part, layer, name, query, change, x) =>
      added.push({ part, layer, name, query, change: [...change], x: [...x] });
    const watch = { ...recorder(), added: keep };
    if (job.source) session.encode(job.source, watch);
    for (const chunk of job.chunks) session.read(chunk, watch);
    const plain = (_, value) => (value instanceof Float32Array ? [...value] : value);
    return JSON.parse(JSON.stringify({ ...watch, added }, plain));
  },
  tokens() {
    const tokenizer = createTokenizer(model.tokenizer);
    return {
      ids: job.texts.map(tokenizer.encode),
      back: job.texts.map((one) => tokenizer.decode(tokenizer.encode(one))),
      decoded: job.ids.map(tokenizer.decode),
    };
  },
  translate() {
    const session = createSession(model);
    const tokenizer = createTokenizer(model.tokenizer);
    const [start, end] = ["<start>", "<end>"].map(tokenizer.special);
    return job.texts.map((one) => {
      session.encode(tokenizer.encode(one));
      const said = [];
      let next = argmax(session.read([start]));
      while (next !== end && session.length < session.capacity) {
        said.push(next);
        next = argmax(session.read([next]));
      }
      return tokenizer.decode(said);
    });
  },
};
console.log(JSON.stringify(tasks[process.argv[2]]() ?? null));
