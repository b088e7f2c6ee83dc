// Where things are: a pure function of the state and the width in pixels, no DOM.
import { hatch, keep, range } from "../kit/index.mjs";
import { SLOTS, sides } from "./numbers.mjs";
import { letter } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

export const COLUMNS = 16;
export const ROWS = SLOTS / COLUMNS; // of each way
const GAP = 24; // between the two pictures, where they are side by side

/** The cells of one way, and the lines between its blocks. */
function picture({ slots, size }, cell) {
  const cells = slots.map(({ users, token, fresh }, i) => {
    const [x, y] = [(i % COLUMNS) * cell, Math.floor(i / COLUMNS) * cell];
    const kind = token >= 0 ? "held" : users.length ? "empty" : "free";
    const isNamed = kind === "empty" && i % size === 0; // whose place it is, unread
    const plus = users.length > 1 ? "+" : "";
    return {
      x,
      y,
      kind,
      fresh,
      text: kind === "held" || isNamed ? letter(users[0]) + plus : "",
      hatch: kind === "empty" ? hatch(x + 1, y + 1, cell - 2, cell - 2) : "",
    };
  });
  const starts = range(SLOTS / size).map((block) => block * size);
  const edges = starts.map((i) => {
    const [x, y] = [(i % COLUMNS) * cell, Math.floor(i / COLUMNS) * cell];
    return `M${x} ${y}h${size * cell}v${cell}h${-size * cell}z`;
  });
  return { cells, edges: edges.join("") };
}

/** Everything that is drawn or said. Throws on a state that cannot be shown. */
export function layout(state, width = 680) {
  keep(state, limits);
  const room = width < 600 ? width : (width - GAP) / 2;
  const cell = Math.min(24, Math.floor((room - 4) / COLUMNS));
  const ways = sides(state).map((side) => ({ ...side, ...picture(side, cell) }));
  return { state, ways, cell };
}
