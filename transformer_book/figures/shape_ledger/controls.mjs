// The sizes of ShapeLedger: their fields, and which change together.
import limits from "./limits.json" with { type: "json" };
const GPT2 = {
  batch: 1,
  length: 1024,
  d_model: 768,
  n_heads: 12,
  n_layers: 12,
  vocab_size: 50257,
  d_ff: 0,
  max_len: 1024,
  tied: true,
};
const PRESETS = [
  ["GPT-2 small", GPT2],
  ["GPT-2 XL", { ...GPT2, d_model: 1600, n_heads: 25, n_layers: 48 }],
  [
    "GPT-3",
    { ...GPT2, length: 2048, d_model: 12288, n_heads: 96, n_layers: 96, max_len: 2048 },
  ],
  [
    "a toy",
    {
      ...GPT2,
      length: 32,
      d_model: 64,
      n_heads: 4,
      n_layers: 2,
      vocab_size: 96,
      max_len: 128,
    },
  ],
];

/** As many heads as divide the width, at most those that were. */
function fitting(d, heads) {
  while (d % heads) heads--;
  return heads;
}

/** `typed(state)` hears of the state that a typed number starts from. */
export function sizes(ui, typed) {
  const whole = (label, trait, more = {}) => {
    const max = (trait === "length" ? limits.max_len : limits[trait]).whole[1];
    return ui.number({
      label,
      min: 1,
      max,
      step: 1,
      get: (state) => state[trait],
      ...more,
      set: (value, state) => {
        typed(state);
        return (more.patch ?? ((n) => ({ [trait]: n })))(Math.round(value), state);
      },
    });
  };
  const same = (sizes) => (state) =>
    Object.entries(sizes).every(([name, value]) => state[name] === value);
  const own = (state) => !PRESETS.some(([, sizes]) => same(sizes)(state));
  return [
    ui.select({
      label: "Model",
      options: (state) => [
        ...PRESETS.map(([name]) => [name, name]),
        ...(own(state) ? [["own", "your own"]] : []),
      ],
      get: (state) => PRESETS.find(([, sizes]) => same(sizes)(state))?.[0] ?? "own",
      set: (name) => PRESETS.find(([other]) => other === name)?.[1] ?? {},
    }),
    whole("batch B", "batch"),
    whole("tokens T", "length", {
      patch: (n, { max_len: most }) => ({ length: n, max_len: Math.max(n, most) }),
    }),
    whole("width d", "d_model", {
      patch: (n, { n_heads: heads }) => ({ d_model: n, n_heads: fitting(n, heads) }),
    }),
    ui.select({
      label: "heads h",
      trait: "n_heads",
      options: ({ d_model: d }) =>
        [...Array(limits.n_heads.whole[1]).keys()]
          .map((i) => i + 1)
          .filter((n) => d % n === 0)
          .map((n) => [n, `${n} × ${d / n}`]),
    }),
    whole("blocks L", "n_layers"),
    whole("vocab V", "vocab_size"),
    whole("inner f", "d_ff", {
      get: ({ d_ff: f, d_model: d }) => f || 4 * d,
      patch: (n, { d_model: d }) => ({ d_ff: n === 4 * d ? 0 : n }),
    }),
    whole("positions P", "max_len", {
      patch: (n, { length }) => ({ max_len: n, length: Math.min(n, length) }),
    }),
    ui.toggle({ label: "tied: logits use the embedding", trait: "tied" }),
  ];
}
