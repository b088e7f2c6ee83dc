// The state of KVCacheStepper, checked, and what is drawn and said of it. No DOM.
import * as must from "../kit/index.mjs";
import {
  KNOWN,
  MOST,
  POINTS,
  SIZES,
  STEPS,
  keptBytes,
  memories,
  parts,
  shownOf,
} from "./costs.mjs";
import { frame } from "./shapes.mjs";

export const SOURCES = {
  stored: "stored by Python",
  page: "computed in this page",
  yours: "from your Python",
};

function check(state) {
  const { tokens, prompt_length: first, step, selected } = state;
  const steps = tokens?.length - first;
  const [texts, gaps] = [must.text, must.finite].map((each) => must.list(each, steps));
  must.keep(state, {
    prompt: must.text,
    tokens: must.list(must.text, 0, MOST + STEPS + 1),
    prompt_length: must.whole(0, MOST),
    left_out: must.whole(0, 1e5),
    picks: texts,
    wrong_picks: texts,
    gaps,
    wrong_gaps: gaps,
    step: must.whole(0, Math.max(0, steps - 1)),
    bug: must.flag,
    source: must.one(...Object.keys(SOURCES)),
    memory: must.one("own", ...Object.keys(KNOWN)),
    sizes: must.parts({
      ...Object.fromEntries(SIZES.map((size) => [size, must.whole(1, 1e9)])),
      name: must.text,
    }),
  });
  must.whole(+!!first, first && STEPS + 1)(steps, "steps");
  const shape =
    selected?.[0] > 1
      ? [memories(shownOf(state)).length, POINTS + 1]
      : [first + step, first + step];
  must.place(3, ...shape)(selected, "selected");
}

/** Everything that is drawn or said, from the state alone. */
export function layout(state, room = 680) {
  check(state);
  const { prompt_length: first, step, bug, sizes, tokens } = state;
  const { weights, pair, logits } = parts(sizes);
  const cost = (side, at) => {
    const all = first + at;
    return first && (side && at ? 1 : all) * (weights + all * pair) + logits;
  };
  const said = [tokens.slice(first), bug ? state.wrong_picks : state.picks];
  const own = state.memory === "own";
  const shown = shownOf(state);
  const half = (room - 8) >> 1;
  return {
    state,
    first,
    step,
    said,
    cost,
    shown,
    gaps: bug ? state.wrong_gaps : state.gaps,
    length: first && first + step,
    most: Math.min(STEPS, sizes.max_len - first),
    texts: said.map((words) => [...tokens.slice(0, first), ...words.slice(0, step)]),
    each: keptBytes(sizes, sizes.n_kv_heads),
    memories: memories(shown, own ? 4 : 2),
    half,
    full: room < 620 ? room : half,
    ...frame(first, half),
  };
}
