// m − n beside the dot product, and below them what they were before the last move.
import { h, number, set } from "../kit/index.mjs";

/** The numbers of a state, and what makes them comparable with those of another one. */
const numbersOf = ({ state: { m, n, query, key, base }, score }) => ({
  vectors: String([query, key, base]),
  positions: `${m} ${n}`,
  apart: m - n,
  dot: number(score),
  score,
});

/** A move is a press or a whole drag, from begin() to end(); `before` is the old numbers. */
export function readout() {
  const cells = [h("b"), h("b"), h("span"), h("span")];
  let now = null;
  let old = null; // what stood before the last move
  let start = null; // what stood when the move began that goes on
  const self = {
    node: h("div", { class: "both" }, ...cells),
    before: null,
    begin: () => (start = now),
    end: () => (start = null),
    draw(geometry) {
      const next = numbersOf(geometry);
      if (next.vectors !== now?.vectors) old = null;
      else if (next.positions !== now.positions) old = start ?? now;
      if (old?.positions === next.positions) old = null; // back where it began
      now = next;
      const stays = old && Math.abs(old.score - now.score) < 1e-9 ? ", unchanged" : "";
      self.before = old && `before: ${old.dot} at ${old.apart}`;
      const texts = [
        `m − n = ${now.apart}`,
        `dot product ${now.dot}`,
        old ? `before: ${old.apart}` : "",
        old ? `before: ${old.dot}${stays}` : "",
      ];
      texts.forEach((text, i) => set(cells[i], { text }));
    },
  };
  return self;
}
