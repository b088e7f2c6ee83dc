// What ShapeLedger shows: the lines, the small reshapes, and what a change did.
import { fill, grid, h, join, panel, s, set } from "../kit/index.mjs";
import { around, reshape, row } from "./layout.mjs";
import { changes, sentence, watched } from "./text.mjs";

/** Every attribute, as `fill` keeps those that are not named. */
const plain = ({ text, x, y, class: kind = null, "text-anchor": anchor = null }) => ({
  text,
  x,
  y,
  class: kind,
  "text-anchor": anchor,
});

/** The ledger: one tab stop, a line for each line of code. */
export function ledger(ui) {
  const [paths, texts] = [s("g"), s("g")];
  const body = s("g", { role: "grid", "aria-label": "Lines of the forward pass" });
  const svg = s("svg", {}, s("g", { "aria-hidden": "true" }, paths, texts), body);
  const { node, note } = panel("One forward pass", svg);
  let count = 1;
  const cells = grid(node, {
    size: () => [count, 1],
    locked: () => ui.locked() && [ui.locked()[0], 0],
    hover: (cell) => ui.hover(cell && [cell[0]]),
    lock: (cell) => ui.set({ selected: cell ? [cell[0]] : [] }),
  });
  const create = () =>
    s(
      "g",
      { role: "row" },
      s("g", { "aria-hidden": "true" }, s("g"), s("g")),
      s(
        "g",
        { role: "gridcell", "data-col": 0 },
        s("rect", { fill: "transparent" }),
        s("rect", { class: "halo" }),
        s("rect", { class: "ring" }),
      ),
    );
  function draw(geometry) {
    const { lines, frame } = geometry;
    const frameOf = around(geometry);
    count = lines.length;
    set(svg, { width: frame.room, height: frame.height });
    set(note, {
      text: "all blocks; FLOPs of matrix products; bytes of results: float32, tokens int64 (8 each)",
    });
    fill(paths, frameOf.paths, "path");
    fill(texts, frameOf.texts.map(plain), "text");
    const [active, hold] = [ui.active()?.[0], ui.locked()?.[0]];
    join(
      body,
      lines,
      (_, r) => r,
      create,
      ({ children: [shown, cell] }, line, r) => {
        const shape = row(geometry, line, r);
        set(shown, { "data-part": shape.part });
        fill(shown.firstChild, shape.boxes, "rect");
        fill(shown.lastChild, shape.texts.map(plain), "text");
        set(cell, {
          "data-row": r,
          "aria-selected": String(hold === r),
          "aria-label": sentence(
            { ...geometry, state: { ...geometry.state, wrong: false } },
            [r],
          ),
          class:
            [hold === r && "locked", active === r && "active"]
              .filter(Boolean)
              .join(" ") || null,
        });
        for (const rect of cell.children) set(rect, shape.box);
      },
    );
    cells.update();
  }
  return { node, draw };
}

/** A few tokens in a few heads: who reads whose piece, with one way to split them. */
export function pieces(title, wrong) {
  const parts = [s("g"), s("g")];
  const svg = s("svg", { role: "img" }, ...parts);
  const { node, note } = panel(title, svg);
  const draw = ({ state }) => {
    const { boxes, texts, from, width, height } = reshape({ ...state, wrong });
    const small = from.length < state.n_heads || from[0].length < state.length;
    set(note, {
      text: small ? `in small: ${from[0].length} tokens, ${from.length} heads` : "",
    });
    set(svg, {
      width,
      height,
      "aria-label": from
        .map((row, j) => `head ${j} reads tokens ${row.join(", ")}`)
        .join("; "),
    });
    fill(parts[0], boxes, "rect");
    fill(parts[1], texts.map(plain), "text");
  };
  return { node, draw };
}

/** The change and what it did, beside the fields: what was before is not of the state. */
export function watch() {
  const [said, list] = [h("p", { class: "said" }), h("dl")];
  const node = h("div", { class: "watch" }, list, said);
  const sizes = ({ state: { selected, wrong, ...rest } }) => JSON.stringify(rest);
  let [before, now, from, last] = [];
  const typed = (state) => (from = state);
  const forget = () => (now = null);
  function draw(geometry) {
    // all that is typed into a field at once is one change
    if (!now || sizes(geometry) !== sizes(now)) {
      if (!from || from !== last) before = now ?? geometry;
      last = from;
    }
    from = null;
    now = geometry;
    set(said, { text: changes(before.state, now.state) });
    join(
      list,
      watched(before, now),
      ([name]) => name,
      () => h("div", {}, h("dt"), h("dd")),
      ({ children: [name, value] }, [is, text]) => {
        set(name, { text: is });
        set(value, { text });
      },
    );
  }
  return { node, draw, typed, forget };
}
