// Where the matrices stand, and what is in their cells. Pure: no DOM.
import {
  cividis,
  inkOn,
  keep,
  matrixFrame,
  number,
  quote,
  sum,
  tokenText,
} from "../kit/index.mjs";
import { map2, weights } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

const LOW = 34; // height of a row where the matrices stand one above the other

const lower = (frame, n) => {
  const tall = Math.min(frame.cell, LOW);
  return { ...frame, tall, height: frame.height - n * (frame.cell - tall) };
};

/** Side by side, or one above the other: then lower, so that a phone shows both. */
function framed(labels, width) {
  const fitting = (room) =>
    matrixFrame({ rows: labels, cols: labels, width: room, extra: 1, max: 48 });
  const half = fitting((width - 24) / 2);
  return half.cell >= 36 ? half : lower(fitting(width), labels.length);
}

const scoreText = (score) =>
  number(
    score,
    Math.abs(score) >= 100 ? 0 : Number(number(score, 1)) === score ? 1 : 2,
  );

export function cells(geometry, kind) {
  const { state, weights: all } = geometry;
  const { tokens, scores, mask } = state;
  return map2(scores, (score, r, c) => {
    const open = mask[r][c];
    const weight = all[r][c];
    const sure = Number.isFinite(weight);
    const shade = sure ? weight : 0;
    const pair = `query ${quote(tokens[r])}, key ${quote(tokens[c])}`;
    if (kind === "scores")
      return {
        text: scoreText(score),
        masked: !open,
        part: "scores mask",
        label: `${pair}: score ${scoreText(score)}${open ? "" : ", may not attend"}`,
        ink: open ? undefined : "var(--quiet)",
      };
    return {
      text: number(weight),
      masked: !open,
      area: shade,
      part: "weights",
      fill: open && sure ? cividis(weight) : "transparent",
      ink: !open ? "var(--quiet)" : sure ? inkOn(weight) : undefined,
      label: `${pair}: weight ${number(weight)}${open ? "" : ", may not attend"}`,
    };
  });
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, width = 680) {
  keep(state, limits);
  const { tokens } = state;
  const all = weights(state);
  const labels = tokens.map((token) => tokenText(token, width < 480 ? 7 : 10));
  const heads = (kind) =>
    labels.map((text, i) => ({ text, kind, label: `${kind} ${quote(tokens[i])}` }));
  const sums = all.map((row) => sum(row));
  return {
    state,
    weights: all,
    sums,
    frame: framed(labels, width),
    rows: heads("query"),
    cols: heads("key"),
  };
}
