// What HeadsGrid says, in words, table and code. No DOM.
import { number, percent, python, quote } from "../kit/index.mjs";
import { UNIT, best, isOff, keyOf } from "./numbers.mjs";

export const PLACES = {
  previous: "the previous token",
  induction: "the token after its earlier copy",
};

/** @param {number[]} head */
export const name = ([layer, head]) => `layer ${layer}, head ${head}`;
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** Names a few heads; counts the others. */
export function names(heads) {
  const said = heads.slice(0, 4).map(name).join("; ");
  return heads.length <= 4 ? said : `${said} and ${heads.length - 4} more`;
}

const lossText = (loss) => (loss === null ? "unknown here" : number(loss));
const scoreText = (geometry, head, score) => number(geometry.score(head, score));

function overview(geometry) {
  const {
    state: { off },
    period,
    first,
    loss,
    heads,
  } = geometry;
  const copy = period ? " on later copies" : "";
  const before = best(geometry, "previous");
  let said =
    `Highest score for ${PLACES.previous}: ${name(before)} ` +
    `(${scoreText(geometry, before, "previous")})`;
  if (period) {
    const head = best(geometry, "induction");
    said += `; for ${PLACES.induction}: ${name(head)} (${scoreText(geometry, head, "induction")})`;
  }
  said += old(geometry);
  const on = lossText(loss([]));
  if (off.length)
    return (
      `Off: ${names(off)}. The loss${copy} is ${lossText(loss(off))} nats per token ` +
      `(${on} with all heads on). ${said}.`
    );
  return (
    `With all ${heads.length} heads on, the loss${copy} is ${on} nats per token` +
    `${period ? `, ${number(first)} on the first` : ""}. ${said}.`
  );
}

/** Says it where stored maps are of other heads that are off. */
const old = ({ mapsOff, state: { off } }) =>
  keyOf(mapsOff) === keyOf(off) ? "" : ", not recomputed";

/** What a head's map looks like: "Layer 1, head 3: induction 0.95, ..." */
export function headText(geometry, head) {
  const induction = geometry.period
    ? `induction ${scoreText(geometry, head, "induction")}, `
    : "";
  return (
    `${capital(name(head))}${isOff(geometry.state, head) ? ", off" : ""}: ${induction}previous token ` +
    `${scoreText(geometry, head, "previous")}, entropy ${scoreText(geometry, head, "entropy")} nats${old(geometry)}.`
  );
}

function one(geometry, head) {
  const { state, loss, alone } = geometry;
  const others = state.off.length > (isOff(state, head) ? 1 : 0);
  const now = others
    ? ` Off now: ${names(state.off)}; loss ${lossText(loss(state.off))}.`
    : "";
  return (
    `${headText(geometry, head)} Switched off alone, it changes the loss from ${lossText(loss([]))} to ` +
    `${lossText(alone(head))}.${now}`
  );
}

/** What a key is to a query, if it is one of the two places that heads are scored by. */
function placeOf({ period }, query, key) {
  if (period && query - key === period - 1 && key > 0) return `, ${PLACES.induction}`;
  return query - key === 1 ? `, ${PLACES.previous}` : "";
}

function pair(geometry, query, key) {
  const {
    state: { tokens, shown },
    maps,
  } = geometry;
  const [asks, answers] = [query, key].map((i) => `${i} ${quote(tokens[i])}`);
  if (key > query)
    return `Query ${asks} may not attend to key ${answers}, which comes later.`;
  // in units, as it is stored: the sentence stays when the model comes
  const weight = ([l, h]) => Math.round(UNIT * maps[l][h][query][key]) / UNIT;
  const gives = shown.map((head) => `${name(head)} gives it ${percent(weight(head))}`);
  return `Query ${asks} and key ${answers}${placeOf(geometry, query, key)}: ${gives.join("; ")}${old(geometry)}.`;
}

/** `active` is ["head", layer, head], ["pair", query, key] or null. */
export function sentence(geometry, active) {
  if (geometry.waiting) return "These tokens need the model, which has not loaded yet.";
  const [kind, a, b] = active ?? [];
  if (kind === "pair") return pair(geometry, a, b);
  return kind === "head" ? one(geometry, [a, b]) : overview(geometry);
}

export function table(geometry) {
  const names = ["entropy", "previous token", "induction"].slice(
    0,
    geometry.period ? 3 : 2,
  );
  return {
    caption: "Every head: its scores, and the loss with only it off",
    header: ["head", "now", ...names, "loss with it off"],
    rows: (geometry.heads ?? []).map(([l, h]) => [
      name([l, h]),
      isOff(geometry.state, [l, h]) ? "off" : "on",
      ...geometry.scores[l][h].map((x) => number(x, 4)),
      number(geometry.alone([l, h]) ?? 0, 4),
    ]),
  };
}

const fixed = (want, digits) =>
  Array.isArray(want)
    ? `[${want.map((x) => x.toFixed(digits)).join(", ")}]`
    : want.toFixed(digits);
const near = (got, want, digits = 4) =>
  `torch.testing.assert_close(${got}, torch.tensor(${fixed(want, digits)}), rtol=0, atol=1e-4)`;

/** The scores of heads, of `weights` (1, heads, T, T), as assertions. */
const scored = ({ score, period }, heads) => [
  near(
    "previous_token_score(weights)",
    heads.map((head) => score(head, "previous")),
  ),
  ...(period
    ? [
        near(
          `induction_score(weights, ${period})`,
          heads.map((head) => score(head, "induction")),
        ),
      ]
    : []),
];

/** The maps on show, which Python computed of the reader's own model. */
function ofMaps(geometry) {
  const { shown } = geometry.state;
  const maps = shown.map(([l, h]) => {
    const rows = geometry.maps[l][h];
    return rows.map((row) => [...row, ...Array(rows.length - row.length).fill(0)]);
  });
  return [
    `weights = torch.tensor(${python([maps])})  # ${shown.map(name).join("; ")}`,
    "torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]), rtol=0, atol=2e-3)",
    ...scored(geometry, shown),
  ];
}

const layerName = (layer) => `"stack.blocks.${layer}.attention.layer"`;

/** Heads that are off, by layer, as Python. */
function byLayer(off) {
  const layers = [...new Set(off.map(([layer]) => layer))];
  const all = layers.map((layer) => {
    const heads = off.filter(([other]) => other === layer).map(([, head]) => head);
    return `${layerName(layer)}: [${heads.join(", ")}]`;
  });
  return `{${all.join(", ")}}`;
}

/** The whole experiment, with a shipped model. */
function ofModel(geometry) {
  const { state, period, loss, maps, mapsOff } = geometry;
  const now = loss(state.off);
  return [
    `model = pretrained.load("${state.source}").model`,
    `tokens = torch.tensor([${python(state.ids)}])`,
    `off = ${byLayer(state.off)}  # heads by layer`,
    "with torch.no_grad(), ablate_heads(model, off):",
    "    logits = model(tokens)",
    'losses = F.cross_entropy(logits[0, :-1], tokens[0, 1:], reduction="none")',
    `loss = losses[${period}:].mean()${period ? "  # of later copies" : ""}`,
    ...(now === null ? [] : [near("loss", now)]),
    `off = ${byLayer(mapsOff)}  # as for the maps shown`,
    "with torch.no_grad(), ablate_heads(model, off), record_attention(model) as record:",
    "    model(tokens)",
    ...maps.flatMap((layer, l) => [
      `weights = record[${layerName(l)}]`,
      ...scored(
        geometry,
        layer.map((_, h) => [l, h]),
      ),
    ]),
  ];
}

/** The state as a program that runs and asserts what the figure shows. */
export function pytorch(state, geometry) {
  const own = state.source === "Python";
  const needs = [
    ...(own ? [] : ["ablate_heads"]),
    ...(geometry.period ? ["induction_score"] : []),
    "previous_token_score",
    ...(own ? [] : ["record_attention"]),
  ];
  if (geometry.waiting) return "assert False, 'the model has not loaded yet'\n";
  return [
    "import torch",
    ...(own ? [] : ["import torch.nn.functional as F"]),
    "",
    ...(own ? [] : ["from transformer_book import pretrained"]),
    "from transformer_lib.inspection import (",
    ...needs.map((one) => `    ${one},`),
    ")",
    "",
    ...(own ? ofMaps : ofModel)(geometry),
    "",
  ].join("\n");
}
