/*
The figures' kit. A figure is a folder; its view.mjs exports what it is made of:

  import { matrix, matrixFrame } from "../kit/index.mjs";

  export default {
    name: "softmax_mask",            // of the folder, and data-figure
    title: "Softmax and mask",       // what a screen reader calls the figure
    steps: [{ say: "Press Step.", set: { step: 0 } }, ...],  // at most three: what to do,
                                     // and how the figure then stands: steps.mjs
    keys: ", + and − change a score",   // optional, after "Enter holds, Esc lets go"
    limits,                          // limits.json: all of the state, Python's names
    layout: (state, width = 680) => geometry,  // pure; throws Error("rule, got value") on a
                                     // bad state: keep(state, limits)
    sentence: (geometry, active) => "...",    // live sentence; active = [row, col] or null
    table: (geometry) => ({ caption, header: [...], rows: [[...]] }),     // also the CSV
    pytorch: (state, geometry) => "import torch\n...assert...",  // runs as it is
    locked: (state) => state.selected,        // what Enter or a click has locked, or null
    lock: (cell, state) => ({ selected: cell ?? [] }),           // patch for a lock
    rest: (state) => [row, col],              // optional: active if nothing else is
    build: (ui) => ({
      controls: [ui.slider({ ... }), ...],    // nodes, in order: the main control
      more: [ui.toggle({ ... }), ...],        // optional: the others, which wait under More
      picture: [panel.node],                  // nodes that hold SVG pictures
      below: [panel.node],                    // optional: those below the sentence, as is
                                     // on a phone what of picture has the class "after"
      formula: { equation: [...], code: [...] },                 // optional
      draw: (geometry, view) => { ... },      // after every change; view = { hover, width }
    }),
  };

A figure that keeps something beside its state exports a function that makes this anew for
each figure of a page. Its CSS is style.css, inside the shadow root.

ui     state() now; set({ trait: value }) changes traits here and in Python; reset();
       onReset(forget) for what is held beside the state; hover(cell or null) is passing
       attention, lock(cell or null) stays; active() is hover or locked; bind(update(state)) runs before each draw; repaint(); light(part).
       layout runs only when state or width changed, draw also when the hover changed.
       widget is what anywidget gave: bring(ui, ...) of engine/ asks it for weights.
       signal aborts when the figure is taken off the page.
       Never change what state() holds: build new lists.
controls  ui.slider, number, text, toggle, select, choice, button: controls.mjs.
       Bound by { label, trait } or { label, get(state), set(value, state) -> patch },
       `disabled(state)`; they update themselves. A number out of range is told the range.
       The main control, one in each figure, has the class "go": it is the largest.
term   ui.term("entropy", "How widely ...") -> a node: a word that opens its explanation
       by mouse, finger and keyboard: disclosure.mjs. Not inside a <label>.
matrix a token-by-token SVG grid, one tab stop: arrows, Home, End, Ctrl+Home, Ctrl+End,
       Enter or click locks, Esc unlocks, hover or focus shows: matrix.mjs. A label must
       contain the text that its cell shows (voice control asks for what it sees).
grid   the same for a picture of your own: elements with data-row and data-col: grid.mjs.
       A 1-by-n grid is a list of points. Call .update() after each redraw.
pad    a grid for pictures of thousands of points, heatmaps and curves, with one element
       for the cell that the reader is at instead of one for each: pad.mjs.
panel  panel("Title", node) -> { node, note }: a titled box around a picture of your own.
formula  parts [name, text, class] in equation and code; elements with data-part="name"
       (matrix cells: `part`) light up together: formula.mjs.
Text   tokenText(token) in pictures, quote(token) in sentences, percent, number, short,
       commas, compact, python (a literal), pythonRows (one row per line): text.mjs.
       Tokens may be anything: never build markup of them.
Numbers  range, times, sum, dot, softmax; draws(seed), the same numbers everywhere:
       numbers.mjs.
Shape  matrixFrame, hatch, line, scale: geometry.mjs. cividis(x), inkOn(x) for weights in
       0..1: palette.mjs.
Rules  keep(state, limits): schema.mjs, which says how limits.json is written.
DOM    h(tag, props, ...children), s(...) for SVG, set, join (keyed), fill: dom.mjs.
Colors var(--query), --key, --value, --position, --text, --quiet, --line, --soft,
       --surface, --ground; SVG text classes query, key, value, position, quiet, token,
       strong. palette.json is the only place of the values.
SVG    use attributes or the classes of style.css; no ids, no <pattern> (hatch() instead).
*/
export { fill, h, join, s, set } from "./dom.mjs";
export { figure } from "./figure.mjs";
export { hatch, line, matrixFrame, scale } from "./geometry.mjs";
export { grid } from "./grid.mjs";
export { matrix, panel } from "./matrix.mjs";
export { pad } from "./pad.mjs";
export { cividis, inkOn } from "./palette.mjs";
export { dot, draws, range, seedOf, softmax, sum, times } from "./numbers.mjs";
export {
  commas,
  compact,
  number,
  percent,
  python,
  pythonRows,
  quote,
  short,
  tokenText,
} from "./text.mjs";
export * from "./schema.mjs";
