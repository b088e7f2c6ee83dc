// What the page makes of states, and what functions of the figures' modules return. On each
// line a JSON list in, of { figure, state, width } or of { module, name, calls, packed },
// and the list of answers out, or { error }. One process serves a whole run of tests.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { unpack } from "../../transformer_book/figures/engine/index.mjs";

const figures = "../../transformer_book/figures";
// JSON has no NaN and no infinities: they come back as "NaN", "Infinity", "-Infinity".
function plain(_, value) {
  if (value instanceof Float32Array) return [...value];
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

async function shown({ figure, state, width = 680 }) {
  const { default: given } = await import(`${figures}/${figure}/view.mjs`);
  const spec = typeof given === "function" ? given() : given;
  const geometry = spec.layout(state, width);
  const active = spec.locked?.(state) ?? spec.rest?.(state) ?? null;
  return {
    geometry,
    sentence: spec.sentence(geometry, active),
    table: spec.table(geometry),
    pytorch: spec.pytorch(state, geometry),
  };
}

/** What each call of a function returns; with a model, of the function that this makes. */
async function called({ module, name, calls, packed }) {
  const { [name]: found } = await import(`${figures}/${module}.mjs`);
  const call = packed ? found(unpack(readFileSync(packed))) : found;
  return calls.map((given) => call(...given));
}

async function answer(line) {
  const answers = [];
  for (const asked of JSON.parse(line))
    answers.push(await (asked.module ? called(asked) : shown(asked)));
  return answers;
}

for await (const line of createInterface({ input: process.stdin })) {
  const said = await answer(line).catch((error) => ({ error: error.stack }));
  console.log(JSON.stringify(said, plain));
}
