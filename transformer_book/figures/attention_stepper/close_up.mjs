// One pair close up: its numbers, dimension by dimension.
import { fill, panel, quote, s, set } from "../kit/index.mjs";
import { closeUp, fit, is } from "./layout.mjs";

/** { node, draw(geometry, pair) } */
export function closeUpView() {
  const picture = s("svg", { role: "img" });
  const { node, note } = panel("One pair", picture);
  const draw = (geometry, [i, j]) => {
    const { tokens, step, scores, scaled, weights, root } = geometry;
    const { lines, texts, width, height, rest } = closeUp(geometry, [i, j]);
    const sums = [
      step > 2 && `q · k ÷ ${root} ${is(scaled[i][j], scores[i][j])}`,
      step > 4 && `w ${is(weights[i][j])}`,
    ].filter(Boolean);
    const who = `query ${quote(tokens[i], 12)}, key ${quote(tokens[j], 12)}${rest}`;
    const said = lines
      .filter(({ from = 0 }) => step >= from)
      .map(({ label, values }) => `${label} ${values.map((x) => fit(x)).join(" ")}`);
    set(note, { text: [who, ...sums].join(", ") });
    set(picture, { width, height, "aria-label": `${who}: ${said.join("; ")}` });
    const shown = texts.map(({ x, y, text, head, tone, strong }) => ({
      x,
      y,
      text,
      "text-anchor": head ? "end" : "middle",
      class: ["token", tone, strong && "strong"].join(" "),
    }));
    fill(picture, shown, "text");
  };
  return { node, draw };
}
