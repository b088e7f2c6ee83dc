// node layout.mjs <figure>: states (JSON list) in, what layout makes of them out.
import { text } from "node:stream/consumers";

const figure = await import(
  `../../transformer_book/figures/${process.argv[2]}/view.mjs`
);
const plain = (_, value) =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
const answers = JSON.parse(await text(process.stdin)).map((state) => {
  const geometry = figure.layout(state);
  return {
    geometry,
    sentence: figure.sentence(geometry, state.selected?.length ? state.selected : null),
    table: figure.table(geometry),
    pytorch: figure.pytorch(state, geometry),
  };
});
console.log(JSON.stringify(answers, plain));
