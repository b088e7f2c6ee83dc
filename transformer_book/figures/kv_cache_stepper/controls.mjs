// What KVCacheStepper is told: the prompt, the step, the bug, whose memory is shown.
import { h } from "../kit/index.mjs";
import { KNOWN, MOST, STEPS, memories, shownOf } from "./costs.mjs";
import { layout } from "./layout.mjs";
import { parting } from "./text.mjs";

/** Steps back and forth, as far as the text is written, or can be in this page. */
export function walk(writer) {
  const free = ({ source }) => writer() && source !== "yours";
  const isOut = (by, state) => {
    const at = state.step + by;
    const last = free(state) ? STEPS : state.gaps.length - 1;
    return !state.prompt_length || at < 0 || at > last;
  };
  /** The patch of so many steps, or nothing where there are none. */
  const go = (by) => (state) => {
    if (isOut(by, state)) return undefined;
    const step = state.step + by;
    const write =
      free(state) && (state.source === "stored" || step >= state.gaps.length);
    return { ...(write && writer()(state.prompt, step)), step, selected: [] };
  };
  return { go, isOut };
}

/** + and - step, on both sides. */
export const stepping =
  (ui, { go }) =>
  ({ key }) => {
    const by = { "+": 1, "=": 1, "-": -1 }[key];
    const patch = by && go(by)(ui.state());
    if (patch) {
      ui.set(patch);
      ui.hover(null); // the sentence goes along
    }
    return Boolean(by);
  };

const field = (ui, writer) => {
  const node = ui.text({
    label: "Your prompt",
    trait: "prompt",
    maxlength: 300,
    disabled: () => !writer(),
    set: (value) => ({
      ...writer()(value.replace(/[\ud800-\udfff]/gu, "\ufffd"), 0),
      step: 0,
      selected: [],
    }),
  });
  node.append(h("small", { class: "title", text: `At most ${MOST} tokens are read.` }));
  return node;
};

/** The bug's text goes wrong only some steps later: the switch goes on to there. */
function bug(ui, { go }) {
  const seek = () => {
    const state = ui.state();
    const patch = state.bug && parting(layout(state)) < 0 && go(1)(state);
    if (!patch) return;
    ui.set(patch);
    setTimeout(seek);
  };
  return ui.toggle({
    label: "bug: position stays 0",
    trait: "bug",
    set: (on) => {
      setTimeout(seek);
      return { bug: on };
    },
  });
}

/** What stands above the pictures, and what waits under More. */
export function controls(ui, writer, walking) {
  const step = (label, by) =>
    ui.button({
      label,
      action: walking.go(by),
      disabled: (state) => walking.isOut(by, state),
    });
  const on = step("Step", 1);
  on.classList.add("go");
  return {
    controls: [step("Back", -1), on],
    more: [field(ui, writer), bug(ui, walking)],
  };
}

/** Whose memory is shown; a held point stays, on the last line where a model has fewer. */
export const memoryOf = (ui) =>
  ui.select({
    label: "Memory of",
    trait: "memory",
    set: (memory, { selected: [view, row, at], sizes }) => {
      const last = memories(shownOf({ memory, sizes })).length - 1;
      return { memory, selected: view > 1 ? [2, Math.min(row, last), at] : [] };
    },
    options: ({ sizes }) => [
      ["own", sizes.name],
      ...Object.entries(KNOWN).map(([name, known]) => [name, known.name]),
    ],
  });
