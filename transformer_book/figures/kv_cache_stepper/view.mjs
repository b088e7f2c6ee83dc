// KVCacheStepper: a model writes twice, with a cache and without.
import { bring } from "../engine/index.mjs";
import { fill, h, pad, panel, s, set, tokenText } from "../kit/index.mjs";
import { KNOWN, MOST, STEPS, memories, parts, shownOf } from "./costs.mjs";
import { SOURCES, layout } from "./layout.mjs";
import { createWriter } from "./kv_generate.mjs";
import { bars, follow, memory, side, total } from "./shapes.mjs";
import { SAME, parting, pytorch, sentence, table } from "./text.mjs";
import { commas } from "../shape_ledger/text.mjs";

export { layout, pytorch, sentence, table };

const MODEL = "manual-lm";

export const locked = ({ selected }) => (selected.length ? selected : null);

/** A titled picture of paths and texts; with a view, its cells can be asked. */
function picture(ui, title, { part, view, label, key }) {
  const layers = [0, 1].map(() => s("g", { "aria-hidden": "true" }));
  const svg = s("svg", { "data-part": part, role: !label && "img" }, ...layers);
  const { node, note } = panel(title, svg);
  let shape;
  // a finger comes first to what is in sight, the keyboard goes everywhere
  const to = (cell) => [
    view,
    ...(ui.active()?.[0] === view ? cell : (shape.near?.(cell) ?? cell)),
  ];
  const cells =
    label &&
    pad(ui, svg, {
      label,
      key,
      to,
      from: ([at, ...cell]) => (at === view ? cell : null),
    });
  if (cells) svg.append(cells.node);
  function draw(next, words, geometry) {
    shape = next;
    set(svg, {
      width: shape.width,
      height: shape.height,
      "aria-label": !cells && words,
    });
    set(note, { text: words });
    fill(layers[0], shape.paths, "path");
    fill(layers[1], shape.texts, "text");
    cells?.draw({ ...shape, text: (cell) => sentence(geometry, to(cell)) });
  }
  return { node, draw };
}

/** Steps back and forth, as far as the text is written, or can be in this page. */
function walk(writer) {
  const free = ({ source }) => writer() && source !== "yours";
  const out = (by, state) => {
    const at = state.step + by;
    return (
      !state.prompt_length ||
      at < 0 ||
      at > (free(state) ? STEPS : state.gaps.length - 1)
    );
  };
  const go = (by) => (state) => {
    if (out(by, state)) return;
    const step = state.step + by;
    const write =
      free(state) && (state.source === "stored" || step >= state.gaps.length);
    return { ...(write && writer()(state.prompt, step)), step, selected: [] };
  };
  return { go, out };
}

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
    ["with", "model(tokens[:, -1:], cache=cache)"],
    "[:, -1]",
  ],
};

function build(ui) {
  let made = null;
  let from = [0, 0]; // where the window of both sides starts
  const { go, out } = walk(() => made);
  // the bug's text goes wrong only some steps later: on to there
  const seek = () => {
    const state = ui.state();
    const patch = state.bug && parting(layout(state)) < 0 && go(1)(state);
    if (patch) {
      ui.set(patch);
      setTimeout(seek);
    }
  };
  const key = ({ key: sign }) => {
    const by = { "+": 1, "=": 1, "-": -1 }[sign];
    const patch = by && go(by)(ui.state());
    if (patch) {
      ui.set(patch);
      ui.hover(null); // the sentence goes along
    }
    return !!by;
  };
  // what the first Step will show is computed a piece at a time, so that it comes at once
  const prepare = (step) => {
    made(ui.state().prompt, step);
    if (step < STEPS) setTimeout(prepare, 0, step + 1);
  };
  const line = bring(ui, MODEL, (model) => {
    made = createWriter(model);
    prepare(0);
  });
  const both = ["Without a cache", "With a cache"].map((title, view) =>
    picture(ui, title, {
      view,
      key,
      part: ["without", "with"][view],
      label: `${title}: queries and keys`,
    }),
  );
  const texts = [0, 1].map(() => h("p", { class: "token" }));
  const costs = picture(ui, "All steps", {});
  const room = picture(ui, "Memory", { view: 2, label: "Memory against length" });
  room.node.prepend(
    ui.select({
      label: "Memory of",
      trait: "memory",
      // a held point stays, on the last line where the model has fewer
      set: (memory, { selected: [view, row, at], sizes }) => ({
        memory,
        selected:
          view > 1
            ? [2, Math.min(row, memories(shownOf({ memory, sizes })).length - 1), at]
            : [],
      }),
      options: ({ sizes }) => [
        ["own", sizes.name],
        ...Object.entries(KNOWN).map(([name, known]) => [name, known.name]),
      ],
    }),
  );
  const step = (label, by) =>
    ui.button({ label, action: go(by), disabled: (state) => out(by, state) });
  const field = ui.text({
    label: "Your prompt",
    trait: "prompt",
    maxlength: 300,
    disabled: () => !made,
    set: (value) => ({
      ...made(value.replace(/[\ud800-\udfff]/gu, "\ufffd"), 0),
      step: 0,
      selected: [],
    }),
  });
  field.append(
    h("small", { class: "title", text: `At most ${MOST} tokens are read.` }),
  );
  const legend = h("p", { class: "title" });
  return {
    controls: [
      field,
      line,
      step("Back", -1),
      step("Step", 1),
      ui.toggle({
        label: "bug: position stays 0",
        trait: "bug",
        set: (bug) => (setTimeout(seek), { bug }),
      }),
    ],
    formula,
    picture: [...both.map(({ node }) => node), ...texts, legend, costs.node, room.node],
    draw(geometry) {
      const { state, length, step, said, memories } = geometry;
      const all = `reads ${length} token${length === 1 ? "" : "s"}`;
      const [view, ...cell] = ui.active() ?? [2];
      from = follow(geometry, view < 2 && cell, from);
      both.forEach(({ draw }, i) =>
        draw(
          side(geometry, i, from),
          i && step ? "reads only the last" : all,
          geometry,
        ),
      );
      texts.forEach((node, i) =>
        set(node, {
          text: `${["without", "with   "][i]} writes ${tokenText(said[i].slice(0, step + 1).join(""), 1000)}`,
        }),
      );
      set(legend, {
        text: `Solid: computed in this step. Pale: kept. Outlined: not kept. Hatched: computed, then masked. Numbers ${SOURCES[state.source]}.`,
      });
      costs.draw(bars(geometry), length ? total(geometry) : "", geometry);
      const { bytes, kind } = memories.find((one) => one.own);
      room.draw(memory(geometry), `${commas(bytes)} bytes a token (${kind})`, geometry);
    },
  };
}

export default {
  name: "kv_cache_stepper",
  title: "Writing with and without a cache",
  tip: "press Step, then switch on the bug.",
  keys: "; on both sides, + and − step",
  traits: [
    "prompt",
    "prompt_length",
    "left_out",
    "tokens",
    "picks",
    "wrong_picks",
    "gaps",
    "wrong_gaps",
    "step",
    "bug",
    "source",
    "sizes",
    "memory",
    "selected",
  ],
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
