// node position_layout.mjs: states of PositionLab (JSON list) in, what is shown out.
import { text } from "node:stream/consumers";
import { layout, locked } from "../../transformer_book/figures/position_lab/view.mjs";
import { pytorch } from "../../transformer_book/figures/position_lab/code.mjs";
import { sentence, table } from "../../transformer_book/figures/position_lab/text.mjs";

const answers = JSON.parse(await text(process.stdin)).map((state) => {
  const geometry = layout(state);
  const { values, similarity, shown, words } = geometry;
  return {
    values,
    similarity,
    shown,
    words,
    sentence: sentence(geometry, locked(state)),
    table: table(geometry),
    pytorch: pytorch(state, geometry),
  };
});
console.log(JSON.stringify(answers));
