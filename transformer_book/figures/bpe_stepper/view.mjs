// BPEStepper: byte-pair encoding learns tokens from a text, merge by merge.
import { h, keep, place, set, text, whole } from "../kit/index.mjs";
import { list, picture } from "./panels.mjs";
import { ROWS, curve, learned, places, words } from "./layout.mjs";
import { MOST, at, go, history, merge, ranking, size } from "./steps.mjs";
import { named, pytorch, rate, sentence, table } from "./text.mjs";

export { pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  keep(state, { text, step: whole(0, MOST), selected: place(256 + MOST, 256 + MOST) });
}

/** The pairs in the list, [pair, count, rank]: the first ones, and the held one. */
function listed(ranked, selected) {
  const rows = ranked.map(([pair, count], i) => [pair, count, i + 1]);
  const held = rows.slice(ROWS).filter(([pair]) => String(pair) === String(selected));
  return [...rows.slice(0, ROWS - held.length), ...held];
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const learnt = history(state.text);
  const { steps, numbers } = learnt;
  const { step, now } = at(state);
  const ranked = ranking(now.words, numbers);
  const shown = listed(ranked, state.selected);
  const geometry = {
    ...learnt,
    state,
    step,
    now,
    ranked,
    shown,
    room,
    bytes: steps[0].size,
    half: room < 620 ? room : Math.floor((room - 24) / 2),
    pairOf: (active) =>
      (active?.[0] === "row" ? shown[active[1]]?.[0] : active) ?? null,
    sizeWith: (pair) =>
      size(
        now.words.map((ids) => merge(ids, pair, 256 + step)),
        numbers,
      ),
  };
  return { ...geometry, frame: places(geometry) };
}

const locked = ({ selected }) => (selected.length ? selected : null);

/** The slider over all merges of the text. */
function merges(ui) {
  const node = ui.slider({
    label: "Merges",
    min: 0,
    max: MOST,
    step: 1,
    get: (state) => at(state).step,
    set: (step) => ({ step, selected: [] }),
  });
  const input = node.querySelector("input");
  ui.bind((state) => {
    set(input, { max: at(state).most });
    set(input, { value: String(at(state).step) });
  });
  return node;
}

/** The reader's text, on lines enough to read it; another one starts before any merge. */
function own(ui) {
  const area = h("textarea", {
    rows: 3,
    maxlength: 1000,
    spellcheck: "false",
    oninput: () =>
      ui.set({
        text: area.value.replace(/[\ud800-\udfff]/gu, "\ufffd"),
        step: 0,
        selected: [],
      }),
  });
  ui.bind(({ text }) => set(area, { value: text }));
  return h(
    "label",
    { class: "control own" },
    h("span", { class: "name", text: "Your text" }),
    area,
  );
}

function build(ui) {
  const pairs = list(ui);
  const text = picture("Words", "words");
  const made = picture("Learned", "made");
  const rise = picture("Tokens in the text");
  const walk = (label, by) =>
    ui.button({
      label,
      action: go(by),
      disabled: (state) => go(by)(state).step === at(state).step,
    });
  return {
    controls: [
      own(ui),
      merges(ui),
      h("div", { class: "walk" }, walk("Back", -1), walk("Step", 1)), // just above the words on a phone
    ],
    formula: {
      equation: [
        ["made", "new token"],
        " = ",
        ["pairs", "most frequent pair"],
        ", merged in all ",
        ["words", "words"],
      ],
      code: (state) => {
        const { step, now } = at(state);
        return now.pair
          ? [
              ["words", "merge"],
              "(ids, ",
              ["pairs", `learn_merges(words, ${step + 1})[-1]`],
              ", ",
              ["made", `${256 + step}`],
              ")",
            ]
          : ["# nothing to merge"];
      },
    },
    picture: [pairs.node, text.node, made.node, rise.node],
    draw(geometry) {
      const { now, step, tokens, frame, room, steps, bytes } = geometry;
      const pair = geometry.pairOf(ui.active()) ?? now.pair;
      const real =
        pair && geometry.ranked.some(([other]) => String(other) === String(pair))
          ? pair
          : null;
      pairs.draw(geometry);
      const name = real?.map((id) => named(tokens[id])).join(" + ");
      const hidden = frame.hidden ? `; ${frame.hidden} more not shown` : "";
      const rows = (what) =>
        real ? `above now, below ${what}merged${hidden}` : `nothing to merge${hidden}`;
      const full = rows(`with ${name} `);
      text.draw(
        { ...words(geometry, real), width: room },
        room < 480 ? rows("") : full,
        `Words: ${full}`,
      );
      const merged = learned(geometry);
      const from = merged.first ? `, the last ${step - merged.first} shown` : "";
      made.draw(
        merged,
        `${step} of ${steps.length - 1}${from}`,
        `Learned tokens: ${
          tokens
            .slice(256, 256 + step)
            .map(named)
            .join(", ") || "none"
        }`,
      );
      rise.draw(
        curve(geometry),
        bytes ? `${rate(bytes, now.size)} bytes per token` : "",
        `Tokens in the text against merges, from ${bytes} to ${steps.at(-1).size}; now ${now.size}`,
      );
    },
  };
}

export default {
  name: "bpe_stepper",
  title: "Byte-pair encoding, merge by merge",
  tip:
    "press Step: the most frequent pair becomes one token. Which word of several letters " +
    "is one token first? Then type a text of your own: it starts before any merge.",
  keys: "; in pictures, + and − step",
  traits: ["text", "step", "selected"],
  layout,
  sentence,
  table,
  pytorch,
  locked,
  build,
};
