// node position_layout.mjs: states of PositionLab (JSON list) in, what is shown out.
import { text } from "node:stream/consumers";
import * as lab from "../../transformer_lib/widgets/src/position_lab.mjs";

const answers = JSON.parse(await text(process.stdin)).map((state) => {
  const geometry = lab.layout(state);
  const { values, similarity, shown, words } = geometry;
  return {
    values, similarity, shown, words,
    sentence: lab.sentence(geometry, lab.locked(state)),
    table: lab.table(geometry),
    pytorch: lab.pytorch(state, geometry),
  };
});
console.log(JSON.stringify(answers));
