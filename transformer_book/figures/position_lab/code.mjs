// The equation of a kind, its line of PyTorch, and the state as a program. No DOM.
import { python, pythonRows } from "../kit/index.mjs";
import { wordVectors } from "./numbers.mjs";

const m = ["position", "m", "position"];
const i = ["dimension", "2i"];

/** What a kind adds, in parts that light up with the axes of the heatmap. */
export const EQUATIONS = {
  none: ["input = embedding"],
  sinusoidal: [
    "p[",
    m,
    ", ",
    i,
    "] = sin(",
    m,
    " / base^(",
    i,
    "/d)),  p[",
    m,
    ", ",
    i,
    " + 1] = cos(same)",
  ],
  learned: ["input = embedding + table[", m, "]"],
  alibi: [
    "score − slope · |",
    ["query", "m", "query"],
    " − ",
    ["key", "n", "key"],
    "|",
  ],
};

/** The same in PyTorch, with m = arange(length)[:, None], n = m.T and i = arange(d / 2). */
export const CODE = {
  none: ["x = embedding(ids)"],
  sinusoidal: [
    "p[",
    m,
    ", ",
    ["dimension", "2 * i"],
    "] = torch.sin(",
    m,
    " / base ** (",
    ["dimension", "2 * i"],
    " / d))",
  ],
  learned: ["x = embedding(ids) + table(", m, ")"],
  alibi: [
    "scores - slope * (",
    ["query", "m", "query"],
    " - ",
    ["key", "n", "key"],
    ").abs()",
  ],
};

const vector = (row) => tensor([row]) + "[0]";
const tensor = (rows, digits = 5) =>
  `torch.tensor(${pythonRows(rows, (x) => x.toFixed(digits))}, dtype=torch.float64)`;

const IMPORTS = {
  none: "NoPositions",
  sinusoidal: "sinusoid",
  learned: "LearnedPositions",
  alibi: "alibi_slopes",
};

/** Lines that build `positions`, (length, width), or ALiBi's `bias`, by the library. */
function build({ state, head }, rows) {
  const size = `${rows.length}, ${rows[0].length}`;
  const embed = `.embed(torch.zeros(${size}, dtype=torch.float64), position_ids)`;
  return [
    `position_ids = torch.arange(${rows.length})`,
    ...{
      none: [`positions = NoPositions()${embed}`],
      sinusoidal: [
        `positions = sinusoid(position_ids.double(), ${rows[0].length}, base=float(${state.base}))`,
      ],
      learned: [
        `learned = LearnedPositions(${size})`,
        `learned.table.weight.data = ${tensor(rows)}`,
        `positions = learned${embed}.detach()`,
      ],
      alibi: [
        "distance = (position_ids[:, None] - position_ids).abs()",
        `bias = -alibi_slopes(${state.n_heads})[${head}] * distance`,
      ],
    }[state.kind],
  ];
}

function shuffled(geometry) {
  const { state, added, alibi } = geometry;
  const add = alibi ? "" : " + positions";
  return [
    `tokens = ${python(state.tokens)}`,
    `order = torch.tensor(${python(state.order)})`,
    `words = ${tensor(wordVectors(state.tokens, added[0].length), 6)}`,
    ...build(geometry, added),
    "",
    "",
    "def mix(x):",
    `    return torch.softmax(x @ x.T${alibi ? " + bias" : ""}, dim=-1) @ x`,
    "",
    "",
    `before, after = mix(words${add}), mix(words[order]${add})`,
  ];
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const { values, similarity, alibi, words } = geometry;
  const order = state.view === "order";
  const [shown, expected] = order
    ? ["(after - before[order]).abs().amax(dim=-1)", vector(words.change)]
    : alibi
      ? ["bias", tensor(values)]
      : state.view === "similarity"
        ? ["positions @ positions.T", tensor(similarity)]
        : ["positions", tensor(values)];
  return [
    "import torch",
    "",
    `from transformer_lib.positions import ${IMPORTS[state.kind]}`,
    "",
    ...(order ? shuffled(geometry) : build(geometry, values)),
    `shown = ${shown}`,
    `expected = ${expected}`,
    "torch.testing.assert_close(shown, expected, rtol=0, atol=1e-4)",
    "",
  ].join("\n");
}
