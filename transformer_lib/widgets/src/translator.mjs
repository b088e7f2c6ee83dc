// Translator: an encoder-decoder reads while it writes, token by token.
import { bring } from "./inference/index.mjs";
import {
  cividis, figure, fill, grid, h, inkOn, join, matrix, matrixFrame, number, panel, quote, s,
  set, tokenText,
} from "./kit/index.mjs";
import { keep, list, one, parts, place, real, rule, shares, text, whole } from "./rules/index.mjs";
import { LONGEST, MOST, SHIPPED, createAnswers, wordsOf } from "./translator/answers.mjs";
import { english, meantBy, numberOf } from "./translator/numbers.mjs";
import { choices, frame, headings, lines, sources, step } from "./translator/shapes.mjs";
import {
  cellSentence, headsOf, pytorch, rowSentence, sentence, table, verdict,
} from "./translator/words.mjs";

export { locked, pytorch, sentence, table };

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { answer } = state;
  const [rows, columns, layers] = [answer?.target?.length, answer?.source?.length, answer?.weights];
  const row = (all, name) => {
    list(real(0, 1000), columns)(all, name);
    shares(1000, columns / 2 + 1)(all, name);
  };
  const choice = parts([text, real(0, 1)]);
  keep(state, {
    text: rule("a number from 1 to 999,999, or short words", (x) => x === `${x}` && wordsOf(x) !== null),
    answer: parts({
      words: text, expected: text, by: text, translation: text, source: list(text, 1, MOST), target: list(text, 1, MOST),
      chances: list(list(choice, 1, MOST), rows),
      weights: list(list(list(row, rows), layers?.[0]?.length || 1), 1, MOST),
    }),
    step: whole(0, MOST), view: one("lines", "grid"), selected: list(whole(0, MOST - 1), 0, 2),
    head: (x, name) => place(layers.length, layers[0].length)(x, name),
  });
}

/** What is shown of an answer, and why it may not be the one that was asked for. */
function choose({ text, answer }, ask, refused) {
  const asked = refused ?? wordsOf(text);
  const other = asked !== answer.words;
  const known = numberOf(asked);
  const here = other && ask && known;
  const problem = known ? "its answer has not come yet" : "type a number from 1 to 999,999";
  const waiting = other && !here && `${quote(asked, 80)}: ${problem}. Shown is ${quote(answer.words, 80)}.`;
  return { asked, answer: here ? ask(asked) : answer, here, waiting };
}

/** Everything that is drawn or said, from the state, and the page's model once it is here. */
export function layout(state, width = 680, ask = null, refused = null) {
  check(state);
  const chosen = choose(state, ask, refused);
  const { answer } = chosen;
  const head = answer.weights[state.head[0]]?.[state.head[1]] ? state.head : [];
  const used = head.length ? [answer.weights[head[0]][head[1]]] : answer.weights.flat();
  const shown = Math.min(state.step, answer.target.length);
  const rows = Math.min(shown + 1, answer.target.length);
  const shares = Array.from({ length: rows }, (_, r) =>
    answer.source.map((_, c) => used.reduce((sum, one) => sum + one[r][c], 0) / used.length / 1000));
  const at = (active) => {
    if (active?.length && active[0] < rows)
      return active.slice(0, active.length > 1 && active[1] < answer.source.length ? 2 : 1);
    return shown < rows ? [shown] : null;
  };
  return {
    ...chosen, state, width, head, shown, rows, shares, at, done: shown === answer.target.length,
    heads: headsOf(head, answer.weights), frame: frame(answer, width),
  };
}

const locked = ({ selected }) => (selected.length ? selected : null);

/** Tokens and lines: one tab stop, a line for each step. */
function looks(ui) {
  const [paths, boxes, texts, heads] = [s("g", { "data-part": "weights" }), s("g"), s("g"), s("g")];
  const steps = s("g", { role: "grid", "aria-label": "Steps of the decoder", "data-part": "next" });
  const svg = s("svg", {},
    s("g", { "aria-hidden": "true" }, heads, paths, s("g", { "data-part": "memory" }, boxes, texts)), steps);
  const { node, note } = panel("Where each step looks", svg);
  let now = { rows: 1 };
  const hold = () => now.at && ui.locked() && ui.locked()[0] < now.rows ? [ui.locked()[0], 0] : null;
  const cells = grid(node, {
    size: () => [now.rows, 1],
    locked: hold,
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
    key: walking(ui, () => now),
  });
  const create = () =>
    s("g", { role: "row" }, s("g", { role: "gridcell", "data-col": 0 },
      s("rect", { fill: "transparent" }), s("rect"), s("text", { "text-anchor": "middle" }),
      s("text", { class: "quiet", "text-anchor": "end" }),
      s("rect", { class: "halo" }), s("rect", { class: "ring" })));
  function draw(geometry) {
    now = geometry;
    const active = ui.active();
    const at = geometry.at(active)?.[0] ?? null;
    set(note, { text: geometry.heads });
    set(svg, { width: geometry.frame.room, height: geometry.frame.height });
    fill(heads, headings(geometry.frame), "text");
    fill(paths, lines(geometry, at), "path");
    const from = sources(geometry, at);
    fill(boxes, from.boxes, "rect");
    fill(texts, from.texts, "text");
    join(steps, geometry.shares, (_, r) => r, create, ({ firstChild: cell }, _, r) => {
      const shape = step(geometry, r);
      const held = hold()?.[0] === r;
      set(cell, {
        "data-row": r, "aria-selected": String(held),
        "aria-label": `${shape.text.text} ${shape.chance.text}: ${rowSentence(geometry, r)}`,
        class: [held && "locked", active && at === r && "active"].join(" "),
      });
      const [area, box, text, chance, halo, ring] = cell.children;
      set(area, shape.area);
      set(box, shape.box);
      set(text, { ...shape.text, class: r < geometry.shown ? "token query" : "token" });
      set(chance, { ...shape.chance, text: ` ${shape.chance.text}` });
      for (const rect of [halo, ring]) set(rect, { ...shape.area, rx: 6 });
    });
    cells.update();
  }
  return { node, draw };
}

/** The same as a matrix: steps by source tokens. */
function map(ui) {
  let now = null;
  const pair = ({ selected }) => (selected.length === 2 && selected[0] < now.rows ? selected : null);
  const inner = matrix(ui, {
    title: "Where each step looks", label: "Steps by source tokens", locked: pair,
    key: walking(ui, () => now),
  });
  function draw(geometry, view) {
    now = geometry;
    const { answer, shares, shown, width, heads } = geometry;
    const names = (tokens, kind) => tokens.map((token) => ({ text: tokenText(token, 10), label: tokenText(token), kind }));
    const [rows, cols] = [names(answer.target, "query"), names(answer.source, "key")];
    const texts = (all) => all.map(({ text }) => text);
    const all = matrixFrame({ rows: texts(rows), cols: texts(cols), width, max: 48, min: 20 });
    const next = { text: "?", label: "next", kind: "query" };
    inner.draw({
      frame: all, cols, rows: [...rows.slice(0, shown), next].slice(0, shares.length),
      note: heads + (all.width > width ? "; more →" : ""),
      cells: shares.map((row, r) => row.map((x, c) => ({
        text: number(x), fill: cividis(x), ink: inkOn(x), area: x, part: "weights",
        label: `${number(x)}: ${cellSentence(geometry, r, c)}`,
      }))),
    }, view);
  }
  return { node: inner.node, draw };
}

/** The most probable tokens of one step. */
function chances(ui) {
  const parts = [s("g"), s("g")];
  const svg = s("svg", { role: "img", "data-part": "next" }, ...parts);
  const { node, note } = panel("Next token", svg);
  function draw(geometry) {
    const [r] = geometry.at(ui.active()) ?? [0];
    const { boxes, texts, width, height } = choices(geometry, r);
    set(note, { text: `chances at step ${r + 1}` });
    const all = geometry.answer.chances[r].map(([token, p]) => `${quote(token)} ${number(p, 4)}`);
    set(svg, { width, height, "aria-label": `Most probable tokens of step ${r + 1}: ${all.join(", ")}` });
    fill(parts[0], boxes, "rect");
    fill(parts[1], texts, "text");
  }
  return { node, draw };
}

const walk = (by) => ({ shown, answer }) =>
  ({ step: Math.max(0, Math.min(answer.target.length, shown + by)), selected: [] });

/** + and - step, in both pictures. */
const walking = (ui, now) => ({ key }) => {
  const by = { "+": 1, "=": 1, "-": -1 }[key];
  if (by) {
    ui.set(walk(by)(now()));
    ui.hover(null); // the sentence goes along
  }
  return Boolean(by);
};

const placeOf = ({ text, step }) => text + step;

/**
 * The field: words that are joined in another way are taken for those that the model has
 * learned; what is no number is said. What is typed stays until text or step are others.
 */
function field(ui, page) {
  const warning = h("p", { class: "warning", role: "status" });
  ui.onReset(() => { page.of = null; });
  ui.bind(() => set(warning, {
    text: page.refused == null ? "" : "Type 1 to 999,999, or in English words: one hundred and twenty-one (one to nineteen, twenty to ninety, hundred, thousand).",
  }));
  const node = ui.text({
    label: "1 to 999,999, or in English words", maxlength: LONGEST,
    get: ({ text }) => page.typed ?? text,
    set: (value) => {
      const text = value.replace(/\p{Surrogate}/gu, "\ufffd");
      const words = wordsOf(text) ?? "";
      const n = meantBy(words);
      const known = n && english(n);
      page.typed = text;
      page.refused = n ? null : text;
      const patch = n ? { text: known === words ? text : known, step: page.now.done ? MOST : 0, selected: [] } : {};
      page.of = placeOf({ ...ui.state(), ...patch });
      return patch;
    },
  });
  return [node, warning];
}

/** The translation as far as it is written; what comes later keeps its room. */
function result() {
  const [from, said, later, after] = [h("b"), h("b", { class: "said" }), h("span", { class: "later" }), h("span")];
  const node = h("p", { class: "result" }, from, " → ", said, after, later);
  const draw = ({ asked, answer, shown, done, waiting }) => {
    const tokens = answer.target.filter((token) => token !== "<end>");
    const text = waiting ? "" : done ? answer.translation : tokens.slice(0, shown).join("");
    set(from, { text: tokenText(asked, 160) });
    set(said, { text: text && tokenText(text, 160) });
    set(later, { text: done ? "" : tokenText(tokens.slice(shown).join(""), 160) });
    set(after, { text: waiting ? "?" : done ? ` ${verdict(answer)}` : "…" });
  };
  return { node, draw };
}

/** Where the numbers come from; as long as the model is not here, its own line says it. */
const origin = ({ here, answer: { by } }, ask) => {
  if (by !== SHIPPED) return `Shown: from Python (${by}). `;
  return ask ? `Shown: ${here ? "computed here" : "as stored"}. ` : "";
};

function build(ui, page) {
  const [lined, mapped, likely, said] = [looks(ui), map(ui), chances(ui), result()];
  const source = h("span");
  const own = ui.state().answer.by !== SHIPPED;
  const python = own && typeof ui.widget.send === "function";
  const coming = python ? h("p", { class: "try coming" })
    : bring(ui, SHIPPED, (model) => { page.ask = createAnswers(model); });
  coming.prepend(source);
  const pairs = (weights) => weights.flatMap((heads, l) => heads.map((_, i) => [l, i]));
  let stage = null;
  return {
    controls: [
      ...field(ui, page),
      ui.select({
        label: "Heads",
        options: ({ answer: { weights } }) => [
          ["", headsOf([], weights)], ...pairs(weights).map((pair) => [String(pair), headsOf(pair, weights)]),
        ],
        get: ({ head }) => String(head),
        set: (text) => ({ head: text ? text.split(",").map(Number) : [] }),
      }),
      ui.choice({ label: "As", trait: "view", options: [["lines", "lines"], ["grid", "grid"]] }),
      h("div", { class: "walk" },
        ...Object.entries({ "Start over": -MOST, Back: -1, Step: 1, All: MOST }).map(([label, by]) =>
          ui.button({
            label, action: () => walk(by)(page.now), disabled: () => (by < 0 ? !page.now.shown : page.now.done),
          }))),
      said.node,
    ],
    formula: {
      equation: [["memory", "memory", "key"], " = encoder(source);  ", ["next", "next", "query"],
        " = decoder(written, ", ["weights", "weights"], " × memory)"],
      code: [["memory", "memory"], " = model.encode(source); ", ["next", "logits"],
        " = model.decode(written, memory)[0, -1]"],
    },
    picture: [lined.node, coming],
    draw(geometry, view) {
      stage ??= lined.node.parentNode;
      const { view: seen } = geometry.state;
      const parts = { [seen]: seen === "lines" ? lined : mapped, likely };
      join(stage, [...Object.entries(parts), ["coming", { node: coming }]], ([name]) => name,
        ([, { node }]) => node, (_, [, { draw }]) => draw?.(geometry, view));
      said.draw(geometry);
      set(source, { text: origin(geometry, page.ask) });
    },
  };
}

const spec = {
  name: "translator",
  title: "An encoder-decoder translates, token by token",
  tip:
    "press Start over, then Step: where does the decoder look before each piece? Strong lines are much attention: why do those of 21 cross? Of 345?",
  keys: "; in pictures, + and − step",
  traits: ["text", "answer", "step", "head", "view", "selected"],
  sentence,
  table,
  pytorch,
  locked,
  lock: (cell) => ({ selected: cell ?? [] }),
  css: `
.say{min-height:6.2em}
.controls>label:first-child{flex:1 1 100%}.controls>label:first-child input{flex:0 1 24em;width:0}
.walk{display:flex;flex-wrap:wrap;gap:.5rem}
.warning{flex:1 1 100%;font-weight:600}.warning:empty{display:none}
.result{flex:1 1 100%;font-size:1.12em}.result b:first-child{color:var(--key)}
.said{color:var(--query)}.later{visibility:hidden}
.coming{flex:1 1 100%;margin:0;min-height:1.6em}progress{vertical-align:middle}
.look{fill:none;stroke:var(--query)}.look.at{stroke:var(--text)}
.chip{fill:var(--ground);stroke-width:1.5;stroke:var(--query)}
.chip.from{stroke:var(--key);stroke-dasharray:5 3}.chip.next{stroke:var(--line)}
.bar{fill:var(--line)}.bar.written{fill:var(--text)}
.lit .look{stroke:var(--text)}.lit :is(.chip,.bar){stroke:var(--text);stroke-width:3}
@media (forced-colors:active){.chip{fill:Canvas;stroke:CanvasText}.look{stroke:CanvasText}.bar{fill:CanvasText}}
@container (max-width:30rem){.say{min-height:10.6em}.coming{min-height:3.2em}}
`,
};

export default {
  render(given) {
    const page = {};
    const own = {
      layout(state, width) {
        if (page.of !== placeOf(state)) page.typed = page.refused = null;
        return (page.now = layout(state, width, page.ask, page.refused));
      },
      build: (ui) => build(ui, page),
    };
    return figure({ ...spec, ...own }).render(given);
  },
};
