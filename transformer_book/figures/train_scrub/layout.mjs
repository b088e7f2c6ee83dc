// Where everything stands: curves over the steps, the sample, the maps. Pure: no DOM.
import { cividis, inkOn, keep, line, number, scale, tokenText } from "../kit/index.mjs";
import { read } from "./numbers.mjs";
import limits from "./limits.json" with { type: "json" };

const label = (x, y, shown, kind = null, anchor = "start") => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
});
const SIGN = 7.6; // width of one monospace sign
const LANE = 34; // middle of the lane for the prediction
const LOSS = [78, 162]; // top and bottom of its strip
const SCORE = [192, 238];
const STAGE = SCORE[1] + 32; // middle of the names of stages
const KINDS = ["dashed", "solid"]; // of a strip's two curves
const within = (x, low, high) => Math.min(high, Math.max(low, x));

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  keep(state, limits);
  return { ...read(state), room };
}

/** Round numbers from 0 to `last`, at most `most` steps apart. */
function ticks(last, most) {
  const power = 10 ** Math.floor(Math.log10(last / most));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => last / s <= most);
  return Array.from(
    { length: Math.floor(last / Math.max(1, step)) + 1 },
    (_, i) => i * Math.max(1, step),
  );
}

/** The line above a strip: its title, then each curve's dash, name and value. */
function legend({ title, y, high, names, of }, frame, room) {
  const [first, step, dash] = room < 480 ? [46, (room - 46) / 2, 14] : [90, 200, 20];
  const low = y(high) - 14;
  const at = (i) => first + i * step;
  return {
    texts: [
      label(0, low, title, "quiet"),
      ...names.map((name, i) => {
        const words = `${name} ${number(of[i][frame])}`;
        return label(at(i) + dash + 4, low, words, i ? "strong" : null);
      }),
    ],
    paths: names.map((_, i) => ({
      d: `M${at(i)} ${low}h${dash}`,
      class: `curve ${KINDS[i]}`,
    })),
  };
}

/** A line down both strips, but not over what stands between them. */
const down = (x) => [LOSS, SCORE].map(([high, low]) => `M${x} ${high}V${low}`).join("");

/** Stages as far as they were seen: a line where each begins, its name where there is room. */
function staged({ stages, revealed, state: { steps } }, x, right) {
  const seen = stages.filter(({ from }) => from <= revealed);
  return seen.map(({ name, from }, i) => {
    const [start, now] = [x(steps[from]), i === seen.length - 1];
    const end = now
      ? Math.max(x(steps[revealed]), start + 8 * name.length)
      : x(steps[seen[i + 1].from]);
    const middle = Math.min((start + end) / 2, right - 3.4 * name.length);
    return {
      line: down(start) + `M${start} ${STAGE - 8}v16`,
      text:
        end - start < 5.5 * name.length
          ? []
          : [label(middle, STAGE, name, now ? "strong" : null, "middle")],
    };
  });
}

/** The two strips: a scale, a title, and two curves with their names. */
function stripsOf({ state: { first, second }, scores }, narrow) {
  const top = Math.ceil(1.1 * Math.max(...first, ...second, 1));
  return [
    {
      y: scale([0, top], [LOSS[1], LOSS[0]]),
      high: top,
      title: narrow ? "loss" : "loss, nats",
      of: [first, second],
      names: narrow ? ["1st copy", "2nd copy"] : ["first copy", "second copy"],
    },
    {
      y: scale([0, 1], [SCORE[1], SCORE[0]]),
      high: 1,
      title: narrow ? "scores" : "head scores",
      of: [0, 1].map((head) => scores.map((both) => both[head])),
      names: [narrow ? "previous" : "previous-token", "induction"],
    },
  ];
}

/** Both curves of a strip, as far as the reader has been. */
const seenCurves = ({ y, of }, { revealed, state: { steps } }, x) =>
  of.map((values, i) => ({
    d: line(values.slice(0, revealed + 1).map((value, k) => [x(steps[k]), y(value)])),
    class: `curve ${KINDS[i]}`,
  }));

/** The gray ground of what the reader has not seen, over each strip. */
const future = (end, right) =>
  [LOSS, SCORE].map(([high, low]) => ({
    x: end,
    y: high,
    width: Math.max(0, right - end),
    height: low - high,
    class: "future",
  }));

/** What stands on that ground, where there is room. */
function unknown(end, right) {
  if (right - end <= 200) return [];
  const [x, y] = [(end + right) / 2, (LOSS[0] + LOSS[1]) / 2];
  return [label(x, y, "hidden until you train further", "quiet over", "middle")];
}

/** Lines down the strips: this step, the prediction, the stages, the fall. */
function lines(now, guess, stages, fell) {
  const starts = stages.slice(1).map((one) => one.line);
  return [
    { d: down(now), class: "now" },
    {
      d: guess === null ? "" : `M${guess} ${LANE + 12}v8${down(guess)}`,
      class: "guess",
    },
    { d: starts.join(""), class: "stage" },
    { d: fell === null ? "" : down(fell), class: "fell" },
  ];
}

/** Numbers at both strips' ends, and steps below them. */
const axisNumbers = (strips, last, narrow, left, x) => [
  ...strips.flatMap(({ high, y }) => [
    label(left - 6, y(high), high, "quiet", "end"),
    label(left - 6, y(0), 0, "quiet", "end"),
  ]),
  ...ticks(last, narrow ? 3 : 6).map((step) =>
    label(x(step), SCORE[1] + 13, step, "quiet", "middle"),
  ),
];

/** Losses and scores as far as the reader has been, the prediction, the stages. */
export function curves(geometry, room) {
  const { state, revealed, last, fall, answered } = geometry;
  const { steps, frame, predicted } = state;
  const narrow = room < 480;
  const [left, right] = [34, room - 16];
  const x = scale([0, last], [left, right]);
  const strips = stripsOf(geometry, narrow);
  const [now, end] = [x(steps[frame]), x(steps[revealed])];
  const fell = fall >= 0 && fall <= revealed ? x(steps[fall]) : null;
  const legends = strips.map((strip) => legend(strip, frame, room));
  const stages = staged(geometry, x, right);
  return {
    x,
    answered,
    height: STAGE + 40,
    lane: LANE + 22,
    knob: [x(Math.max(0, predicted)), LANE],
    boxes: future(end, right),
    dots: strips.flatMap(({ y, of }) =>
      of.map((values) => ({ cx: now, cy: y(values[frame]), r: 4, class: "dot" })),
    ),
    paths: [
      ...strips.flatMap((strip) => seenCurves(strip, geometry, x)),
      ...legends.flatMap((one) => one.paths),
    ],
    axes:
      [LOSS, SCORE].map(([high, low]) => `M${left} ${high}V${low}H${right}`).join("") +
      `M${left} ${LANE}H${right}`,
    marks: lines(now, predicted < 0 ? null : x(predicted), stages, fell),
    texts: [
      ...legends.flatMap((one) => one.texts),
      ...axisNumbers(strips, last, narrow, left, x),
      ...stages.flatMap((one) => one.text),
      ...unknown(end, right),
      label(0, 8, asked(predicted, answered, narrow), "strong"),
      ...(fell === null ? [] : fellAt(fell, steps[fall], room)),
    ],
  };
}

function asked(predicted, answered, narrow) {
  if (answered) return `Predicted: ${predicted < 0 ? "nothing" : `step ${predicted}`}`;
  if (predicted >= 0) return `Your prediction: easy at step ${predicted}`;
  return narrow
    ? "Predict: drag ? to where 2nd copy is easy"
    : "Predict first: drag the mark to where the second copy becomes easy";
}

function fellAt(at, step, room) {
  const shown = `${step}: below half the first copy`;
  const half = (shown.length * 6.4) / 2;
  return [
    label(at, STAGE + 16, "▲", null, "middle"),
    label(within(at, half, room - half), STAGE + 32, shown, null, "middle"),
  ];
}

const emphasis = (strong) => (strong ? "strong" : "quiet");

/** The text, what the model says for each token, and whether it is right. */
export function sample(geometry, room) {
  const { state, n, text: tokens, rights } = geometry;
  const [said, right] = [state.said[state.frame], rights[state.frame]];
  const left = 40;
  const step = Math.min(44, (room - left) / tokens.length);
  const known = (i) => i > n; // the first token of the second copy comes as a surprise
  const results = tokens.slice(1).map((token, i) => {
    const result = right[i] ? "right" : "wrong";
    return `${tokenText(token, 12)}: ${tokenText(said[i], 12)} ${result}`;
  });
  const boxes = said
    .map((_, i) => i + 1)
    .filter(known)
    .map((i) => ({
      x: left + i * step + 1,
      y: 44,
      width: step - 2,
      height: 40,
      class: right[i - 1] ? "cell right" : "cell",
    }));
  const bracket = (i) => `M${left + i * step + 2} 18v-4H${left + (i + n) * step - 2}v4`;
  return {
    width: left + step * tokens.length,
    height: 88,
    label: results.join(", "),
    boxes,
    brackets: bracket(0) + bracket(n),
    texts: sampleTexts({ tokens, said, right, n, left, step, known }),
  };
}

function sampleTexts({ tokens, said, right, n, left, step, known }) {
  const most = Math.max(1, Math.floor((step - 2) / SIGN));
  const center = (i) => left + (i + 0.5) * step;
  const copies = n * step < 100 ? ["first", "again"] : ["first copy", "the same again"];
  const guesses = said.map((guess, i) => {
    const kind = `token ${emphasis(known(i + 1))}`;
    return label(center(i + 1), 56, tokenText(guess, most), kind, "middle");
  });
  const marks = said.map((_, i) => {
    const kind = emphasis(known(i + 1));
    return label(center(i + 1), 74, right[i] ? "✓" : "✗", kind, "middle");
  });
  return [
    label(0, 30, "text", "quiet"),
    label(0, 56, "says", "quiet"),
    label(0, 74, "right?", "quiet"),
    ...copies.map((words, i) => label(left + i * n * step + 2, 5, words, "quiet")),
    ...tokens.map((token, i) =>
      label(center(i), 30, tokenText(token, most), "token", "middle"),
    ),
    ...guesses,
    ...marks,
  ];
}

/** Tokens above the columns and beside the rows; of small cells every second one. */
function mapTexts(tokens, { left, top, cell, longest }) {
  const signs = Math.max(1, Math.floor(cell / SIGN));
  const every = cell < 13 ? 2 : 1;
  const named = tokens
    .map((token, i) => ({ token, i }))
    .filter(({ i }) => !(i % every));
  const most = Math.min(signs * every, 4);
  return [
    label(0, 9, "Q↓", "query"),
    label(left, 9, "K→", "key"),
    ...named.map(({ token, i }) =>
      label(left + (i + 0.5) * cell, 21, tokenText(token, most), "token key", "middle"),
    ),
    ...named.map(({ token, i }) =>
      label(
        left - 5,
        top + (i + 0.5) * cell,
        tokenText(token, longest),
        "token query",
        "end",
      ),
    ),
  ];
}

/** One head's weights: a triangle of cells, at most `tall`; its score's places outlined. */
export function map(geometry, head, room, tall) {
  const { state, text: tokens, places } = geometry;
  const weights = state.maps[state.frame][head];
  const size = tokens.length;
  const lengths = tokens.map((token) => [...tokenText(token, 4)].length);
  const longest = Math.min(4, Math.max(...lengths));
  const left = 16 + SIGN * longest;
  const top = 30;
  const cell = within(Math.floor(Math.min(room - left - 4, tall) / size), 6, 40);
  const box = ([i, j], less = 0) => ({
    x: left + j * cell + less,
    y: top + i * cell + less,
    width: cell - 2 * less,
    height: cell - 2 * less,
  });
  return {
    rows: size,
    cols: size,
    width: left + size * cell + 4,
    height: top + size * cell + 4,
    boxes: weights.flatMap((row, i) =>
      row.map((weight, j) => ({ ...box([i, j]), fill: cividis(weight / 100) })),
    ),
    stripe: places[head].map(([i, j]) => ({
      ...box([i, j], 1.5),
      class: "stripe",
      stroke: inkOn(weights[i][j] / 100),
    })),
    texts: mapTexts(tokens, { left, top, cell, longest }),
    pick: (x, y) => {
      const [i, j] = [Math.floor((y - top) / cell), Math.floor((x - left) / cell)];
      return i >= 0 && i < size && j >= 0 && j < size ? [i, j] : null;
    },
    box: (at) => box(at),
  };
}
