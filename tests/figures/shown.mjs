// What the page makes of states: on each line a JSON list of { figure, state, width } in,
// and the list of answers out, or { error }. One process serves a whole run of tests.
import { createInterface } from "node:readline";

// JSON has no NaN and no infinities: they come back as "NaN", "Infinity", "-Infinity".
const plain = (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;

async function shown({ figure, state, width = 680 }) {
  const { default: given } = await import(
    `../../transformer_book/figures/${figure}/view.mjs`
  );
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

async function answer(line) {
  const answers = [];
  for (const asked of JSON.parse(line)) answers.push(await shown(asked));
  return answers;
}

for await (const line of createInterface({ input: process.stdin })) {
  const said = await answer(line).catch((error) => ({ error: error.stack }));
  console.log(JSON.stringify(said, plain));
}
