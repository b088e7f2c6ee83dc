// What RoPERotor says, in words, tables and code. No DOM.
import { commas, number } from "../kit/index.mjs";
import { LAST } from "./numbers.mjs";

/** Positions in which a clock goes round once: "6.3", "6,283". */
export function stepsARound(speed) {
  const x = (2 * Math.PI) / speed;
  return x < 100 ? number(x, 1) : commas(x);
}

/** What a shift of both by 5 does, if there is room for one. */
function shiftRule(m, n) {
  const by = [5, -5].find((x) => Math.min(m, n) + x >= 0 && Math.max(m, n) + x <= LAST);
  return by
    ? `Shift both ${by > 0 ? "" : "back "}by 5, to ${m + by} and ${n + by}, and it stays the same: only`
    : "Only";
}

/** The live sentence; `active` is [0, pair] or null. */
export function sentence({ state: { m, n }, pairs, score }, active) {
  const total = number(score);
  if (!active)
    return `Query at position ${m}, key at ${n}: the dot product is ${total}. ${shiftRule(m, n)} m − n = ${m - n} matters.`;
  const { i, dims, speed, between, most, part } = pairs[active[1]];
  const apart =
    most > 0 ? `Query and key are ${number(between, 0)}° apart` : "Query or key is 0";
  return (
    `Pair ${i}, dimensions ${dims.join(" and ")} (one from each half): one turn every ${stepsARound(speed)} positions. ` +
    `${apart}; this pair adds ${number(part)} to the dot product of ${total}.`
  );
}

export function table({ state: { m, n }, pairs, score }) {
  const four = (x) => number(x, 4);
  const degrees = (angle) => number((180 * angle) / Math.PI, 1);
  return {
    caption: `Query at position ${m}, key at ${n}, m − n = ${m - n}`,
    header: [
      "pair",
      "dimensions",
      "positions per turn",
      "query turned by (degrees)",
      "key turned by (degrees)",
      "angle between them (degrees)",
      "contribution",
    ],
    rows: [
      ...pairs.map(({ i, dims, speed, between, part }) => [
        i,
        dims.join(", "),
        stepsARound(speed),
        degrees(m * speed),
        degrees(n * speed),
        number(between, 1),
        four(part),
      ]),
      ["sum", "", "", "", "", "", four(score)],
    ],
  };
}

const float = (x) => (Number.isInteger(x) ? `${x}.0` : String(x));
const tensor = (list) => `torch.tensor([[${list.join(", ")}]], dtype=torch.float64)`;

/** The state as a program that asserts each pair's part, and that a shift changes none. */
export function pytorch({ query, key, m, n, base }, { pairs }) {
  return [
    "import torch",
    "",
    "from transformer_lib.positions import apply_rotary",
    "",
    `query = ${tensor(query.map(float))}`,
    `key = ${tensor(key.map(float))}`,
    `m, n = torch.tensor([${float(m)}]).double(), torch.tensor([${float(n)}]).double()`,
    "",
    "",
    "def parts(m, n):",
    `    q, k = apply_rotary(query, m, base=${float(base)}), apply_rotary(key, n, base=${float(base)})`,
    `    return (q * k).reshape(2, ${pairs.length}).sum(dim=0)  # split-half pairs`,
    "",
    "",
    "shown = parts(m, n)",
    `expected = ${tensor(pairs.map(({ part }) => number(part, 6)))}[0]`,
    "torch.testing.assert_close(shown, expected, rtol=0, atol=1e-5)",
    "torch.testing.assert_close(parts(m + 5, n + 5), shown, rtol=0, atol=1e-6)",
    "",
  ].join("\n");
}
