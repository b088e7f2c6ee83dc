// What PositionLab says; position_words.py says the same. No DOM.
import { number, quote, short, tokenText } from "../kit/index.mjs";
import { slopeOf } from "./values.mjs";

/** With two digits, or four where `own` is small. */
const amount = (x, own = x) => short(x, Math.abs(own) >= 0.1 ? 2 : 4);
const of = (x, own) => `${amount(x, own)}, with itself ${amount(own)}`;
export const commas = (x) => String(Math.floor(x + 0.5)).replace(/\B(?=(\d{3})+$)/g, ",");

/** Positions until a dimension of the sinusoid repeats: "6.3", "19,869". */
export function period({ base, d_model: width }, dimension) {
  const x = 2 * Math.PI * base ** ((2 * Math.floor(dimension / 2)) / width);
  return x < 100 ? number(x, 1) : commas(x);
}

function alike({ similarity, m }) {
  const row = similarity[m];
  const top = Math.max(...row.filter((_, n) => n !== m));
  const near = 1e-9 * Math.max(1e-9, ...row.map(Math.abs));
  const best = [...row.keys()].filter((n) => n !== m && top - row[n] <= near);
  if (best.length > 2) return `position ${m} is equally like ${best.length} others`;
  const next = best.every((n) => Math.abs(n - m) === 1) ? "its neighbor" : "position";
  return (
    `position ${m} is most like ${next}${best[1] === undefined ? "" : "s"} ` +
    `${best.join(" and ")} (similarity ${of(top, row[m])})`
  );
}

function overview(geometry) {
  const { state, length, width, m, head } = geometry;
  const size = `${length} positions by ${width} dimensions`;
  if (state.kind === "none")
    return `No positions, ${size}: nothing is added, so all positions look alike.`;
  if (state.kind === "alibi") {
    const far = Math.max(m, length - 1 - m);
    const slope = slopeOf(state.n_heads, head);
    return (
      `ALiBi, head ${head} of ${state.n_heads}: each step of distance lowers the score by ` +
      `${short(slope, 4)}. Query ${m} loses nothing at itself, and ${short(slope * far)} ` +
      `at ${far} steps.`
    );
  }
  const last = 2 * Math.floor((width - 1) / 2);
  const what =
    state.kind === "sinusoidal"
      ? `Sinusoidal, ${size}. Dimension 0 repeats every ${period(state, 0)} positions, ` +
        `dimension ${last} every ${period(state, last)}`
      : `Learned, ${size}, ${state.rows.length ? "your rows" : "not trained yet"}`;
  const end = length < state.length ? ` The table ends: there is no row ${length}.` : "";
  return `${what}; ${alike(geometry)}.${end}`;
}

function pair({ state: { kind, n_heads: heads }, similarity, head }, m, n) {
  const apart = `${Math.abs(m - n)} apart`;
  if (kind === "alibi") {
    const lost = slopeOf(heads, head) * Math.abs(m - n);
    return `Query ${m}, key ${n}, ${apart}: head ${head} lowers the score by ${short(lost, 4)}.`;
  }
  const own = similarity[m][m];
  if (m === n) return `Position ${m}: similarity ${of(own, own)}.`;
  const remark =
    kind === "none" ? " So it is for every pair."
    : kind === "sinusoidal" ? ` So it is for all that are ${apart}.` : "";
  return `Positions ${m} and ${n}, ${apart}: similarity ${of(similarity[m][n], own)}.${remark}`;
}

function cell({ state, values }, i, m) {
  const place = `Position ${m}, dimension ${i}`;
  if (state.kind === "none") return `${place}: 0, nothing is added.`;
  if (state.kind === "learned") return `${place}: ${number(values[m][i], 4)}.`;
  return (
    `${place}: ${number(values[m][i])}. Dimension ${i} is a ${i % 2 ? "co" : ""}sine that ` +
    `repeats every ${period(state, i)} positions.`
  );
}

export const STARTS = {
  none: "Without positions",
  sinusoidal: "With sinusoidal positions",
  learned: "With learned positions",
  alibi: "With ALiBi",
};

function sentences({ state, words }) {
  const { tokens, order, kind } = state;
  if (order.every((old, place) => tokens[old] === tokens[place]))
    return "Both sentences are the same, word for word. Shuffle the words.";
  const same = words.same.filter(Boolean).length;
  const vectors =
    `${STARTS[kind]}, ${same} of ${tokens.length} input vectors are the same in both sentences`;
  const change = Math.max(...words.change);
  return change < 1e-9
    ? `${vectors}, and no output changes: ${kind === "none" ? "order" : "this change"} is invisible.`
    : `${vectors}, and outputs change by up to ${amount(change)}: order is visible.`;
}

function word({ state, words }, place) {
  const old = state.order[place];
  const goes =
    old === place ? `stays at position ${place}` : `moves from position ${old} to ${place}`;
  const change = words.change[place];
  return (
    `${quote(state.tokens[old])} ${goes}: its input vector ` +
    `${words.same[place] ? "is in both sentences" : "is new"}, and its output ` +
    `${change < 1e-9 ? "does not change" : `changes by up to ${amount(change)}`}.`
  );
}

/** `active` is ["cell", dimension, m], ["pair", m, n], ["word", 0, place] or null. */
export function sentence(geometry, active) {
  const [kind, a, b] = active ?? [];
  if (kind === "word") return word(geometry, b);
  if (kind === "pair") return pair(geometry, a, b);
  if (kind === "cell") return cell(geometry, a, b);
  return geometry.state.view === "order" ? sentences(geometry) : overview(geometry);
}

export function table({ state, values, similarity, words, m, alibi }) {
  if (state.view === "order")
    return {
      caption: "The words of the shuffled sentence",
      header: ["word", "from", "to", "input vector", "output changes by"],
      rows: state.order.map((old, place) => [
        tokenText(state.tokens[old], 40), old, place,
        words.same[place] ? "the same" : "new", number(words.change[place], 4),
      ]),
    };
  if (state.view === "similarity")
    return {
      caption: `Position ${m} and each position`,
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
