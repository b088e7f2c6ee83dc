// node shown.mjs <figure>: states (JSON list) in, what the figure makes of them out.
import { text } from "node:stream/consumers";

const { layout, locked, sentence, table, pytorch } = await import(
  `../../transformer_book/figures/src/${process.argv[2]}.mjs`
);
const answers = JSON.parse(await text(process.stdin)).map((state) => {
  const geometry = layout(state);
  return {
    geometry,
    sentence: sentence(geometry, locked(state)),
    table: table(geometry),
    pytorch: pytorch(state, geometry),
  };
});
console.log(JSON.stringify(answers));
