// What ShapeLedger says. No DOM.
import { commas, compact, percent } from "../kit/index.mjs";
import { ownSlots, total } from "./lines.mjs";

export const shapeText = ({ copies, shape }) =>
  `${copies > 1 ? `${copies} × ` : ""}(${shape.join(", ")})`;

function overview({ state, lines, params, flops }) {
  const share = (...parts) =>
    percent(
      total(
        lines.filter(({ part }) => parts.includes(part)),
        "params",
      ) / params,
    );
  const products =
    total(
      lines.filter(({ name }) => name.includes("@")),
      "flops",
    ) / flops;
  return (
    `${commas(params)} parameters, ${compact(4 * params, " ")}B: ` +
    `about ${share("embed", "end")} in embeddings, ${share("attention")} in attention and ` +
    `${share("ff")} in feed-forward. One forward pass over ${state.batch} × ${state.length} tokens ` +
    `takes ${compact(flops, " ")}FLOP, ${percent(products)} of it between tokens ` +
    "(products that grow with T²)."
  );
}

function one(geometry, line) {
  const many = line.blocks > 1;
  const [params, flops] = [line.blocks * line.params, line.blocks * line.flops];
  const has =
    `${commas(line.params)} parameters` +
    (line.params
      ? `${many ? " a block, together" : ","} ${percent(params / geometry.params)} of all`
      : "");
  const takes = line.flops
    ? `${compact(flops, " ")}FLOP${many ? " in all" : ""}, ${percent(flops / geometry.flops)}`
    : "no matrix product";
  const keeps = line.view
    ? "a view, which copies nothing"
    : `${compact(line.blocks * line.bytes, " ")}B of activations${many ? " in all" : ""}`;
  const where = many ? `, in each of ${line.blocks} blocks,` : "";
  return `${line.name}${where} gives ${shapeText(line)}: ${has}; ${takes}; ${keeps}.`;
}

function mixed({ length, n_heads: heads }) {
  const [own, slots] = [ownSlots(length, heads), length * heads];
  const start =
    "Wrong reshape: view without transpose. Shapes, parameters and FLOPs stay the same, " +
    "so no error is raised";
  if (own === slots) return `${start}; with one head or one token, nothing moves.`;
  return (
    `${start}, but tokens are mixed: only ${commas(own)} of ${commas(slots)} slots in the ` +
    "heads hold their own token. Head 0 reads token 0 at position 1."
  );
}

const LETTERS = {
  batch: "B",
  length: "T",
  d_model: "d",
  n_heads: "h",
  n_layers: "L",
  vocab_size: "V",
  d_ff: "f",
  max_len: "P",
};
const inner = ({ d_ff: f, d_model: d }) => f || 4 * d;

/** What changed between two states, and why more than one size did. */
export function changes(before, now) {
  const sizes = (state) => ({ ...state, d_ff: inner(state) });
  const [from, to] = [sizes(before), sizes(now)];
  const names = Object.keys(LETTERS).filter((name) => from[name] !== to[name]);
  const all =
    names.length > 3
      ? ["sizes of another model"]
      : names.map((name) => `${LETTERS[name]} ${from[name]} → ${to[name]}`);
  if (from.tied !== to.tied) all.push(to.tied ? "now tied" : "no longer tied");
  const rows =
    to.length === to.max_len && to.length < from.length === to.max_len < from.max_len;
  const four = [from, to].every(({ d_ff: f, d_model: d }) => f === 4 * d);
  const why = {
    "length,max_len": rows && "each position needs a row",
    "d_model,n_heads": "all heads have the same width",
    "d_model,d_ff": four && "f stays 4 d",
  }[names.filter((name) => name !== "d_ff" || names.length === 2).join()];
  return all.join(", ") + (why ? `: ${why}` : "");
}

/** The three numbers to watch: [name, text], each with what it was `before`. */
export function watched(before, now) {
  const scores = ({ lines }) => lines.filter(({ name }) => name === "query @ key.mT");
  const numbers = (geometry) =>
    [geometry.params, geometry.flops, total(scores(geometry), "bytes")].map((x) =>
      compact(x),
    );
  const [from, to] = [numbers(before), numbers(now)];
  return ["parameters", "FLOPs", "bytes of scores"].map((name, i) => [
    name,
    from[i] === to[i] ? to[i] : `${from[i]} → ${to[i]}`,
  ]);
}

/** Why nobody notices, in a few words next to the switch. */
export function unnoticed({ length, n_heads: heads }) {
  const start = "No number changes: every shape stays the same, so there is no error.";
  if (length === 1 || heads === 1)
    return `${start} With one head or one token, nothing moves.`;
  return `${start} But head 0 reads token 0 at position 1 (✗): tokens are mixed.`;
}

/** `active` is [line] or null. */
export function sentence(geometry, active) {
  const line = active && geometry.lines[active[0]];
  if (geometry.state.wrong && (!line || line.name === "split_heads"))
    return mixed(geometry.state);
  return line ? one(geometry, line) : overview(geometry);
}

/** A count as a spreadsheet reads it; beyond what a browser counts exactly, 4 digits of it. */
const count = (x) => (Number.isSafeInteger(x) ? x : x.toExponential(3));

export function table({ lines, params, flops, bytes }) {
  return {
    caption: "Lines of the forward pass; lines of a block are totals over all blocks",
    header: [
      "line",
      "blocks",
      "output shape",
      "parameters (count)",
      "compute (FLOPs)",
      "activations (bytes)",
    ],
    rows: [
      ...lines.map((line) => [
        line.name,
        line.blocks,
        shapeText(line),
        ...[line.params, line.flops, line.bytes].map((x) => count(line.blocks * x)),
      ]),
      ["sum", "", "", ...[params, flops, bytes].map(count)],
    ],
  };
}
