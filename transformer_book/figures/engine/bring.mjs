// The line of a figure that waits for a model: how far it is, what runs, or why nothing came.
import { h, set } from "../kit/index.mjs";
import { loadModel } from "./load.mjs";

/** What runs here, and what rounding costs where numbers were rounded. */
export function runsHere({ name, about: { accuracy } }) {
  const here = `The model ${name} runs in this page`;
  if (!accuracy) return `${here}.`;
  const { measure, int8, float32 } = accuracy;
  const worse = (100 * (int8 / float32 - 1)).toFixed(2);
  const unit = measure.replace("validation ", "");
  return `${here}, with its weights rounded to 8 bits (int8). Rounding makes it ${worse}% worse on unseen text: ${int8} ${unit} instead of ${float32}; a uniform guess scores 8.`;
}

const notYet = (name) =>
  `Stored numbers: Python has not sent the model ${name} yet. It may be busy; if nothing runs, run this cell again.`;

/**
 * bring(ui, name, ready(model)) -> the line; ready is called once, then the figure paints.
 * What does not come can be asked for again. Of a figure that is gone, nothing is done.
 */
export function bring(ui, name, ready) {
  const said = h("span");
  const bar = h("progress", { max: 1, "aria-label": `Loading the model ${name}` });
  const again = h("button", {
    type: "button",
    text: "Try again",
    onclick: () => {
      line.focus(); // the button goes
      ask();
    },
  });
  const line = h("p", { class: "coming", tabindex: -1 }, said);
  const { signal } = ui;
  const show = (text, ...others) => {
    if (signal.aborted) return;
    set(said, { text });
    for (const node of [bar, again]) node.remove();
    said.after(...others); // a figure may have added to the line
  };
  const progress = (share, isLate) => {
    set(bar, { value: share });
    if (isLate) show(notYet(name));
  };
  function ask() {
    show(`Stored numbers, until the model ${name} has loaded. `, bar);
    loadModel(name, { widget: ui.widget, signal, progress })
      .then((model) => {
        if (signal.aborted) return;
        ready(model);
        show(runsHere(model));
        ui.repaint();
      })
      .catch((error) => show(`Stored numbers: ${error.message}. `, again));
  }
  ask();
  return line;
}
