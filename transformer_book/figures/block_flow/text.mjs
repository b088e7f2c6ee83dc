// What BlockFlow says; block_words.py says the same. No DOM.
import { number, percent, quote, tokenText } from "../kit/index.mjs";

export const part = (row) =>
  row ? ["feed-forward", "attention"][row % 2] : "embedding";
export const block = (row) => (row + 1) >> 1;

/** The angle of an addition against the stream that it meets. */
export const degrees = (cosine) =>
  Math.round((180 / Math.PI) * Math.acos(Math.max(-1, Math.min(1, cosine))));

/** A probability in words; what is rounded to 0 or 1 is neither. */
const share = (x) => percent(Math.min(Math.max(x, 1e-9), 1 - 1e-9));
export const brief = (x) =>
  share(x).replace("less than ", "<").replace("more than ", ">");

export const leader = (flow, row) => flow.top.at(row)[0][0];

/** The first row from which on the answer leads the lens. */
export function answerFrom(flow) {
  const answer = leader(flow, -1);
  return flow.top.findLastIndex(([[text]]) => text !== answer) + 1;
}

const token = ({ position, tokens }) =>
  `oken ${position + 1} of ${tokens.length}, ${quote(tokens[position])}`;

function emergence(flow) {
  const first = answerFrom(flow);
  const answer = quote(leader(flow, -1));
  if (first === 0) return `The lens reads ${answer} from the embedding on`;
  const said = flow.top
    .slice(0, first)
    .map(([[text]]) => text)
    .filter((text, i, all) => text !== all[i - 1])
    .filter((_, i, all) => i < 2 || i === all.length - 1);
  return (
    `At first the lens reads ${said.map((text) => quote(text)).join(", then ")}; ${answer} ` +
    `leads from block ${block(first)}'s ${part(first)} on`
  );
}

function overview(flow) {
  const { lengths } = flow;
  return (
    `T${token(flow)}: ${lengths.length - 1} additions take its stream from length ` +
    `${number(lengths[0], 1)} to ${number(lengths.at(-1), 1)}. ${emergence(flow)}, and ends at ` +
    `${share(flow.answer.at(-1))}.`
  );
}

const way = (angle) =>
  angle <= 70 ? "partly along" : angle < 110 ? "nearly across" : "partly against";

/** What row r adds, and what the lens reads there. */
export function sentenceOf(flow, r) {
  const { lengths, changes, cosines, norm } = flow;
  const reads = flow.top[r]
    .map(([text, p]) => `${quote(text)} (${share(p)})`)
    .join(", ");
  const now = number(lengths[r], 1);
  if (r === 0)
    return `The embedding of t${token(flow)}, has length ${now}. The lens reads ${reads}.`;
  const angle = degrees(cosines[r - 1]);
  const end =
    norm === "post"
      ? `and the norm makes the sum ${now} long`
      : `which is then ${now} long`;
  return (
    `Block ${block(r)}, ${part(r)}, adds ${number(changes[r - 1], 1)} at ${angle}°, ${way(angle)}, ` +
    `to a stream of ${number(lengths[r - 1], 1)}, ${end}. The lens reads ${reads}.`
  );
}

/** `active` is [row, 0] or null. */
export const sentence = ({ flow }, active) =>
  active ? sentenceOf(flow, active[0]) : overview(flow);

/** What becomes of length and shares in a random stack. */
export function caption(kind, { lengths, shares }) {
  const now = number(lengths.at(-1), 1);
  const what =
    kind === "pre"
      ? "Pre-norm: nothing shortens the stream: it grows about like the root of depth, " +
        `${number(lengths[0], 1)} to ${now} in ${shares.length / 2} blocks. On the whole, though ` +
        "not each time, additions count less"
      : `Post-norm: each norm puts the stream back to the same length, ${now}. New additions ` +
        "stay large, and what was there before shrinks";
  return `${what}: the first is ${percent(shares[0])} as long as stream + addition, the last ${percent(shares.at(-1))}.`;
}

const nameOf = (r) => (r ? `block ${block(r)}, ${part(r)}` : "embedding");

function row({ lengths, changes, cosines, top, answer }, r) {
  const added = r ? [number(changes[r - 1]), `${degrees(cosines[r - 1])}°`] : ["", ""];
  const best = top[r].map(([text, p]) => `${tokenText(text, 40)} ${number(p, 4)}`);
  return [nameOf(r), number(lengths[r]), ...added, ...best, number(answer[r], 4)];
}

export function table({ flow, state: { residual, stacks } }) {
  const ranks = flow.top[0].map((_, i) => `no. ${i + 1}`);
  const stack = stacks[residual];
  return {
    caption: "The stream behind each layer, and a random stack below",
    header: [
      "after",
      "length",
      "addition",
      "angle",
      ...ranks,
      `answer ${quote(leader(flow, -1), 40)}`,
    ],
    rows: [
      ...flow.lengths.map((_, r) => row(flow, r)),
      ...stack.lengths.map((x, r) => [
        `random ${residual}-norm stack: ${nameOf(r)}`,
        number(x),
        r ? `${percent(stack.shares[r - 1])} of stream + addition` : "",
        "",
        "",
        ...ranks.map(() => ""),
      ]),
    ],
  };
}
