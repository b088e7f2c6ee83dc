// The line of a figure that waits for a model: how far it is, what runs, or why nothing came.
import { h, set } from "../kit/dom.mjs";
import { loadModel } from "./load.mjs";

/** What runs here, and what rounding costs where numbers were rounded. */
export function runsHere({ name, about: { accuracy } }) {
  const here = `The model ${name} runs in this page`;
  if (!accuracy) return `${here}.`;
  const { measure, int8, float32 } = accuracy;
  return `${here}, in int8: ${measure} ${int8}, in float32 ${float32}; lower is better, 8 knows nothing.`;
}

/**
 * bring(ui, name, ready(model)) -> the line; ready is called once, then the figure paints.
 * Of a figure that is gone by then, nothing is done.
 */
export function bring(ui, name, ready) {
  const said = h("span", { text: `Stored numbers, until the model ${name} is here. ` });
  const bar = h("progress", { max: 1, value: 0, "aria-label": `The model ${name} comes` });
  const { signal } = ui;
  const end = (text) => {
    if (signal.aborted) return;
    bar.remove();
    set(said, { text });
  };
  const progress = (share) => set(bar, { value: share });
  loadModel(name, { widget: ui.widget, signal, progress })
    .then((model) => {
      if (signal.aborted) return;
      ready(model);
      end(runsHere(model));
      ui.repaint();
    })
    .catch((error) => end(`Stored numbers: ${error.message}.`));
  return h("p", { class: "try coming" }, said, bar);
}
