// node shown.mjs: a JSON list of { figure, state, width } in, what the page makes of each out.
import { text } from "node:stream/consumers";

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

const answers = [];
for (const asked of JSON.parse(await text(process.stdin)))
  answers.push(await shown(asked));
console.log(JSON.stringify(answers, plain));
