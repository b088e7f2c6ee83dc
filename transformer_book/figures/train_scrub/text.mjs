// What TrainScrub says, in words, table and code. No DOM.
import { number, python, quote, tokenText } from "../kit/index.mjs";

const QUESTION =
  "At which step does the second copy become easy, its loss below half the first copy’s? " +
  "Predict it first.";

function prediction({ state: { predicted: step, steps }, fall, answered }) {
  if (answered)
    return (
      `${step < 0 ? "The" : `You predicted step ${step}; the`} second copy’s loss ` +
      `was ${fall < 0 ? "never " : ""}below half the first copy’s` +
      `${fall < 0 ? "" : ` by step ${steps[fall]}`}.`
    );
  if (step < 0) return QUESTION;
  return `You predict that the second copy becomes easy at step ${step}.`;
}

function overview(geometry) {
  const { state, n, last, foreseen, scores, stages } = geometry;
  const { frame: k, steps, first, second } = state;
  const [previous, induction] = scores[k];
  const stage = stages.findLast(({ from }) => from <= k).name;
  const said =
    `Step ${steps[k]} of ${last}, reached stage ${quote(stage)}: the loss is ` +
    `${number(first[k])} in the first copy, ` +
    `${number(second[k])} in the second; ${foreseen[k]} of ${n - 1} repeated tokens are ` +
    `predicted. Scores: previous-token head ${number(previous)}, induction head ` +
    `${number(induction)}.`;
  const guess = prediction(geometry);
  return guess === QUESTION ? `${guess} ${said}` : `${said} ${guess}`; // it comes first
}

/**
 * What one head's weight is.
 * @type {(geometry: any, at: number[]) => string}
 */
export const weight = ({ state, n, text }, [head, query, key]) => {
  const { steps, frame, heads, maps } = state;
  const start =
    `Step ${steps[frame]}, ${tokenText(heads[head], 40)}: ${quote(text[query])} at ` +
    `position ${query} `;
  if (key > query)
    return `${start}may not attend to ${quote(text[key])} at position ${key}, which comes later.`;
  const relations = new Map([
    [query, ", itself"],
    [query - n, ", the same token, one copy earlier"],
    [
      query < n ? -1 : query - n + 1,
      ", what followed the same token in the first copy",
    ],
    [query - 1, ", the previous token"],
  ]);
  return (
    `${start}attends about ${maps[frame][head][query][key]}% to ${quote(text[key])} at position ` +
    `${key}${relations.get(key) ?? ""}.`
  );
};

/** `active` is [head, query, key] or null. */
export const sentence = (geometry, active) =>
  active ? weight(geometry, active) : overview(geometry);

export const table = ({
  state: { steps, first, second },
  n,
  foreseen,
  scores,
  revealed,
}) => ({
  caption: "The steps seen so far: losses in nats, tokens predicted, head scores",
  header: [
    "step",
    "loss in first copy",
    "loss in second copy",
    `predicted of ${n - 1}`,
    "previous-token score",
    "induction score",
  ],
  rows: steps
    .slice(0, revealed + 1)
    .map((step, k) => [
      step,
      number(first[k], 3),
      number(second[k], 3),
      foreseen[k],
      ...scores[k].map((score) => number(score)),
    ]),
});

const lines = (rows) => `[\n${rows.map((row) => `    ${python(row)},\n`).join("")}]`;

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(_, { state, n, text, foreseen, scores, fall, revealed }) {
  const { frame: k, said, heads, maps } = state;
  const [steps, first, second] = [state.steps, state.first, state.second].map((all) =>
    all.slice(0, revealed + 1),
  );
  const head = (name, h, score) => [
    `${name} = weights_of(${lines(maps[k][h])})  # in percent; ${tokenText(heads[h], 30)}`,
    `assert abs(${score} - ${number(scores[k][h], 6)}) < 1e-5`,
    "",
  ];
  return [
    "import torch",
    "",
    "from transformer_lib.inspection import induction_score, previous_token_score",
    "",
    `steps = torch.tensor(${python(steps)})`,
    `first = torch.tensor(${python(first)})`,
    `second = torch.tensor(${python(second)})`,
    "easy = steps[second < first / 2]",
    fall < 0 || fall > revealed
      ? "assert len(easy) == 0"
      : `assert easy[0] == ${steps[fall]}`,
    "",
    `# step ${steps[k]}`,
    `text = ${python(text)}`,
    `said = ${python(said[k])}`,
    "right = [guess == token for guess, token in zip(said, text[1:])]",
    `assert sum(right[${n}:]) == ${foreseen[k]}`,
    "",
    "",
    "def weights_of(rows):",
    "    filled = [row + [0] * (len(rows) - len(row)) for row in rows]",
    "    return torch.tensor(filled)[None, None] / 100",
    "",
    "",
    ...head("previous", 0, "previous_token_score(previous).item()"),
    ...head("induction", 1, `induction_score(induction, ${n}).item()`),
  ].join("\n");
}
