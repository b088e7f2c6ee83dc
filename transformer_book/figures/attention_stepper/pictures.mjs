// The numbers of one query, step by step, and one pair close up.
import {
  fill,
  grid,
  hatch,
  join,
  number,
  panel,
  quote,
  s,
  set,
  tokenText,
} from "../kit/index.mjs";
import { closeUp, entry, fit, is, place } from "./layout.mjs";

/** As long as the focus is elsewhere, the grid's tab stop is the picked cell. */
export const stopAt = (node, [row, col]) =>
  node.matches(":focus-within") ||
  node.querySelectorAll("[data-row]").forEach((cell) => {
    cell.tabIndex = (cell.dataset.row == row && cell.dataset.col == col) - 1;
  });

const DASH = { key: "4 2", value: "1 2.5" };

/** The numbers of one query, step by step: one stop, a column (or row) per key. */
export function ledger(ui) {
  const marks = s("g", { "aria-hidden": "true" });
  // Outside the cells: their names say the same in words, and not these very digits.
  const columns = s("g", { "aria-hidden": "true" });
  const body = s("g", { role: "presentation" });
  const picture = s(
    "svg",
    { role: "grid", "aria-label": "Steps, key by key" },
    marks,
    columns,
    body,
  );
  const box = panel("One query", picture);
  let geometry = null;
  const cellOf = (j) => (geometry.ledger.wide ? [0, j] : [j, 0]);
  const pairAt = (cell) => cell && [geometry.pair[0], cell[0] + cell[1]];
  const cells = grid(box.node, {
    size: () => cellOf(geometry.tokens.length - 1).map((last) => last + 1),
    locked: () => (geometry.state.locked ? cellOf(geometry.pair[1]) : null),
    hover: (cell) => ui.hover(pairAt(cell)),
    lock: (cell) => ui.lock(pairAt(cell)),
  });

  function drawMarks({ ledger: frame, labels, step, tokens }, [, j]) {
    const { wide, bands, left, top } = frame;
    const lines = bands.map((band) => ({ ...band, now: band.step === step }));
    const keys = labels.map((text, i) => ({ key: i, text, strong: i === j }));
    join(
      marks,
      [...lines, ...keys],
      (_, i) => i,
      () => s("text"),
      (node, m) => {
        if (m.key === undefined) {
          const middle = m.at + m.size / 2;
          set(node, {
            text: `${m.now && wide ? "▸ " : ""}${m.label}`,
            transform: null,
            x: wide ? left - 8 : left + middle,
            y: wide ? top + middle : top - 12,
            "text-anchor": wide ? "end" : "middle",
            class: `token ${m.now ? "strong" : m.step > step ? "quiet" : ""}`,
          });
          return;
        }
        const at = place(frame, bands[0], m.key);
        const x = wide ? at.x + at.width / 2 : left - 8;
        const slanted = wide && !frame.flat;
        set(node, {
          text: wide
            ? m.text
            : `${m.key + 1} ${tokenText(tokens[m.key], Math.max(2, frame.room))}`,
          x,
          y: wide ? top - 11 : at.y + at.height / 2,
          "text-anchor": slanted ? "start" : wide ? "middle" : "end",
          transform: slanted && `rotate(-45 ${x - 3} ${top - 11})`,
          class: `token key ${m.strong ? "strong" : ""}`,
        });
      },
    );
  }

  function drawBand(node, band, [i, j]) {
    const at = place(geometry.ledger, band, j);
    const {
      text = "",
      d,
      tone,
      fill = "transparent",
      ink,
      masked,
      quiet,
    } = entry(geometry, band, [i, j], at);
    const [rect, base, shape, label] = node.children;
    const middle = at.y + at.height / 2;
    set(node, {
      "data-part": band.part,
      class: masked ? "masked" : band.step === geometry.step && "now",
    });
    set(rect, { ...at, fill });
    set(base, {
      d: d && `M${at.x + 4} ${middle}h${at.width - 8}`,
      class: tone && `base ${tone}`,
      "stroke-dasharray": DASH[tone],
    });
    set(shape, {
      d: masked ? hatch(...Object.values(at)) : d,
      class: masked ? "hatch" : tone,
    });
    set(label, {
      x: at.x + at.width / 2,
      y: middle,
      text,
      style: ink && `fill:${ink}`,
      class: quiet && "quiet",
    });
  }

  const newBand = () =>
    s(
      "g",
      {},
      s("rect", { class: "box" }),
      s("path"),
      s("path"),
      s("text", { "text-anchor": "middle" }),
    );
  const newKey = () =>
    s(
      "g",
      { role: "gridcell" },
      s("rect", { fill: "transparent" }),
      s("rect", { class: "halo" }),
      s("rect", { class: "ring" }),
    );

  function drawKey(node, j, [i, active]) {
    const { ledger: frame, tokens, scores, scaled, open, weights, step } = geometry;
    const [room, halo, ring] = node.children;
    const [row, col] = cellOf(j);
    const held = geometry.held === `${[i, j]}`;
    const known = [
      step > 1 && `q · k ${number(scores[i][j])}`,
      step > 2 && `scaled ${number(scaled[i][j])}`,
      step > 3 && (open[i][j] ? "may look" : "may not look"),
      step > 4 && `weight ${number(weights[i][j])}`,
    ].filter(Boolean);
    set(node, {
      "data-row": row,
      "data-col": col,
      "aria-selected": String(held),
      "aria-label": [`key ${quote(tokens[j])}`, ...known].join(", "),
      class: [held && "locked", active === j && "active"].join(" "),
    });
    const [{ x, y }, end] = [frame.bands[0], frame.bands.at(-1)].map((b) =>
      place(frame, b, j),
    );
    const outline = (inset) => ({
      x: x + inset,
      y: y + inset,
      width: end.x + end.width - x - 2 * inset,
      height: end.y + end.height - y - 2 * inset,
    });
    set(room, outline(0));
    set(halo, outline(2.5));
    set(ring, outline(1));
  }

  function draw(now, pair) {
    geometry = now;
    const { ledger: frame, tokens } = geometry;
    set(box.note, { text: `${quote(tokens[pair[0]], 16)} meets every key` });
    set(picture, { width: frame.width, height: frame.height });
    drawMarks(geometry, pair);
    const all = tokens.map((_, j) => j);
    join(
      columns,
      all,
      (j) => j,
      () => s("g"),
      (column, j) =>
        join(
          column,
          frame.bands,
          (band) => band.name ?? band.part,
          newBand,
          (child, band) => drawBand(child, band, [pair[0], j]),
        ),
    );
    join(
      body,
      frame.wide ? [all] : all.map((j) => [j]),
      (row) => String(row),
      () => s("g", { role: "row" }),
      (row, keys) =>
        join(
          row,
          keys,
          (j) => j,
          newKey,
          (node, j) => drawKey(node, j, pair),
        ),
    );
    cells.update();
    stopAt(box.node, cellOf(geometry.pair[1]));
  }
  return { node: box.node, draw };
}

export function close() {
  const picture = s("svg", { role: "img" });
  const box = panel("One pair", picture);
  const draw = (geometry, [i, j]) => {
    const { tokens, step, scores, scaled, weights, root } = geometry;
    const { lines, texts, width, height, rest } = closeUp(geometry, [i, j]);
    const sums = [
      step > 2 && `q · k ÷ ${root} ${is(scaled[i][j], scores[i][j])}`,
      step > 4 && `w ${is(weights[i][j])}`,
    ].filter(Boolean);
    const who = `query ${quote(tokens[i], 12)}, key ${quote(tokens[j], 12)}${rest}`;
    set(box.note, { text: [who, ...sums].join(", ") });
    set(picture, {
      width,
      height,
      "aria-label": `${who}: ${lines
        .filter((line) => !(step < line.from))
        .map((line) => `${line.label} ${line.values.map((x) => fit(x)).join(" ")}`)
        .join("; ")}`,
    });
    fill(
      picture,
      texts.map(({ x, y, text, head, tone, strong }) => ({
        x,
        y,
        text,
        "text-anchor": head ? "end" : "middle",
        class: ["token", tone, strong && "strong"].join(" "),
      })),
      "text",
    );
  };
  return { node: box.node, draw };
}
