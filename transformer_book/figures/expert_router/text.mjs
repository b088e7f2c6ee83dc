// What the figure says: sentence, data table, and a program for PyTorch. No DOM.
import { number, percent, python, pythonRows, quote, short } from "../kit/index.mjs";

const RANKS = ["first", "second", "third"];
const rankOf = (i) => RANKS[i] ?? `${i + 1}th`;

const named = (experts) =>
  experts.length === 1
    ? `expert ${experts[0]}`
    : `experts ${experts.slice(0, -1).join(", ")} and ${experts.at(-1)}`;

const where = (f, all) => all.map((_, i) => i).filter((i) => f(all[i]));

/** What the router does with all tokens. */
function overview({ state, counts, n, loads, loss, slots, dropped }) {
  const { balance, steps, frame, top_k: k } = state;
  const most = Math.max(...counts);
  const [busy, idle] = [
    where((x) => x === most, counts),
    where((x) => x === 0, counts),
  ];
  const gets = busy.length === 1 ? "gets" : "get";
  const none = idle.length ? `, and ${named(idle)} nothing` : "";
  return (
    `Step ${steps[frame]}, ${balance ? "with" : "without"} the balancing loss: ` +
    `${named(busy)} ${gets} ${busy.length === 1 ? "" : "each "}${percent(loads[busy[0]])} of the ` +
    `${n * k} assignments${none}. The balancing loss would be ${number(loss)}; even is 1.00. ` +
    `With room for ${slots} each, ${dropped} ${dropped === 1 ? "is" : "are"} dropped.`
  );
}

/**
 * What happens between one expert and one token.
 * @type {(geometry: any, at: number[]) => string}
 */
export function pair({ state, probabilities, chosen, weights, kept }, [expert, token]) {
  const rank = chosen[token].indexOf(expert);
  const start =
    `Token ${quote(state.tokens[token])} at position ${token}: expert ${expert} has a ` +
    `probability of ${percent(probabilities[token][expert])}`;
  if (rank < 0) return `${start} and is not chosen.`;
  const choice = `${start} and is its ${rankOf(rank)} choice, with weight ${number(weights[token][rank])}`;
  return kept[token][rank]
    ? `${choice}.`
    : `${choice}, but the expert is full: this assignment is dropped.`;
}

export const sentence = (geometry, active) =>
  active ? pair(geometry, active) : overview(geometry);

export const table = ({ counts, loads, means, slots }) => ({
  caption: "Experts: how often they are chosen, and what does not fit",
  header: ["expert", "assignments", "load", "mean probability", "dropped"],
  rows: counts.map((count, i) => [
    i,
    count,
    number(loads[i], 4),
    number(means[i], 4),
    Math.max(0, count - slots),
  ]),
});

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, { logits, nExperts, counts, loss, slots, dropped }) {
  return `import torch

tokens = ${python(state.tokens)}
logits = torch.tensor(${pythonRows(logits, (x) => python(short(x, 4)).replaceAll('"', ""))}, dtype=torch.float64)
top_k = ${state.top_k}

probabilities = logits.softmax(dim=-1)
chosen = logits.argsort(dim=-1, descending=True, stable=True)[:, :top_k]
counts = torch.bincount(chosen.flatten(), minlength=${nExperts})
load = counts / counts.sum()
loss = ${nExperts} * (load * probabilities.mean(dim=0)).sum()
dropped = (counts - ${slots}).clamp(min=0).sum()  # each expert has room for ${slots}

assert counts.tolist() == ${python(counts)}
assert abs(loss - ${number(loss, 6)}) < 1e-5
assert dropped == ${dropped}
`;
}

/** Parts of the same name light up together, and what is drawn with that data-part. */
export const formula = {
  equation: [["loss", "loss"], " = n · Σ ", ["load", "load"], " · mean probability"],
  code: [
    ["loss", "loss"],
    " = n_experts * (",
    ["load", "load"],
    " * probabilities.mean(dim=0)).sum()",
  ],
};
