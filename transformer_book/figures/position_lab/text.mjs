// What PositionLab says. No DOM.
import { commas, number, quote, short, tokenText } from "../kit/index.mjs";
import { slopeOf } from "./numbers.mjs";

/** With two digits, or four where `own` is small. */
const amount = (x, own = x) => short(x, Math.abs(own) >= 0.1 ? 2 : 4);
const of = (x, own) => `${amount(x, own)}; with itself ${amount(own)}`;

/** Positions until a dimension of the sinusoid repeats. */
const period = ({ base, d_model: width }, i) =>
  2 * Math.PI * base ** ((i - (i % 2)) / width);

/** Whether a dimension of the sinusoid repeats in the picture: "fast", else "slow". */
export const pace = ({ state, length }, i) =>
  state.kind !== "sinusoidal" ? "" : period(state, i) <= length ? "fast" : "slow";

function wave(geometry, i) {
  const x = period(geometry.state, i);
  return (
    `Dimension ${i} is a ${i % 2 ? "co" : ""}sine that repeats every ` +
    `${x < 100 ? number(x, 1) : commas(x)} positions: ${pace(geometry, i)}.`
  );
}

function alike({ similarity, m }) {
  const row = similarity[m];
  const top = Math.max(...row.filter((_, n) => n !== m));
  const best = [...row.keys()].filter((n) => n !== m && top - row[n] < 1e-9);
  if (best.length > 2)
    return `position ${m} is equally similar to ${best.length} others`;
  return `position ${m} is most similar to ${best.join(" and ")} (${of(top, row[m])})`;
}

function overview(geometry) {
  const { state, length, width, head, shown } = geometry;
  if (state.kind === "none")
    return "Nothing is added, so all positions are alike: without a mask, order is invisible.";
  if (state.kind === "alibi")
    return (
      `ALiBi, head ${head}: each step of distance lowers the score by ` +
      `${short(slopeOf(state.n_heads, head), 4)}.`
    );
  if (state.kind === "sinusoidal" && state.view !== "similarity") {
    const ends = [shown[0], shown.at(-1)];
    const said = new Set(ends.map((i) => wave(geometry, i)));
    if (new Set(ends.map((i) => pace(geometry, i))).size > 1)
      said.add("Fast dimensions tell neighbors apart, slow ones near from far.");
    return [...said].join(" ");
  }
  const what =
    state.kind === "sinusoidal"
      ? "Sinusoidal"
      : `Learned, ${state.rows.length ? "your rows" : "untrained"}`;
  const end =
    length < state.length ? ` The table ends: there is no row ${length}.` : "";
  return `${what}, ${length} positions by ${width} dimensions: ${alike(geometry)}.${end}`;
}

function pair({ state: { kind, n_heads: heads }, similarity, head }, m, n) {
  const apart = `${Math.abs(m - n)} apart`;
  if (kind === "alibi") {
    const lost = slopeOf(heads, head) * Math.abs(m - n);
    return `Query ${m}, key ${n}, ${apart}: head ${head} lowers the score by ${short(lost, 4)}.`;
  }
  const own = similarity[m][m];
  const remark = kind === "sinusoidal" ? ` It is the same for all pairs ${apart}.` : "";
  return `Positions ${m} and ${n}, ${apart}: similarity ${of(similarity[m][n], own)}.${remark}`;
}

function cell(geometry, i, m) {
  const {
    state: { kind },
    values,
  } = geometry;
  const known = kind === "sinusoidal";
  return (
    `Position ${m}, dimension ${i}: ${number(values[m][i], known ? 2 : 4)}.` +
    (known ? ` ${wave(geometry, i)}` : "")
  );
}

function sentences({ state, words }) {
  const { tokens, order, kind, other } = state;
  if (other in order)
    return `Picked ${quote(tokens[order[other]])}; tap a second word to swap.`;
  const moved = order
    .map((old) => tokens[old])
    .filter((token, place) => token !== tokens[place]);
  if (!moved.length) return "Both sentences are the same. Tap two words to swap them.";
  const start =
    moved.length === 2
      ? `${quote(moved[0])} and ${quote(moved[1])} have swapped places`
      : `${moved.length} of ${tokens.length} words have moved`;
  const same = words.same.filter(Boolean).length;
  const vectors =
    `${start}. ` +
    (kind === "alibi"
      ? "ALiBi adds nothing to the input vectors; it lowers scores by distance"
      : `With${kind === "none" ? "out" : ` ${kind}`} positions, ${same} of ${tokens.length} input vectors are in both sentences`);
  const change = Math.max(...words.change);
  const by = change < 5e-5 ? "less than 0.0001" : `up to ${amount(change)}`;
  return change < 1e-9
    ? `${vectors}, and only the order of the outputs changes: ` +
        `${kind === "none" ? "order" : "this change"} is invisible.`
    : `${vectors}, and outputs change by ${by}: order is visible.`;
}

/** `active` is ["cell", dimension, m], ["pair", m, n], ["word", 0, place] or null. */
export function sentence(geometry, active) {
  const [kind, a, b] = active ?? [];
  if (geometry.state.view === "order") return sentences(geometry);
  if (kind === "pair") return pair(geometry, a, b);
  return kind === "cell" ? cell(geometry, a, b) : overview(geometry);
}

export function table({ state, values, similarity, words, m, alibi }) {
  if (state.view === "order")
    return {
      caption: "The words of the shuffled sentence",
      header: ["word", "from", "to", "input vector", "output changes by"],
      rows: state.order.map((old, place) => [
        tokenText(state.tokens[old], 40),
        old,
        place,
        words.same[place] ? "the same" : "new",
        number(words.change[place], 4),
      ]),
    };
  if (state.view === "similarity")
    return {
      caption: `Position ${m}`,
      header: ["position", "distance", alibi ? "bias" : "similarity"],
      rows: similarity[m].map((x, n) => [n, n - m, number(x, 4)]),
    };
  const [down, across] = alibi ? ["query", "key"] : ["position", "dim"];
  return {
    caption: "What is added",
    header: [down, ...values[0].map((_, i) => `${across} ${i}`)],
    rows: values.map((row, i) => [i, ...row.map((x) => number(x, 4))]),
  };
}
