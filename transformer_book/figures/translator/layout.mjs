// The state of Translator, checked, what is shown of it, and where its tokens, lines and
// bars stand. Pure: no DOM.
import { keep, tokenText } from "../kit/index.mjs";
import { wordsOf } from "./answers.mjs";
import { numberOf } from "./numbers.mjs";
import { headsOf, share, waits, weight } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const SIGN = 7.5; // width of a monospace sign at 12.5 px
const TOP = 26;
const SIDE = 54; // room for a percentage
const LEAST = 0.04; // weights below this draw no line
const ASIDE = 226; // the panel beside the lines

function check(state) {
  keep(state, limits);
  if (wordsOf(state.text) === null)
    throw Error(`text must be a number from 1 to 999,999, or words, got ${state.text}`);
}

/** The answer that is shown, and why not the one to what was asked, or typed. */
function choose({ text, answer }, ask, refused) {
  const words = wordsOf(text);
  const here = ask && words !== answer.words && numberOf(words);
  const shown = here ? ask(words) : answer;
  const [refusal, waiting] = waits(refused ?? words, shown);
  return { answer: shown, here, refusal, waiting };
}

/** Probabilities to four digits that never say 0 or 1: a softmax cannot. */
const rounded = ({ chances }) =>
  chances.map((choices) =>
    choices.map(([token, p]) => [
      token,
      Math.min(9999, Math.max(1, Math.round(1e4 * p))) / 1e4,
    ]),
  );

/** The picture with the lines: two columns of tokens, as wide as their longest. */
function frame({ source, target }, width) {
  const room = width < 620 ? width : width - ASIDE - 24;
  const most = Math.max(3, Math.floor((0.29 * room - 14) / SIGN));
  const chips = (tokens) =>
    tokens.map((token) => {
      const text = tokenText(token, most);
      return {
        text,
        width: Math.max(28, SIGN * Math.min([...text].length, most) + 14),
      };
    });
  const [from, to] = [chips(source), chips(target)];
  const widest = (all) => Math.max(...all.map((chip) => chip.width));
  const count = Math.max(from.length, to.length);
  const tall = count > 10 ? 26 : 32;
  return {
    room,
    from,
    to,
    tall,
    left: SIDE + widest(from),
    right: room - SIDE - widest(to),
    height: TOP + tall * count,
  };
}

/** Everything that is drawn or said, from the state, and the page's model once it is here. */
export function layout(state, width = 680, ask = null, refused = null) {
  check(state);
  const chosen = choose(state, ask, refused);
  const answer = { ...chosen.answer, chances: rounded(chosen.answer) };
  const head = answer.weights[state.head[0]]?.[state.head[1]] ? state.head : [];
  const used = head.length ? [answer.weights[head[0]][head[1]]] : answer.weights.flat();
  const shown = Math.min(state.step, answer.target.length);
  const rows = Math.min(shown + 1, answer.target.length);
  const shares = Array.from({ length: rows }, (_, r) =>
    answer.source.map(
      (_, c) => used.reduce((sum, one) => sum + one[r][c], 0) / used.length / 1000,
    ),
  );
  const at = (active) => {
    if (active?.length && active[0] < rows)
      return active.slice(
        0,
        active.length > 1 && active[1] < answer.source.length ? 2 : 1,
      );
    return shown < rows ? [shown] : null;
  };
  return {
    ...chosen,
    answer,
    state,
    width,
    head,
    shown,
    rows,
    shares,
    at,
    done: shown === answer.target.length,
    heads: headsOf(head, answer.weights),
    frame: frame(answer, width),
  };
}

const middle = ({ tall }, row) => TOP + tall * (row + 0.5) - 4;
const chip = (frame, row) => ({
  y: middle(frame, row) - frame.tall / 2 + 4,
  height: frame.tall - 8,
  rx: 5,
});
const round = (x) => Math.round(10 * x) / 10;

/** A line for each weight that shows; those of step `at` are strong, all if it is null. */
export function lines({ frame, shares }, at) {
  const { left, right } = frame;
  const bend = round((left + right) / 2);
  return shares.flatMap((row, r) =>
    row
      .map((weight, c) => {
        const [a, b] = [middle(frame, c), middle(frame, r)];
        return {
          d: `M${left} ${a}C${bend} ${a} ${bend} ${b} ${right} ${b}`,
          "stroke-width": round(12 * weight),
          class: at === r ? "link at" : "link",
          "stroke-opacity": round(
            at === null || at === r ? 0.1 + 0.7 * weight : 0.1 + 0.3 * weight,
          ),
        };
      })
      .filter((_, c) => row[c] >= LEAST),
  );
}

/** Source tokens, and beside them what step `at` gives to each. */
export function sources({ frame, shares }, at) {
  const { from, left } = frame;
  const boxes = from.map(({ width }, c) => ({
    ...chip(frame, c),
    x: left - width,
    width,
    class: "chip from",
  }));
  const texts = from.flatMap(({ text, width }, c) => [
    {
      x: left - width / 2,
      y: middle(frame, c),
      text,
      class: "token key",
      "text-anchor": "middle",
    },
    {
      x: left - width - 6,
      y: middle(frame, c),
      text: at === null ? "" : weight(shares[at][c]),
      class: "quiet",
      "text-anchor": "end",
    },
  ]);
  return { boxes, texts };
}

/** One step: its chip, its texts, and the place that answers to the pointer. */
export function step({ frame, answer, shown }, r) {
  const { to, right, room, tall } = frame;
  const written = r < shown;
  const { text, width } = written ? to[r] : { text: "?", width: 28 };
  const y = middle(frame, r);
  return {
    box: { ...chip(frame, r), x: right, width, class: written ? "chip" : "chip next" },
    text: { x: right + width / 2, y, text },
    chance: { x: room - 4, y, text: written ? share(answer.chances[r][0][1]) : "" },
    area: {
      x: right - 3,
      y: y - tall / 2 + 1,
      width: room - right + 3,
      height: tall - 2,
    },
  };
}

export const headings = ({ right }) => [
  { x: 0, y: 9, text: "K source, encoded once", class: "key" },
  { x: right, y: 9, text: "Q one by one", class: "query" },
];

/** The most probable tokens of step r as bars. */
export function choices({ answer, frame: { room }, shown, width }, r) {
  const wide = width < 620 ? room : ASIDE;
  const [boxes, texts] = [[], []];
  answer.chances[r].forEach(([token, chance], i) => {
    const y = 4 + 26 * i;
    const written = r < shown && i === 0;
    boxes.push({
      x: 106,
      y: y + 5,
      width: Math.max(1, round((wide - 164) * chance)),
      height: 14,
      class: written ? "bar written" : "bar",
    });
    texts.push(
      {
        x: 98,
        y: y + 12,
        text: tokenText(token, 11),
        class: written ? "token strong" : "token",
        "text-anchor": "end",
      },
      {
        x: wide - 2,
        y: y + 12,
        text: share(chance),
        class: written ? "strong" : "quiet",
        "text-anchor": "end",
      },
    );
  });
  return { boxes, texts, width: wide, height: 110 };
}
