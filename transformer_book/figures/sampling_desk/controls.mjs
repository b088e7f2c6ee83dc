// What SamplingDesk is told: text, seed, settings, draws.
import { h } from "../kit/index.mjs";
import { SIGNS, isFull, source } from "./layout.mjs";
import { MODEL, answer } from "./model.mjs";
import { heights, places } from "./numbers.mjs";

const fresh = { count: 0, held: -1 };

const whole = (text) =>
  [...text.replace(/\p{Surrogate}/gu, "\ufffd")].slice(0, SIGNS).join("");

const writes = (ui) =>
  h(
    "div",
    { class: "own" },
    ui.text({
      label: "Your text",
      trait: "text",
      maxlength: SIGNS,
      set: (text) => ({ ...fresh, drawn: [], text: whole(text) }),
    }),
    ui.number({
      label: "Seed",
      trait: "seed",
      min: 1,
      max: 1000,
      step: 1,
      set: (seed) => ({ seed: Math.round(seed) }),
    }),
  );

const off = (none) => (value) => (value === none ? "off" : String(value));

const temperature = (ui) =>
  ui.slider({ label: "Temperature", trait: "temperature", min: 0, max: 2, step: 0.1 });

/** What cuts tokens off, in steps that a finger can hit. */
const sliders = (ui) =>
  h(
    "div",
    { class: "sliders" },
    ui.slider({
      label: "top-k",
      min: 1,
      max: 51,
      step: 1,
      get: ({ top_k }) => top_k || 51,
      set: (k) => ({ top_k: k % 51 }),
      format: off(51),
    }),
    ui.slider({
      label: "top-p",
      trait: "top_p",
      min: 0.05,
      max: 1,
      step: 0.05,
      format: off(1),
    }),
    ui.slider({
      label: "min-p",
      trait: "min_p",
      min: 0,
      max: 1,
      step: 0.05,
      format: off(0),
    }),
  );

/** `now()` is the geometry, of which a token is drawn. */
function buttons(ui, now) {
  const next = (state) => {
    const { order, after } = now();
    const [u] = heights(state.seed, state.drawn.length, 1);
    return { ...fresh, drawn: [...state.drawn, order[places(after, [u])[0]]] };
  };
  const hundred = ui.button({
    label: "Draw 100",
    text: ({ count }) => (count ? "Draw 100 more" : "Draw 100"),
    action: ({ count }) => ({ count: count + 100 }),
    disabled: (state) => state.count >= 1000 || source(state).problem,
  });
  hundred.classList.add("go");
  const others = [
    ui.button({
      label: "Back",
      action: ({ drawn }) => ({ ...fresh, drawn: drawn.slice(0, -1) }),
      disabled: ({ drawn }) => !drawn.length,
    }),
    ui.button({
      label: "Draw 1",
      action: next,
      disabled: (state) => isFull(state) || source(state).problem,
    }),
    ui.button({
      label: "Greedy trap",
      text: ({ trap }) => (trap ? "Close trap" : "Greedy trap"),
      action: ({ trap }) => ({ trap: !trap }),
      disabled: (state) =>
        state.source !== MODEL || (!state.trap && answer(state)?.problem),
    }),
  ];
  return { hundred, others };
}

/** The main ones, and those that wait under More. */
export function controls(ui, now) {
  const { hundred, others } = buttons(ui, now);
  return {
    controls: [temperature(ui), hundred],
    more: [...others, sliders(ui), writes(ui)],
  };
}
