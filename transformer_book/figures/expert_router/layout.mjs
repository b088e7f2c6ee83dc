// Where everything is: a pure function of the state and the width in pixels, no DOM.
import {
  cividis,
  inkOn,
  keep,
  percent,
  range,
  scale,
  tokenText,
} from "../kit/index.mjs";
import { read } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

const LEFT = 24; // of the cells: room for the numbers of the experts
const TOP = 26; // of the cells: room for the tokens
const TALL = 26; // a row
const BESIDE = 100; // the loads, right of the cells
const NUMBER = 42; // room for a load in words, right of its bar

/** Everything that is drawn or said. Throws on a state that cannot be shown. */
export function layout(state, room = 680) {
  keep(state, limits);
  const all = read(state);
  const cell = Math.min(34, Math.floor((room - LEFT - BESIDE) / all.n));
  const end = LEFT + cell * all.n;
  const low = TOP + TALL * all.nExperts;
  const wide = Math.min(150, room - end - NUMBER - 10);
  const x = scale([0, Math.max(0.5, ...all.loads)], [end + 10, end + 10 + wide]);
  const box = ([expert, token]) => ({
    x: LEFT + cell * token + 1,
    y: TOP + TALL * expert + 1,
    width: cell - 2,
    height: TALL - 2,
  });
  const even = x(1 / all.nExperts);
  const right = end + 10 + wide + NUMBER;
  return {
    ...all,
    state,
    room,
    rows: all.nExperts,
    cols: all.n,
    width: right,
    height: low + 24,
    box,
    pick: (px, py) => {
      const at = [Math.floor((py - TOP) / TALL), Math.floor((px - LEFT) / cell)];
      const inside = at[0] >= 0 && at[0] < all.nExperts && at[1] >= 0 && at[1] < all.n;
      return inside ? at : null;
    },
    even: `M${even} ${TOP - 4}V${low + 4}`,
    cells: cellsOf(all, box),
    bars: all.loads.map((load, i) => ({
      x: x(0),
      y: TOP + TALL * i + 6,
      width: x(load) - x(0),
      height: TALL - 12,
    })),
    texts: textsOf(all, { state, cell, even, low, end, right }),
  };
}

/** A cell for each expert and token: filled where it is chosen, hatched where dropped. */
const cellsOf = ({ nExperts, n, chosen, weights, kept }, box) =>
  range(nExperts).flatMap((expert) =>
    range(n).map((token) => {
      const rank = chosen[token].indexOf(expert);
      const takes = rank >= 0 && kept[token][rank];
      const weight = weights[token][rank];
      return {
        ...box([expert, token]),
        kind: rank < 0 ? "free" : takes ? "taken" : "dropped",
        fill: takes ? cividis(weight) : "transparent",
        ink: takes ? inkOn(weight) : "var(--text)",
        text: takes ? String(Math.round(100 * weight)) : rank < 0 ? "" : "✗",
      };
    }),
  );

const label = (x, y, shown, kind, anchor = "middle") => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
});

function textsOf({ nExperts, loads }, { state, cell, even, low, end, right }) {
  const signs = Math.max(1, Math.floor((cell - 2) / 7.5));
  return [
    ...state.tokens.map((token, i) =>
      label(LEFT + (i + 0.5) * cell, 14, tokenText(token, signs), "token"),
    ),
    ...range(nExperts).map((expert) =>
      label(LEFT - 8, TOP + (expert + 0.5) * TALL, expert, "quiet", "end"),
    ),
    ...loads.map((load, i) =>
      label(right, TOP + (i + 0.5) * TALL, percent(load), null, "end"),
    ),
    label(end + 10, 14, "load", "quiet", "start"),
    label(even, low + 15, "even", "quiet"),
  ];
}
