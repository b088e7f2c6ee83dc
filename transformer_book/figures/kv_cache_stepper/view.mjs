// KVCacheStepper: a model writes twice, with a cache and without.
import { bring } from "../engine/index.mjs";
import { commas, h, set, tokenText } from "../kit/index.mjs";
import { controls, memoryOf, stepping, walk } from "./controls.mjs";
import { STEPS, parts } from "./costs.mjs";
import { createWriter } from "./kv_generate.mjs";
import { SOURCES, bars, follow, layout, memory, side, total } from "./layout.mjs";
import { picture } from "./picture.mjs";
import { SAME, pytorch, sentence, table } from "./text.mjs";
import limits from "./limits.json" with { type: "json" };

const MODEL = "manual-lm";
const PREFILL =
  "Step 0: the model reads the whole prompt at once, which fills the cache. Each later " +
  "step, a decode step, reads one token.";
const HEADS =
  "MHA, multi-head attention: each head has keys and values of its own. GQA, grouped-query: " +
  "a few heads share them. MQA, multi-query: all heads do.";

const locked = ({ selected }) => (selected.length ? selected : null);

const formula = {
  equation({ prompt_length: first, step, sizes }) {
    const { weights, pair, logits } = parts(sizes);
    return [
      `multiply-adds = ${commas(weights)} n + ${commas(pair)} n T + ${commas(logits)};  `,
      ...(first
        ? [
            ["without", `n = T = ${first + step}`],
            " or ",
            ["with", `n = ${step ? 1 : first}`],
          ]
        : ["none"]),
    ];
  },
  code: ({ bug, step, gaps, wrong_gaps }) => [
    ["without", "model(tokens)"],
    `[:, -1] ${(bug ? wrong_gaps : gaps)[step] >= SAME ? "!" : "="}= `,
    ["with", "model(tokens[:, -n:], cache=cache)"],
    "[:, -1]",
  ],
};

/** The two texts that are written, one below the other. */
function writtenTexts() {
  const nodes = ["without", "with   "].map((name) => [
    name,
    h("p", { class: "token" }),
  ]);
  const draw = ({ said, step }) =>
    nodes.forEach(([name, node], side) => {
      const words = said[side].slice(0, step + 1).join("");
      set(node, { text: `${name} writes ${tokenText(words, 1000)}` });
    });
  return { nodes: nodes.map(([, node]) => node), draw };
}

/** Both sides, which move their windows together. */
function twoSides(ui, key) {
  let from = [0, 0]; // where the windows start
  const of = (title, view, part) =>
    picture(ui, title, { view, key, part, label: `${title}: queries and keys` });
  const both = [of("Without a cache", 0, "without"), of("With a cache", 1, "with")];
  function draw(geometry) {
    const { length, step } = geometry;
    const all = `reads ${length} token${length === 1 ? "" : "s"}`;
    const [view, ...cell] = ui.active() ?? [2];
    from = follow(geometry, view < 2 && cell, from);
    both.forEach((one, i) => {
      const note = i && step ? "reads only the last" : all;
      one.draw(side(geometry, i, from), note, geometry);
    });
  }
  return { nodes: both.map(({ node }) => node), draw };
}

function build(ui) {
  let written = null; // what writes in this page, when the model is here
  const writer = () => written;
  // what the first Step will show is computed a piece at a time, so that it comes at once
  const prepare = (step) => {
    written(ui.state().prompt, step);
    if (step < STEPS) setTimeout(prepare, 0, step + 1);
  };
  const line = bring(ui, MODEL, (model) => {
    written = createWriter(model);
    prepare(0);
  });
  const walking = walk(writer);
  const sides = twoSides(ui, stepping(ui, walking));
  const texts = writtenTexts();
  const legend = h("p", { class: "title" });
  const costs = picture(ui, "All steps");
  const room = picture(ui, "Memory", { view: 2, label: "Memory against length" });
  room.node.prepend(memoryOf(ui));
  const explain = ({ node }, word, explanation) =>
    node.querySelector(".title").append(" ", ui.term(word, explanation));
  explain(costs, "prefill", PREFILL);
  explain(room, "kinds of heads", HEADS);
  return {
    ...controls(ui, writer, walking),
    picture: [...sides.nodes, ...texts.nodes],
    below: [legend, costs.node, room.node, line],
    formula,
    draw(geometry) {
      const { state, length, memories } = geometry;
      sides.draw(geometry);
      texts.draw(geometry);
      set(legend, {
        text: `Solid: computed in this step. Pale: kept. Outlined: discarded. Hatched: computed, then masked. Numbers ${SOURCES[state.source]}.`,
      });
      costs.draw(bars(geometry), length ? total(geometry) : "", geometry);
      const { bytes, kind } = memories.find((one) => one.own);
      room.draw(
        memory(geometry),
        `${commas(bytes)} bytes per token (${kind})`,
        geometry,
      );
    },
  };
}

export default {
  name: "kv_cache_stepper",
  title: "Generating with and without a cache",
  steps: [
    {
      say: "Press Step. Both sides write a token: how many multiply-adds does each need?",
    },
    {
      say: "From step 1 on, pale keys and values are kept, not computed again. What is the cache good for at step 0?",
    },
    {
      say: "Each new token now gets position 0, as if it were the first. Press Step: when do the texts differ, if they do?",
      set: { bug: true },
    },
  ],
  keys: "; + and − step on both sides",
  limits,
  layout,
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell, { prompt_length: first }) => ({
    selected: cell && (first || cell[0] === 2) ? cell : [],
  }),
  build,
};
