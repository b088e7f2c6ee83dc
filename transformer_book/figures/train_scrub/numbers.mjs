// What TrainScrub reads off a record. No DOM.
const range = (a, b) => Array.from({ length: b - a }, (_, i) => a + i);

/** Where the two heads should look in n tokens and the same again: [[query, key]]. */
const stripes = (n) => [
  range(1, 2 * n).map((i) => [i, i - 1]),
  range(n, 2 * n).map((i) => [i, i - n + 1]),
];

/** The mean weight at these places, in 0..1. */
const score = (weights, places) =>
  places.reduce((total, [query, key]) => total + weights[query][key], 0) /
  places.length /
  100;

/** For each guess whether that token comes; the first token is not guessed. */
const right = (tokens, said) =>
  said.map((guess, i) => guess === tokens[(i + 1) % tokens.length]);

/** Where the second copy's loss is first below this share of the first copy's, or -1. */
const below = (first, second, share) =>
  second.findIndex((loss, k) => loss < share * first[k]);
const fall = (first, second) => below(first, second, 0.5);

const STAGES = ["equal", "slow gain", "fall", "repeats"];
const BELOW = [0.9, 0.75, 0.25];

/** The stages that come: { name, from }, the number of the step at which one begins. */
function stages(first, second) {
  return [0, ...BELOW.map((share) => below(first, second, share))]
    .map((from, i) => ({ name: STAGES[i], from }))
    .filter(({ from }, i, all) => from >= 0 && from !== all[i + 1]?.from);
}

/**
 * All that is read off the state, its record beside the rest: at each step the `scores`
 * of both heads, the `rights` and how many are `foreseen`; the `fall`, or -1; the `stages`.
 */
export function read(state) {
  const { tokens, said, maps, first, second, steps } = state.record;
  const n = tokens.length;
  const places = stripes(n);
  const fallen = fall(first, second);
  const revealed = Math.max(state.frame, state.seen);
  const rights = said.map((guesses) => right(tokens, guesses));
  return {
    state: { ...state.record, ...state },
    n,
    places,
    rights,
    text: [...tokens, ...tokens],
    foreseen: rights.map((all) => all.slice(n).filter(Boolean).length),
    scores: maps.map((heads) => heads.map((weights, h) => score(weights, places[h]))),
    fall: fallen,
    stages: stages(first, second),
    revealed,
    answered: revealed >= (fallen < 0 ? steps.length - 1 : fallen),
    last: steps.at(-1),
  };
}

/** To another step: what was seen stays seen. */
export const goTo =
  (next) =>
  ({ frame, seen, record: { steps } }) => {
    const k = Math.max(0, Math.min(steps.length - 1, next(frame)));
    return { frame: k, seen: Math.max(seen, frame, k) };
  };
