// The equation of a kind, its line of PyTorch, and the state as a program. No DOM.
import { python } from "../kit/index.mjs";
import { wordVectors } from "./values.mjs";

const float = (x) => (Number.isInteger(x) ? `${x}.0` : String(x));
const m = ["position", "m", "position"];
const i = ["dimension", "i"];
const d = ["width", "d"];

/** Equation and code in parts; parts of the same name belong together. */
export function formula(state) {
  const { kind, length, d_model: width, base, n_heads: heads, head } = state;
  const places = ["position", `torch.arange(${length})`, "position"];
  if (kind === "none")
    return {
      equation: [["input", "input"], " = ", ["word", "word"]],
      code: [["input", "input"], " = ", ["word", "embedding(tokens)"]],
    };
  if (kind === "alibi")
    return {
      equation: [
        ["score", "score"], "[", m, ", ", ["key", "n", "key"], "] − ", ["slope", "slope"],
        " · ", ["distance", "|m − n|"],
      ],
      code: [
        ["score", "scores"], " - ", ["slope", `alibi_slopes(${heads})[${head}]`], " * ",
        ["distance", "distance"],
      ],
    };
  if (kind === "learned")
    return {
      equation: [["input", "input"], " = ", ["word", "word"], " + ", ["table", "table"], "[", m, "]"],
      code: [
        ["input", "input"], " = ", ["word", "embedding(tokens)"], " + ", ["table", "table"], "(",
        places, ")",
      ],
    };
  const angle = [m, " / ", ["base", "base"], "^(2", i, "/", d, ")"];
  return {
    equation: [
      "p[", m, ", 2", i, "] = sin(", ...angle, "),  p[", m, ", 2", i, " + 1] = cos(same)",
    ],
    code: [
      "p = sinusoid(", places, ", ", ["width", String(width)], ", ",
      ["base", `base=${float(base)}`], ")",
    ],
  };
}

const tensor = (rows, digits = 5) =>
  `torch.tensor([\n${rows
    .map((row) => `    [${row.map((x) => x.toFixed(digits)).join(", ")}],\n`)
    .join("")}])`;

/** Lines that build `positions`, (length, width), with the book's library. */
function vectors({ kind, base }, values) {
  const [length, width] = [values.length, values[0].length];
  const places = `torch.arange(${length})`;
  if (kind === "sinusoidal")
    return [`positions = sinusoid(${places}, ${width}, base=${float(base)})`];
  if (kind === "learned")
    return [
      `learned = LearnedPositions(${length}, ${width})`,
      `learned.table.weight.data = ${tensor(values)}`,
      `positions = learned.embed(torch.zeros(${length}, ${width}), ${places}).detach()`,
    ];
  return [`positions = NoPositions().embed(torch.zeros(${length}, ${width}), ${places})`];
}

const IMPORTS = {
  none: "NoPositions", sinusoidal: "sinusoid", learned: "LearnedPositions",
  alibi: "alibi_slopes",
};

const bias = ({ n_heads: heads }, head, length) => [
  `places = torch.arange(${length})`,
  "distance = (places[:, None] - places).abs()",
  `bias = -alibi_slopes(${heads})[${head}].float() * distance`,
];

const equal = (name, atol = "1e-4") =>
  `torch.testing.assert_close(${name}, shown, rtol=0, atol=${atol})`;

function shuffled({ state, added, words, head }) {
  const { tokens, order, kind } = state;
  const alibi = kind === "alibi";
  return [
    `tokens = ${python(tokens)}`,
    `order = torch.tensor(${python(order)})`,
    `words = ${tensor(wordVectors(tokens, added[0].length), 6)}`,
    ...(alibi ? bias(state, head, tokens.length) : vectors(state, added)),
    "", "",
    "def mix(x):",
    `    weights = torch.softmax(x @ x.T${alibi ? " + bias" : ""}, dim=-1)`,
    "    return weights @ x", "", "",
    ...(alibi
      ? ["before, after = mix(words), mix(words[order])"]
      : ["before, after = mix(words + positions), mix(words[order] + positions)"]),
    "change = (after - before[order]).abs().amax(dim=-1)",
    `shown = torch.tensor([${words.change.map((x) => x.toFixed(5)).join(", ")}])`,
    equal("change", "1e-3"),
  ];
}

function matrix({ state, values, similarity, head, m: row }) {
  const alibi = state.kind === "alibi";
  const lines = alibi ? bias(state, head, values.length) : vectors(state, values);
  if (alibi || state.view !== "similarity") {
    const name = alibi ? "bias" : "positions";
    return [...lines, `shown = ${tensor(values)}`, equal(name)];
  }
  return [
    ...lines, "similarity = positions @ positions.T",
    `shown = torch.tensor([${similarity[row].map((x) => x.toFixed(4)).join(", ")}])`,
    equal(`similarity[${row}]`, "1e-3"),
  ];
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const lines = state.view === "order" ? shuffled(geometry) : matrix(geometry);
  return [
    "import torch", "", `from transformer_lib.positions import ${IMPORTS[state.kind]}`, "",
    ...lines, "",
  ].join("\n");
}
