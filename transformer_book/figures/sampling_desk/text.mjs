// What SamplingDesk says, in words, table and code. No DOM.
import { number, percent, python, quote, short } from "../kit/index.mjs";
import { LONGER } from "./model.mjs";
import { filters, others } from "./numbers.mjs";

/** What is on, with its value: "temperature 0.7", "top-k 8". */
export const reshapers = (state) => [
  ...(state.temperature === 1 ? [] : [`temperature ${short(state.temperature, 4)}`]),
  ...filters(state).map(([words, , value]) => `${words} ${short(value, 4)}`),
];

/** The end of a text, from a word on if one begins there. */
export function tail(whole) {
  const signs = [...whole];
  if (signs.length <= 24) return whole;
  return `…${signs
    .slice(-24)
    .join("")
    .replace(/^([^ \n]*[ \n]+(?=[^ \n])|.)/su, "")}`;
}

function overview(geometry) {
  const { state, order, before, after, drawn, read } = geometry;
  const { count } = state;
  const first = quote(state.tokens[order[0]]);
  const draws = count
    ? `Of ${count} draws, ${drawn[0]} gave ${first} (${number(count * after[0], 0)} expected). `
    : "";
  const start =
    `${draws}After ${quote(tail(read))}, none of ${order.length} tokens is likelier than ` +
    `${first} (${percent(before[0])})`;
  const named = reshapers(state);
  const said = named.length
    ? `${start}; ${named.join(", ").replace(/,(?!.*,)/, " and")} ${named.length === 1 ? "makes" : "make"} that ` +
      `${percent(after[0])}. ${staying(geometry)}`
    : `${start}. The distribution is unchanged.`;
  return said + trapped(geometry);
}

function staying({ state: { temperature }, order, cut, share }) {
  const gone = cut.filter(Boolean).length;
  if (!gone) return `All ${order.length} tokens remain.`;
  const stay = order.length - gone;
  const heat = [0, 1].includes(temperature)
    ? ""
    : `at temperature ${short(temperature, 4)} `;
  return (
    `${stay} token${stay > 1 ? `s remain; ${heat}they` : ` remains; ${heat}it`} had ${percent(share)} ` +
    `of the probability before the other${gone > 1 ? ` ${gone} were` : " was"} cut off.`
  );
}

/** Whether both continuations are written to their ends. */
export const isDone = ({ greedy, sampled }) =>
  [greedy, sampled].every((one) => one?.ids.length === LONGER);

function trapped({ trap }) {
  if (!trap) return "";
  if (!isDone(trap))
    return ` The greedy trap ${trap.greedy ? "is being written" : "has not started"}.`;
  return (
    ` In the next ${LONGER} tokens, greedy decoding repeats ${percent(trap.greedy.share)} ` +
    `of its 4-grams, sampling ${percent(trap.sampled.share)}.`
  );
}

function held({ state, order, before, after, cut, drawn }, place) {
  const now = cut[place]
    ? `cut off by ${cut[place]}`
    : `${percent(after[place])} after`;
  const draws = state.count
    ? `; drawn ${drawn[place]} times in ${state.count} ` +
      `(${number(state.count * after[place], 0)} expected)`
    : "";
  return (
    `${quote(state.tokens[order[place]])} ranks ${before.indexOf(before[place]) + 1} of ${order.length}: ` +
    `${percent(before[place])} before, ${now}${draws}.`
  );
}

/** `active` is [id] of a token, or null. */
export function sentence(geometry, active) {
  const place = active ? geometry.order.indexOf(active[0]) : -1;
  const problem = geometry.problem
    ? `${geometry.problem} The numbers shown are for another text. `
    : "";
  return problem + (place < 0 ? overview(geometry) : held(geometry, place));
}

export function table(geometry) {
  const { state, order, before, after, cut, drawn, listed, read } = geometry;
  const rest = others(geometry);
  return {
    caption: `Next tokens after ${quote(tail(read))}`,
    header: ["token", "before", "after", "cut off by", "drawn"],
    rows: [
      ...listed.map((i) => [
        quote(state.tokens[order[i]]),
        number(before[i], 4),
        number(after[i], 4),
        cut[i],
        drawn[i],
      ]),
      ...(rest.n
        ? [
            [
              `${rest.n} others`,
              number(rest.before, 4),
              number(rest.after, 4),
              rest.gone ? `${rest.gone} of them` : "",
              rest.drawn,
            ],
          ]
        : []),
    ],
  };
}

const rows = (list, show) =>
  list.map((x, i) => `${i % 8 ? " " : "\n    "}${show(x)},`).join("");

const float = (x) => (Number.isInteger(x) ? `${x}.0` : String(x));

/** What filter_logits is called with: [name, value as Python writes it]. */
export const asked = (state) => [
  ["temperature", float(state.temperature)],
  ...filters(state).map(([, name, value]) => [
    name,
    name === "top_k" ? value : float(value),
  ]),
];

/** The state as a program that reshapes the same logits, draws, and asserts what is shown. */
export function pytorch(state, { logits, order, before, after, cut, drawn }) {
  const words = asked(state).map(([name, value]) => `${name}=${value}`);
  const shown = order.slice(0, 12);
  const { count, seed } = state;
  return [
    "import torch",
    "",
    "from transformer_lib.sampling import filter_logits",
    "",
    `logits = torch.tensor([${rows(Array.from(logits), (x) => number(x, 4))}\n], dtype=torch.float64)`,
    `shown = [${shown.join(", ")}]  # ids of the most likely tokens`,
    ...shown.map((id) => `#   ${id}: ${python(quote(state.tokens[id]))}`),
    "",
    `kept = filter_logits(logits, ${words.join(", ")})`,
    "for one, expected in (",
    ...[
      ["logits", before],
      ["kept", after],
    ].map(
      ([name, shares]) =>
        `    (${name}, [${shown.map((_, i) => number(shares[i], 6)).join(", ")}]),`,
    ),
    "):",
    "    shares = one.softmax(dim=-1)[shown]",
    "    expected = torch.tensor(expected, dtype=torch.float64)",
    "    torch.testing.assert_close(shares, expected, rtol=0, atol=1e-3)",
    `assert kept.isinf().sum() == ${cut.filter(Boolean).length}`,
    "",
    ...(count
      ? [
          `seed, numbers = ${seed}, []`,
          `for _ in range(${3 + state.drawn.length + count}):  # Park and Miller`,
          "    seed = 48271 * seed % (2**31 - 1)",
          "    numbers.append(seed / (2**31 - 1))",
          `u = torch.tensor(numbers[-${count}:], dtype=torch.float64)`,
          "sums = kept.sort(descending=True, stable=True).values.softmax(dim=-1).cumsum(dim=-1)",
          "drawn = torch.searchsorted(sums, u * sums[-1]).bincount(minlength=len(shown))",
          `assert drawn[:len(shown)].tolist() == [${drawn.slice(0, shown.length).join(", ")}]`,
          "",
        ]
      : []),
  ].join("\n");
}
