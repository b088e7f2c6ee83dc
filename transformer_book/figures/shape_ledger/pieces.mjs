// A few tokens in a few heads, split in the right and in the wrong way.
import { fill, panel, s, set } from "../kit/index.mjs";
import { plain, reshape } from "./layout.mjs";

/** A few tokens in a few heads: who reads whose piece, with one way to split them. */
export function pieces(title, wrong) {
  const parts = [s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  const draw = ({ state }) => {
    const { boxes, texts, from, width, height } = reshape({ ...state, wrong });
    const small = from.length < state.n_heads || from[0].length < state.length;
    set(note, {
      text: small
        ? `small example: ${from[0].length} tokens, ${from.length} heads`
        : "",
    });
    set(svg, {
      width,
      height,
      "aria-label": from
        .map((row, j) => `head ${j} reads tokens ${row.join(", ")}`)
        .join("; "),
    });
    fill(parts[0], boxes, "rect");
    fill(parts[1], texts.map(plain), "text");
  };
  return { node, draw };
}
