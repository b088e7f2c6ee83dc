// Where everything stands: curves over the steps, the sample, the maps. Pure: no DOM.
import { cividis, inkOn, line, number, scale, tokenText } from "../kit/index.mjs";

const text = (x, y, shown, kind = null, anchor = "start") => ({
  x,
  y,
  text: shown,
  class: kind,
  "text-anchor": anchor,
});
const SIGN = 7.6; // width of one monospace sign
const LANE = 34; // middle of the lane for the prediction
const [LOSS, SCORE] = [
  [80, 180],
  [210, 266],
]; // top and bottom of the two strips
const STAGE = SCORE[1] + 34; // middle of the names of stages
const within = (x, low, high) => Math.min(high, Math.max(low, x));

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
function legend(title, y, kinds, names, values, room) {
  const [first, step, dash] = room < 480 ? [46, (room - 46) / 2, 14] : [90, 200, 20];
  const at = (i) => first + i * step;
  return {
    texts: [
      text(0, y, title, "quiet"),
      ...names.map((name, i) =>
        text(at(i) + dash + 4, y, `${name} ${number(values[i])}`, i ? "strong" : null),
      ),
    ],
    paths: names.map((_, i) => ({
      d: `M${at(i)} ${y}h${dash}`,
      class: `curve ${kinds[i]}`,
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
          : [text(middle, STAGE, name, now ? "strong" : null, "middle")],
    };
  });
}

/** Losses and scores as far as the reader has been, the prediction, the stages. */
export function curves(geometry, room) {
  const { state, revealed, scores, last, fall, answered } = geometry;
  const { steps, first, second, frame, predicted } = state;
  const narrow = room < 480;
  const [left, right] = [34, room - 16];
  const x = scale([0, last], [left, right]);
  const top = Math.ceil(1.1 * Math.max(...first, ...second, 1));
  const strips = [
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
      of: [0, 1].map((h) => scores.map((both) => both[h])),
      names: [narrow ? "previous" : "previous-token", "induction"],
    },
  ];
  const now = x(steps[frame]);
  const end = x(steps[revealed]);
  const fallen = fall >= 0 && fall <= revealed;
  const kinds = ["dashed", "solid"];
  const paths = strips.flatMap(({ y, of }) =>
    of.map((values, i) => ({
      d: line(values.slice(0, revealed + 1).map((value, k) => [x(steps[k]), y(value)])),
      class: `curve ${kinds[i]}`,
    })),
  );
  const dots = strips.flatMap(({ y, of }) =>
    of.map((values) => ({ cx: now, cy: y(values[frame]), r: 4, class: "dot" })),
  );
  const boxes = [LOSS, SCORE].map(([high, low]) => ({
    x: end,
    y: high,
    width: Math.max(0, right - end),
    height: low - high,
    class: "future",
  }));
  const legends = strips.map(({ title, y, high, names, of }) =>
    legend(
      title,
      y(high) - 14,
      kinds,
      names,
      of.map((values) => values[frame]),
      room,
    ),
  );
  const stages = staged(geometry, x, right);
  return {
    x,
    now,
    answered,
    height: STAGE + 40,
    lane: LANE + 22,
    knob: [x(Math.max(0, predicted)), LANE],
    boxes,
    dots,
    paths: [...paths, ...legends.flatMap((one) => one.paths)],
    axes:
      [LOSS, SCORE].map(([high, low]) => `M${left} ${high}V${low}H${right}`).join("") +
      `M${left} ${LANE}H${right}`,
    marks: [
      { d: down(now), class: "now" },
      {
        d: predicted < 0 ? "" : `M${x(predicted)} ${LANE + 12}v8` + down(x(predicted)),
        class: "guess",
      },
      {
        d: stages
          .slice(1)
          .map((one) => one.line)
          .join(""),
        class: "stage",
      },
      { d: fallen ? down(x(steps[fall])) : "", class: "fell" },
    ],
    texts: [
      ...legends.flatMap((one) => one.texts),
      ...strips.flatMap(({ high, y }) => [
        text(left - 6, y(high), high, "quiet", "end"),
        text(left - 6, y(0), 0, "quiet", "end"),
      ]),
      ...ticks(last, narrow ? 3 : 6).map((step) =>
        text(x(step), SCORE[1] + 13, step, "quiet", "middle"),
      ),
      ...stages.flatMap((one) => one.text),
      ...(right - end > 200
        ? [
            text(
              (end + right) / 2,
              (LOSS[0] + LOSS[1]) / 2 - 10,
              "?",
              "unknown over",
              "middle",
            ),
            text(
              (end + right) / 2,
              LOSS[1] - 20,
              "hidden until you train",
              "quiet over",
              "middle",
            ),
          ]
        : []),
      text(0, 8, asked(predicted, answered, narrow), "strong"),
      ...(fallen ? fellAt(x(steps[fall]), steps[fall], room) : []),
    ],
  };
}

function asked(predicted, answered, narrow) {
  if (answered)
    return `Predicted: ${predicted < 0 ? "nothing" : `step ${predicted}`}; Reset to try again`;
  if (predicted >= 0) return `Your prediction: easy at step ${predicted}`;
  return narrow
    ? "Predict: drag ? to where 2nd copy is easy"
    : "Predict first: drag the mark to where the second copy becomes easy";
}

function fellAt(at, step, room) {
  const shown = `${step}: below half of the first copy`;
  const half = (shown.length * 6.4) / 2;
  return [
    text(at, STAGE + 16, "▲", null, "middle"),
    text(within(at, half, room - half), STAGE + 32, shown, null, "middle"),
  ];
}

/** The text, what the model says for each token, and whether it is right. */
export function sample(geometry, room) {
  const { state, n, text: tokens, rights } = geometry;
  const said = state.said[state.frame];
  const left = 40;
  const step = Math.min(44, (room - left) / tokens.length);
  const most = Math.max(1, Math.floor((step - 2) / SIGN));
  const center = (i) => left + (i + 0.5) * step;
  const known = (i) => i > n; // the first token of the second copy comes as a surprise
  const rows = [
    [30, "text"],
    [56, "says"],
  ];
  return {
    width: left + step * tokens.length,
    height: 88,
    label: tokens
      .slice(1)
      .map(
        (token, i) =>
          `${tokenText(token, 12)}: ${tokenText(said[i], 12)} ${rights[state.frame][i] ? "right" : "wrong"}`,
      )
      .join(", "),
    boxes: said
      .map((_, i) => i + 1)
      .filter(known)
      .map((i) => ({
        x: left + i * step + 1,
        y: 44,
        width: step - 2,
        height: 40,
        class: rights[state.frame][i - 1] ? "cell right" : "cell",
      })),
    brackets: [0, n]
      .map((i) => `M${left + i * step + 2} 18v-4H${left + (i + n) * step - 2}v4`)
      .join(""),
    texts: [
      ...rows.map(([y, name]) => text(0, y, name, "quiet")),
      text(left + 2, 5, n * step < 100 ? "first" : "first copy", "quiet"),
      text(
        left + n * step + 2,
        5,
        n * step < 100 ? "again" : "the same again",
        "quiet",
      ),
      ...tokens.map((token, i) =>
        text(center(i), 30, tokenText(token, most), "token", "middle"),
      ),
      ...said.map((guess, i) =>
        text(
          center(i + 1),
          56,
          tokenText(guess, most),
          `token ${known(i + 1) ? "strong" : "quiet"}`,
          "middle",
        ),
      ),
      ...said.map((_, i) =>
        text(
          center(i + 1),
          74,
          rights[state.frame][i] ? "✓" : "✗",
          known(i + 1) ? "strong" : "quiet",
          "middle",
        ),
      ),
    ],
  };
}

/** One head's weights: a triangle of cells, at most `tall`; its score's places outlined. */
export function map(geometry, head, room, tall) {
  const { state, text: tokens, places } = geometry;
  const size = tokens.length;
  const longest = Math.min(
    4,
    Math.max(...tokens.map((token) => [...tokenText(token, 4)].length)),
  );
  const left = 16 + SIGN * longest;
  const cell = within(Math.floor(Math.min(room - left - 4, tall) / size), 6, 40);
  const [top, shown] = [30, Math.max(1, Math.floor(cell / SIGN))];
  const at = (i) => left + i * cell;
  const sharp = cell < 13 ? 2 : 1; // every label, or every second one
  const labels = tokens
    .map((token, i) => [token, i])
    .filter(([, i]) => i % sharp === 0);
  return {
    rows: size,
    cols: size,
    width: left + size * cell + 4,
    height: top + size * cell + 4,
    boxes: state.maps[state.frame][head].flatMap((row, i) =>
      row.map((weight, j) => ({
        x: at(j),
        y: top + i * cell,
        width: cell,
        height: cell,
        fill: cividis(weight / 100),
      })),
    ),
    stripe: places[head].map(([i, j]) => ({
      x: at(j) + 1.5,
      y: top + i * cell + 1.5,
      width: cell - 3,
      height: cell - 3,
      class: "stripe",
      stroke: inkOn(state.maps[state.frame][head][i][j] / 100),
    })),
    texts: [
      text(0, 9, "Q↓", "query"),
      text(left, 9, "K→", "key"),
      ...labels.map(([token, i]) =>
        text(
          at(i) + cell / 2,
          21,
          tokenText(token, Math.min(shown * sharp, 4)),
          "token key",
          "middle",
        ),
      ),
      ...labels.map(([token, i]) =>
        text(
          left - 5,
          top + (i + 0.5) * cell,
          tokenText(token, longest),
          "token query",
          "end",
        ),
      ),
    ],
    pick: (px, py) => {
      const [i, j] = [Math.floor((py - top) / cell), Math.floor((px - left) / cell)];
      return i >= 0 && i < size && j >= 0 && j < size ? [i, j] : null;
    },
    box: ([i, j]) => ({ x: at(j), y: top + i * cell, width: cell, height: cell }),
  };
}
