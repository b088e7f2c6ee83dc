// The equation of a kind, its line of PyTorch, and the state as a program. No DOM.
import { python } from "../kit/index.mjs";
import { wordVectors } from "./values.mjs";

const float = (x) => (Number.isInteger(x) ? `${x}.0` : String(x));
const m = ["position", "m", "position"];
const i = ["dimension", "2i"];

/** Equation and code in parts; parts of the same name belong together. */
export function formula({ kind, length, d_model: width, base, n_heads: heads, head }) {
  const places = ["position", `torch.arange(${length})`, "position"];
  const learned = kind === "learned";
  if (kind === "alibi")
    return [
      ["score − ", ["slope", "slope"], " · ", ["distance", "|m − n|"]],
      ["scores - ", ["slope", `alibi_slopes(${heads})[${head}]`], " * ", ["distance", "distance"]],
    ];
  if (kind === "sinusoidal")
    return [
      [
        "p[", m, ", ", i, "] = sin(", m, " / ", ["base", "base"], "^(", i, "/", ["width", "d"],
        ")),  p[", m, ", ", i, " + 1] = cos(same)",
      ],
      ["sinusoid(", places, ", ", ["width", width], ", ", ["base", `base=${float(base)}`], ")"],
    ];
  return [
    ["input = ", ["word", "word"], ...(learned ? [" + table[", m, "]"] : [])],
    [["word", "embedding(tokens)"], ...(learned ? [" + table(", places, ")"] : [])],
  ];
}

const list = (row, digits) => `[${row.map((x) => x.toFixed(digits)).join(", ")}]`;
const tensor = (rows, digits = 5) =>
  `torch.tensor([\n${rows.map((row) => `    ${list(row, digits)},\n`).join("")}])`;

const IMPORTS = {
  none: "NoPositions", sinusoidal: "sinusoid", learned: "LearnedPositions",
  alibi: "alibi_slopes",
};

/** Lines that build `positions`, (length, width), or ALiBi's `bias`, by the library. */
function build({ state, head }, rows) {
  const size = `${rows.length}, ${rows[0].length}`;
  const places = `torch.arange(${rows.length})`;
  const embed = `.embed(torch.zeros(${size}), ${places})`;
  return {
    none: [`positions = NoPositions()${embed}`],
    sinusoidal: [`positions = sinusoid(${places}, ${rows[0].length}, base=${float(state.base)})`],
    learned: [
      `learned = LearnedPositions(${size})`,
      `learned.table.weight.data = ${tensor(rows)}`,
      `positions = learned${embed}.detach()`,
    ],
    alibi: [
      `places = ${places}`,
      "distance = (places[:, None] - places).abs()",
      `bias = -alibi_slopes(${state.n_heads})[${head}].float() * distance`,
    ],
  }[state.kind];
}

function shuffled(geometry) {
  const { state, added, words, alibi } = geometry;
  const add = alibi ? "" : " + positions";
  return [
    `tokens = ${python(state.tokens)}`,
    `order = torch.tensor(${python(state.order)})`,
    `words = ${tensor(wordVectors(state.tokens, added[0].length), 6)}`,
    ...build(geometry, added), "", "",
    "def mix(x):",
    `    return torch.softmax(x @ x.T${alibi ? " + bias" : ""}, dim=-1) @ x`, "", "",
    `before, after = mix(words${add}), mix(words[order]${add})`,
    "shown = (after - before[order]).abs().amax(dim=-1)",
    `expected = torch.tensor(${list(words.change, 5)})`,
  ];
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const { values, similarity, alibi, m: row } = geometry;
  const lines = state.view === "order" ? shuffled(geometry) : build(geometry, values);
  if (state.view === "similarity" && !alibi)
    lines.push(
      `shown = positions @ positions[${row}]`, `expected = torch.tensor(${list(similarity[row], 5)})`,
    );
  else if (state.view !== "order")
    lines.push(`shown = ${alibi ? "bias" : "positions"}`, `expected = ${tensor(values)}`);
  return [
    "import torch", "", `from transformer_lib.positions import ${IMPORTS[state.kind]}`, "",
    ...lines, "torch.testing.assert_close(shown, expected, rtol=0, atol=1e-3)", "",
  ].join("\n");
}
