// Where Translator's tokens, lines and bars stand. Pure: no DOM.
import { tokenText } from "../kit/index.mjs";
import { share } from "./text.mjs";

const SIGN = 7.5; // width of a monospace sign at 12.5 px
const TOP = 26;
const SIDE = 54; // room for a percentage
const LEAST = 0.04; // weights below this draw no line
export const ASIDE = 226; // the panel beside the lines

/** The picture with the lines: two columns of tokens, as wide as their longest. */
export function frame({ source, target }, width) {
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
          class: at === r ? "look at" : "look",
          "stroke-opacity": at === null || at === r ? round(0.1 + 0.7 * weight) : 0.08,
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
      text: at === null ? "" : share(shares[at][c]),
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
  { x: 0, y: 9, text: "K source, read once", class: "key" },
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
