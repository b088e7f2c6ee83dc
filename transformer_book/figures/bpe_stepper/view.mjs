// BPEStepper: byte-pair encoding learns tokens from a text, merge by merge.
import { h, set } from "../kit/index.mjs";
import { PHONE, curve, layout, learned, words } from "./layout.mjs";
import { BYTES, MOST_MERGES, goBy, isSame, shownStep } from "./numbers.mjs";
import { pairList } from "./pair_list.mjs";
import { picture } from "./picture.mjs";
import { named, pytorch, rate, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

/** The reader's text, on lines enough to read it; another one starts before any merge. */
function ownText(ui) {
  const whole = (text) => text.replace(/[\ud800-\udfff]/gu, "\ufffd"); // no half signs
  const area = h("textarea", {
    rows: 3,
    maxlength: 1000,
    spellcheck: "false",
    oninput: () => ui.set({ text: whole(area.value), step: 0, selected: [] }),
  });
  ui.bind(({ text }) => set(area, { value: text }));
  const name = h("span", { class: "name", text: "Your text" });
  return h("label", { class: "control own" }, name, area);
}

/** The slider over all merges of the text. */
function mergesSlider(ui) {
  const node = ui.slider({
    label: "Merges",
    min: 0,
    max: MOST_MERGES,
    step: 1,
    get: (state) => shownStep(state).step,
    set: (step) => ({ step, selected: [] }),
  });
  const input = node.querySelector("input");
  ui.bind((state) => {
    const { step, most } = shownStep(state);
    set(input, { max: most });
    set(input, { value: String(step) });
  });
  return node;
}

function walk(ui) {
  const button = (label, by) =>
    ui.button({
      label,
      action: goBy(by),
      disabled: (state) => goBy(by)(state).step === shownStep(state).step,
    });
  const on = button("Step", 1);
  on.classList.add("go");
  return [button("Back", -1), on];
}

const EQUATION = [
  ["made", "new token"],
  " = ",
  ["pairs", "most frequent pair"],
  ", merged in all ",
  ["words", "words"],
];

function code(state) {
  const { step, now } = shownStep(state);
  if (!now.pair) return ["# no more merges"];
  return [
    ["words", "merge"],
    "(ids, ",
    ["pairs", `learn_merges(words, ${step + 1})[-1]`],
    ", ",
    ["made", `${BYTES + step}`],
    ")",
  ];
}

function drawWords(panel, geometry, pair) {
  const { tokens, frame, room } = geometry;
  const hidden = frame.hidden ? `; ${frame.hidden} more hidden` : "";
  const note = (what) =>
    pair ? `top: now; bottom: ${what}merged${hidden}` : `no merge${hidden}`;
  const name = pair?.map((id) => named(tokens[id])).join(" + ");
  const full = note(`with ${name} `);
  const shapes = { ...words(geometry, pair), width: room };
  panel.draw(shapes, room < PHONE ? note("") : full, `Words: ${full}`);
}

function drawLearned(panel, geometry) {
  const { step, steps, tokens } = geometry;
  const shapes = learned(geometry);
  const some = shapes.first ? `, the last ${step - shapes.first} shown` : "";
  const names = tokens
    .slice(BYTES, BYTES + step)
    .map(named)
    .join(", ");
  const label = `Learned tokens: ${names || "none"}`;
  panel.draw(shapes, `${step} of ${steps.length - 1}${some}`, label);
}

function drawCurve(panel, geometry) {
  const { now, steps, bytes } = geometry;
  const note = bytes ? `${rate(bytes, now.size)} bytes per token` : "";
  const sizes = `from ${bytes} to ${steps.at(-1).size}; now ${now.size}`;
  panel.draw(curve(geometry), note, `Tokens in the text against merges, ${sizes}`);
}

function build(ui) {
  const pairs = pairList(ui);
  const text = picture("Words", "words");
  const made = picture("Learned", "made");
  const sizes = picture("Tokens in the text");
  return {
    controls: walk(ui),
    more: [ownText(ui), mergesSlider(ui)],
    picture: [text.node, pairs.node],
    below: [made.node, sizes.node],
    formula: { equation: EQUATION, code },
    draw(geometry) {
      const pair = geometry.pairOf(ui.active()) ?? geometry.now.pair;
      const isThere = pair && geometry.ranked.some(([other]) => isSame(other, pair));
      pairs.draw(geometry);
      drawWords(text, geometry, isThere ? pair : null);
      drawLearned(made, geometry);
      drawCurve(sizes, geometry);
    },
  };
}

export default {
  name: "bpe_stepper",
  title: "Byte-pair encoding, merge by merge",
  steps: [
    {
      say: "Press Step: the most frequent pair becomes one token. Which pair is the most frequent then?",
    },
    {
      say: "Every byte is a token of its own. Step on: which word of several letters becomes one token first?",
      set: { step: 0, selected: [] },
    },
    {
      say: "Under More, type your own text. It starts with no merges: which pair is the first to go?",
    },
  ],
  keys: "; in the pictures, + and − step",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked: ({ selected }) => (selected.length ? selected : null),
  build,
};
