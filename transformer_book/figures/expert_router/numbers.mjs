// Who gets which tokens: from the state alone, no DOM.
import { range, softmax, sum } from "../kit/index.mjs";

/** The logits that are shown: tokens by experts. */
const logitsOf = ({ balance, balanced, without, frame }) =>
  (balance ? balanced : without)[frame];

/** The k largest, the largest first; of equal ones the first. */
const largest = (row, k) =>
  range(row.length)
    .sort((a, b) => row[b] - row[a] || a - b)
    .slice(0, k);

/** For each token and its experts: whether each still had room, tokens in order. */
function admitted(chosen, nExperts, slots) {
  const taken = Array(nExperts).fill(0);
  return chosen.map((experts) => experts.map((expert) => taken[expert]++ < slots));
}

/** All that the figure draws or says of one step. */
export function read(state) {
  const logits = logitsOf(state);
  const [n, nExperts, k] = [logits.length, logits[0].length, state.top_k];
  const probabilities = logits.map(softmax);
  const chosen = logits.map((row) => largest(row, k));
  const weights = chosen.map((experts, t) => {
    const all = experts.map((expert) => probabilities[t][expert]);
    return all.map((p) => p / sum(all));
  });
  const slots = Math.ceil((state.capacity * n * k) / nExperts - 1e-9);
  const kept = admitted(chosen, nExperts, slots);
  const experts = range(nExperts);
  const counts = experts.map(
    (expert) => chosen.filter((all) => all.includes(expert)).length,
  );
  const loads = counts.map((count) => count / (n * k));
  const means = experts.map((expert) => sum(probabilities.map((p) => p[expert])) / n);
  const loss = nExperts * sum(experts.map((i) => loads[i] * means[i]));
  const dropped = kept.flat().filter((is) => !is).length;
  return {
    ...{ logits, n, nExperts, probabilities, chosen, weights, kept },
    ...{ slots, counts, loads, means, loss, dropped },
  };
}
