// AttentionStepper: one query walks from scores to a weighted average of values.
import { MOST, dot, given, split } from "./attention/model.mjs";
import {
  cividis, figure, fill, grid, h, hatch, inkOn, join, matrix, matrixFrame, number, panel,
  percent, python, pythonRows, quote, s, set, short, tokenText,
} from "./kit/index.mjs";
import * as must from "./rules/index.mjs";

const TITLES = ["Q", "K", "scores", "scale", "mask", "softmax", "weights × V"];
const PARTS = ["query", "key", "scores", "scale", "mask", "softmax", "output"];
const LAST = TITLES.length - 1;
const TALL = 26; // height of a row of the map, of a line of numbers
const FITS = 37; // a cell of this width holds a number

const sum = (list) => list.reduce((total, x) => total + x, 0);
const plural = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;
const signs = (text) => [...text].length;

// ---- numbers ----

/** Python says what is wrong; this stops only a page or a link that was edited. */
function check(state) {
  const { model } = state;
  const three = (n, { query, value }) =>
    ({ query: must.table(n, query), key: must.table(n, query), value: must.table(n, value) });
  const x = model?.embedding;
  if (model) must.parts({
    words: must.list(must.text, 1, 999), embedding: must.table(model.words?.length, x),
    positions: (rows, name) => rows?.length && must.table(rows.length, x)(rows, name),
    ...three(x?.[0]?.length, model),
  })(model, "model");
  // what follows from the model does not count
  must.keep(model ? { ...state, query: 0, key: 0, value: 0 } : state, {
    text: must.text, step: must.whole(0, LAST), selected: must.list(must.whole(0, 1e9), 2),
  });
  const read = given(state);
  const n = read.tokens?.length;
  must.parts({
    tokens: must.list(must.text, 2, MOST), ...three(n, read),
    mask: Array.isArray(state.mask) ? must.list(must.list(must.flag, n), n) : must.one("none", "causal"),
  })({ ...state, ...read }, "");
  return read;
}

function softmax(scores, open) {
  const top = Math.max(...scores.filter((_, j) => open[j]));
  const powers = scores.map((x, j) => (open[j] ? Math.exp(x - top) : 0));
  const total = sum(powers);
  return powers.map((power) => (total ? power / total : 0));
}

/** All numbers of the seven steps; the same as attention_steps.compute in Python. */
export function numbers({ query, key, value }, { mask }) {
  const scores = query.map((q) => key.map((k) => dot(q, k)));
  const scaled = scores.map((row) => row.map((x) => x / Math.sqrt(query[0].length)));
  const open = scores.map((row, i) =>
    row.map((_, j) => (mask === "causal" ? j <= i : mask === "none" || mask[i][j])),
  );
  const weights = scaled.map((row, i) => softmax(row, open[i]));
  const output = weights.map((row) =>
    value[0].map((_, d) => sum(row.map((w, j) => w * value[j][d]))),
  );
  return { scores, scaled, open, weights, output };
}

// ---- geometry ----

/** The lines of the ledger; in the narrow one they are columns. */
function bandsOf(root, wide) {
  const size = (w, n) => (wide ? w : n);
  return [
    wide && { part: "query", step: 0, kind: "bars", label: "q", size: 32 },
    { part: "key", step: 1, kind: "bars", label: "k", size: size(32, 30) },
    { part: "scores", step: 2, label: size("q · k", "q·k"), size: size(TALL, 40) },
    { part: "scale", step: 3, label: `÷${root}`, size: size(TALL, 40) },
    { part: "mask", step: 4, label: "mask", size: size(TALL, 33) },
    { part: "softmax", step: 5, label: size("softmax", "w"), size: size(TALL, 34) },
    wide && { part: "output", name: "value", step: 6, kind: "bars", label: "v", size: 32 },
    { part: "output", step: 6, kind: "bars", label: size("w × v", "w·v"), size: size(32, 30) },
  ].filter(Boolean);
}

function frames(labels, root, width) {
  const rows = [...labels.map((text) => `▸${text}`), "▸ softmax"];
  const fitting = (room) => matrixFrame({ rows, cols: labels, width: room, max: 72, min: 20 });
  const half = fitting(width / 2 - 14);
  const frame = half.cell >= FITS && 2 * half.width + 24 <= width ? half : fitting(width);
  const wide = frame.cell >= FITS;
  const bands = bandsOf(root, wide);
  let at = 0;
  for (const band of bands) {
    band.at = at;
    at += band.size;
  }
  if (wide) {
    const cut = Math.max(1, Math.floor((frame.cell - 4) / 7.5));
    const ledger = { ...frame, wide, bands, height: frame.top + at + 4 };
    const tall = frame === half ? Math.max(TALL, Math.min(frame.cell, at / labels.length)) : TALL;
    const map = { ...frame, flat: true, top: 26, tall };
    map.height = map.top + tall * labels.length + 6;
    return { ledger, map, heads: (token) => tokenText(token, cut), names: labels };
  }
  const names = labels.map((_, i) => String(i + 1));
  const map = matrixFrame({ rows: ["▸12"], cols: names, width, max: 30, min: 19 });
  map.height += map.cell * (names.length - 1);
  const longest = 3 + Math.max(...labels.map(signs));
  const left = Math.min(Math.max(50, width - at - 2), 14 + 7.5 * longest);
  const ledger = {
    wide, bands, left, top: 26, width: left + at + 2, height: 30 + 24 * labels.length,
    room: Math.floor((left - 8) / 7.5) - 1 - signs(names.at(-1)),
  };
  return { ledger, map, heads: (_, i) => names[i], names };
}

/** Where band and key meet in the ledger. */
function place({ wide, left, top, cell }, band, j) {
  return wide
    ? { x: left + j * cell, y: top + band.at, w: cell, h: band.size }
    : { x: left + band.at, y: top + 24 * j, w: band.size, h: 24 };
}

const largest = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));

/** One bar per number, up for positive and down for negative, as a path. */
function bars(values, most, { x, y, w, h: height }) {
  const [inner, middle] = [w - 8, y + height / 2];
  const step = inner / values.length;
  return values
    .map((value, d) => {
      const left = number(x + 4 + d * step);
      const top = number(middle - (value / most) * (height / 2 - 2));
      return `M${left} ${middle}V${top}h${number(step * 0.8)}V${middle}z`;
    })
    .join("");
}

/** A [query, key] that is there: tokens may have changed under the reader's hand. */
const within = (pair, n) => pair.map((i) => Math.min(i, n - 1));

/** The selected [query, key]; a number past the end means the last token. */
const pairOf = ({ model, text, tokens, selected }) =>
  within(selected, model && text ? split(text, model).words.length : tokens.length);

/** Everything that is drawn or said, from the state alone. */
export function layout(state, width = 680) {
  const vectors = check(state);
  const { tokens, query, key, value } = vectors;
  const root = `√${query[0].length}`;
  const labels = tokens.map((token) => tokenText(token, 10));
  return {
    ...vectors, ...numbers(vectors, state), ...frames(labels, root, width),
    state, width, labels, root, step: state.step,
    pair: pairOf(state), held: state.locked && `${pairOf(state)}`,
    most: { match: largest([...query, ...key]), value: largest(value) },
  };
}

/** A number in at most five signs. */
function fit(x) {
  const size = Math.abs(x);
  return size < 1e4 ? number(x, size < 9.995 ? 2 : size < 99.95 ? 1 : 0) : x.toExponential(0);
}

/** Text, fill and bars of one cell of the ledger; nothing before its step has come. */
function entry(geometry, band, [i, j], at) {
  const { query, key, value, scores, scaled, open, weights, most } = geometry;
  if (band.step > geometry.step) return { text: "·", quiet: true };
  const shapes = {
    query: () => ({ d: bars(query[i], most.match, at), tone: "query" }),
    key: () => ({ d: bars(key[j], most.match, at), tone: "key" }),
    value: () => ({ d: bars(value[j], most.value, at), tone: "value" }),
    output: () => ({
      d: bars(value[j].map((x) => x * weights[i][j]), most.value, at), tone: "value",
    }),
    scores: () => ({ text: fit(scores[i][j]) }),
    scale: () => ({ text: fit(scaled[i][j]) }),
    mask: () => ({
      text: open[i][j] ? (geometry.ledger.wide ? fit(scaled[i][j]) : "✓") : "-inf",
      masked: !open[i][j],
    }),
    softmax: () => open[i][j]
      ? { text: number(weights[i][j]), fill: cividis(weights[i][j]), ink: inkOn(weights[i][j]) }
      : { text: "0", masked: true },
  };
  return shapes[band.name ?? band.part]();
}

// ---- words ----

const visible = ({ open }, i) => sum(open[i].map(Number));
const masked = (geometry, i) => {
  const n = geometry.tokens.length;
  const closed = n - visible(geometry, i);
  return closed ? `${closed} of ${n} keys are masked`
    : geometry.open.every((row, a) => row.every((x, b) => x === b <= a)) // causal
      ? "as the last token, it may look at every key"
      : "nothing is masked";
};
const rootIs = ({ query, root }) => `${short(Math.sqrt(query[0].length))} = ${root}`;

/** Where a query looks most, what scores are divided by, how much is masked. */
function whole(geometry, i) {
  const { weights, tokens } = geometry;
  const best = weights[i].map((w, j) => [w, j]).sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  const looks = best.slice(0, 2).filter(([w]) => w > 0)
    .map(([w, j]) => `${percent(w)} at ${quote(tokens[j])}`).join(", ");
  return (
    `Query ${quote(tokens[i])} looks ${looks || "at nothing"}; scores are divided ` +
    `by ${rootIs(geometry)}; ${masked(geometry, i)}.`
  );
}

/** The live sentence; attention_steps.sentence says the same in Python. */
export function sentence(geometry, active) {
  const { tokens, query, scores, scaled, open, weights, step } = geometry;
  const n = tokens.length;
  const [i, j] = within(active ?? geometry.pair, n);
  const [q, k, d] = [quote(tokens[i]), quote(tokens[j]), query[0].length];
  const [score, small, share] =
    [number(scores[i][j]), number(scaled[i][j]), percent(weights[i][j])];
  const seen = visible(geometry, i);
  const better = scores[i].filter((x) => x > scores[i][j]).length;
  const said = [
    `the query of ${q}, ${plural(d, "number")}, says what it looks for; next it meets ` +
      `the key of ${k}.`,
    `the key of ${k}, ${plural(d, "number")}, says what it offers to the query of ${q}.`,
    `the ${plural(d, "product")} of ${q} and ${k} sum to ${score}, ` +
      `${better ? `number ${better + 1}` : "the largest"} of ${n} scores.`,
    `the score ${score} of ${q} and ${k}, divided by ${rootIs(geometry)}, is ${small}.`,
    `${q} may ${open[i][j] ? "" : "not "}look at ${k}, so ${small} ` +
      `${open[i][j] ? "stays" : "becomes -inf"}; ${masked(geometry, i)}.`,
    `${q} gives ${share} of its weight to ${k}. ${whole(geometry, i)}`,
    `the output of ${q} is the average of ${seen < n ? `${seen || "none"} of ` : ""}` +
      `${n} values, ${share} of it from ${k}. ${whole(geometry, i)}`,
  ];
  const { held, pair } = geometry;
  const other = held && held !== `${[i, j]}`
    ? ` Held: ${pair.map((at) => quote(tokens[at])).join(" → ")}.` : "";
  return `Step ${step + 1} of ${TITLES.length}, ${TITLES[step]}: ${said[step]}${other}`;
}

export function table({ tokens, scores, scaled, open, weights, pair: [i], root }) {
  return {
    caption: `The steps of query ${quote(tokens[i])}, one row per key`,
    header: ["key", "q · k", `÷ ${root}`, "may look", "weight"],
    rows: tokens.map((token, j) => [
      tokenText(token, 40), number(scores[i][j], 4), number(scaled[i][j], 4),
      open[i][j] ? "yes" : "no", number(weights[i][j], 4),
    ]),
  };
}

/** The state as a program that asserts the weights and the output of the picked query. */
export function pytorch(state, geometry) {
  const { tokens, query, key, value, open, scores, weights, output, pair: [i] } = geometry;
  const tensor = (list) => `torch.tensor(${list}, dtype=torch.float64)`;
  const rows = (all) => tensor(pythonRows(all));
  const shown = (row) => tensor(python(row.map((x) => Number(x.toFixed(6)))));
  const mask = { none: "None", causal: '"causal"' }[state.mask] ??
    `${rows(open).replace("float64", "bool")}  # True = may look`;
  return [
    "import torch", "from transformer_lib.attention import attention, attention_weights", "",
    `tokens = ${python(tokens)}`,
    `query = ${rows(query)}`, `key = ${rows(key)}`, `value = ${rows(value)}`,
    `mask = ${mask}`, "",
    `i = ${i}  # the query of tokens[i]`,
    "scores = query[i] @ key.T",
    "weights = attention_weights(query, key, mask)[i]",
    "output = attention(query, key, value, mask)[i]", "",
    `shown_scores = ${shown(scores[i])}`, `shown_weights = ${shown(weights[i])}`, `shown_output = ${shown(output[i])}`,
    "torch.testing.assert_close(scores, shown_scores, rtol=1e-5, atol=1e-5)",
    "torch.testing.assert_close(weights, shown_weights, rtol=0, atol=1e-5)",
    "torch.testing.assert_close(output, shown_output, rtol=1e-5, atol=1e-5)", "",
  ].join("\n");
}

// ---- picture ----

/** As long as the focus is elsewhere, the grid's tab stop is the picked cell. */
const stopAt = (node, [row, col]) =>
  node.matches(":focus-within") ||
  node.querySelectorAll("[data-row]").forEach((cell) => {
    cell.tabIndex = (cell.dataset.row == row && cell.dataset.col == col) - 1;
  });

const DASH = { key: "4 2", value: "1 2.5" };

/** The numbers of one query, step by step: one stop, a column (or row) per key. */
function ledger(ui) {
  const marks = s("g", { "aria-hidden": "true" });
  // Outside the cells: their names say the same in words, and not these very digits.
  const columns = s("g", { "aria-hidden": "true" });
  const body = s("g", { role: "presentation" });
  const picture = s("svg", { role: "grid", "aria-label": "Steps, key by key" }, marks, columns, body);
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
    join(marks, [...lines, ...keys], (_, i) => i, () => s("text"), (node, m) => {
      if (m.key === undefined) {
        const middle = m.at + m.size / 2;
        set(node, {
          text: `${m.now && wide ? "▸ " : ""}${m.label}`, transform: null,
          x: wide ? left - 8 : left + middle, y: wide ? top + middle : top - 12,
          "text-anchor": wide ? "end" : "middle",
          class: `token ${m.now ? "strong" : m.step > step ? "quiet" : ""}`,
        });
        return;
      }
      const at = place(frame, bands[0], m.key);
      const x = wide ? at.x + at.w / 2 : left - 8;
      const slanted = wide && !frame.flat;
      set(node, {
        text: wide ? m.text : `${m.key + 1} ${tokenText(tokens[m.key], Math.max(2, frame.room))}`,
        x, y: wide ? top - 11 : at.y + at.h / 2,
        "text-anchor": slanted ? "start" : wide ? "middle" : "end",
        transform: slanted && `rotate(-45 ${x - 3} ${top - 11})`,
        class: `token key ${m.strong ? "strong" : ""}`,
      });
    });
  }

  function drawBand(node, band, [i, j]) {
    const at = place(geometry.ledger, band, j);
    const { text = "", d, tone, fill = "transparent", ink, masked, quiet } = entry(geometry, band, [i, j], at);
    const [rect, middle, shape, label] = node.children;
    set(node, {
      "data-part": band.part, class: masked ? "masked" : band.step === geometry.step && "now",
    });
    set(rect, {
      x: at.x, y: at.y, width: at.w, height: at.h,
      fill,
    });
    set(middle, {
      d: d && `M${at.x + 4} ${at.y + at.h / 2}h${at.w - 8}`,
      class: tone && `base ${tone}`, "stroke-dasharray": DASH[tone],
    });
    set(shape, {
      d: masked ? hatch(at.x, at.y, at.w, at.h) : d,
      class: masked ? "hatch" : tone,
    });
    set(label, {
      x: at.x + at.w / 2, y: at.y + at.h / 2, text, style: ink && `fill:${ink}`,
      class: quiet && "quiet",
    });
  }

  const newBand = () =>
    s("g", {}, s("rect", { class: "box" }), s("path"), s("path"), s("text", { "text-anchor": "middle" }));
  const newKey = () =>
    s("g", { role: "gridcell" }, s("rect", { fill: "transparent" }), s("rect", { class: "halo" }),
      s("rect", { class: "ring" }));

  function drawKey(node, j, [i, active]) {
    const { ledger: frame, tokens, scores, scaled, open, weights, step } = geometry;
    const [room, halo, ring] = node.children;
    const [row, col] = cellOf(j);
    const held = geometry.held === `${[i, j]}`;
    const known = [
      step > 1 && `q · k ${number(scores[i][j])}`, step > 2 && `scaled ${number(scaled[i][j])}`,
      step > 3 && (open[i][j] ? "may look" : "may not look"),
      step > 4 && `weight ${number(weights[i][j])}`,
    ].filter(Boolean);
    set(node, {
      "data-row": row, "data-col": col, "aria-selected": String(held),
      "aria-label": [`key ${quote(tokens[j])}`, ...known].join(", "),
      class: [held && "locked", active === j && "active"].join(" "),
    });
    const [{ x, y }, end] = [frame.bands[0], frame.bands.at(-1)].map((b) => place(frame, b, j));
    const outline = (inset) => ({
      x: x + inset, y: y + inset,
      width: end.x + end.w - x - 2 * inset, height: end.y + end.h - y - 2 * inset,
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
    join(columns, all, (j) => j, () => s("g"), (column, j) =>
      join(column, frame.bands, (band) => band.name ?? band.part, newBand, (child, band) =>
        drawBand(child, band, [pair[0], j])));
    join(body, frame.wide ? [all] : all.map((j) => [j]), (row) => String(row), () =>
      s("g", { role: "row" }), (row, keys) =>
      join(row, keys, (j) => j, newKey, (node, j) => drawKey(node, j, pair)));
    cells.update();
    stopAt(box.node, cellOf(geometry.pair[1]));
  }
  return { node: box.node, draw };
}

/** What the close-up shows: three lines of numbers, one place per dimension. */
function closeLines({ query, key, value, weights, output, step }, [i, j]) {
  if (step === LAST) {
    const part = value[j].map((x) => x * weights[i][j]);
    return [
      { label: "v", tone: "value", values: value[j] },
      { label: "w × v", values: part },
      { label: "output", values: output[i], strong: true },
    ];
  }
  const products = query[i].map((x, d) => x * key[j][d]);
  return [
    { label: "q", tone: "query", values: query[i] },
    { label: "k", tone: "key", values: key[j], from: 1 },
    { label: "q × k", values: products, from: 2, total: sum(products), strong: true },
  ];
}

/** Texts with their places: side by side where there is room, else one below the other. */
export function closeUp(geometry, pair) {
  const { query, value, width } = geometry;
  const lines = closeLines(geometry, pair);
  const size = lines[2].values.map(Math.abs);
  const order = [...size.keys()].sort((a, b) => size[b] - size[a]);
  const most = width < 620 ? Math.max(4, query[0].length) : 12;
  const room = Math.min(12, most, Math.max(query[0].length, value[0].length));
  const dims = order.slice(0, room).sort((a, b) => a - b);
  const flat = 56 + (room + 1.3) * 42 <= width;
  const column = flat ? Math.min(72, (width - 58) / (room + 1.3)) : 56;
  const at = (line, place) =>
    flat
      ? { x: place < 0 ? 48 : 56 + (place + 0.5) * column, y: 12 + 22 * (line + 1) }
      : { x: 40 + (line + 0.5) * column, y: 12 + 20 * (place + 1) };
  const texts = dims.map((d, c) => ({ text: String(d + 1), tone: "quiet", ...at(-1, c) }));
  lines.forEach((line, l) => {
    const { label, tone, strong, values, total } = line;
    const shown = (text) => (geometry.step < line.from ? { text: "·", tone: "quiet" } : { text, tone });
    texts.push({ text: label, tone, strong, ...at(l, -1), head: flat });
    dims.forEach((d, c) => texts.push({ ...shown(fit(values[d])), ...at(l, c) }));
    if (total !== undefined)
      texts.push({
        ...shown(`= ${fit(total)}`), strong,
        ...at(l, dims.length + 0.15 * flat),
      });
  });
  return {
    texts,
    width: flat ? 58 + (room + 1.3) * column : 40 + 3 * column,
    height: flat ? 90 : 24 + 20 * (room + 1),
    rest: size.length > room ? `, the ${room} largest of ${size.length} dimensions` : "",
  };
}

function close() {
  const picture = s("svg", { role: "img" });
  const box = panel("One pair", picture);
  const draw = (geometry, [i, j]) => {
    const { tokens, step, scores, scaled, weights, root } = geometry;
    const { texts, width, height, rest } = closeUp(geometry, [i, j]);
    const sums = [
      step > 1 && `q · k = ${fit(scores[i][j])}`, step > 2 && `÷\u00a0${root} = ${fit(scaled[i][j])}`,
      step > 4 && `w = ${number(weights[i][j])}`,
    ].filter(Boolean);
    const who = `query ${quote(tokens[i], 12)}, key ${quote(tokens[j], 12)}${rest}`;
    set(box.note, { text: [who, ...sums].join(" · ") });
    set(picture, {
      width, height,
      "aria-label": `${who}: ${closeLines(geometry, [i, j])
        .filter((line) => !(step < line.from))
        .map((line) => `${line.label} ${line.values.map((x) => fit(x)).join(" ")}`).join("; ")}`,
    });
    fill(picture, texts.map(({ x, y, text, head, tone, strong }) => ({
      x, y, text, "text-anchor": head ? "end" : "middle",
      class: ["token", tone, strong && "strong"].join(" "),
    })), "text");
  };
  return { node: box.node, draw };
}

function mapData(geometry, active) {
  const { tokens, weights, open, map, heads, names, step } = geometry;
  const [i, j] = active;
  const done = step > 4; // nothing of a step that is to come
  const label = (kind) => (token, c) => ({
    text: kind === "key" ? heads(token, c) : `${c === i ? "▸" : ""}${names[c]}`, kind,
    label: `${kind} ${quote(token)}`,
  });
  return {
    frame: map, rows: tokens.map(label("query")), cols: tokens.map(label("key")),
    note: done ? `weight of ${quote(tokens[i], 12)} → ${quote(tokens[j], 12)}: ${number(weights[i][j])}`
      : "weights come at softmax",
    cells: weights.map((row, r) =>
      row.map((w, c) => ({
        text: done && open[r][c] ? number(w) : "", masked: step > 3 && !open[r][c], area: done && w,
        part: r === i ? "softmax" : undefined, fill: done && open[r][c] ? cividis(w) : "transparent",
        ink: inkOn(w),
        label: `query ${quote(tokens[r])}, key ${quote(tokens[c])}` +
          (done ? `: weight ${number(w)}` : "") + (step < 4 || open[r][c] ? "" : ", may not look"),
      })),
    ),
  };
}

// ---- controls ----

/** The reader's own text, answered by the page's model. */
function textField(ui) {
  const slot = h("div", { class: "own", hidden: true });
  const note = h("p", { class: "note", role: "status" });
  let [seen, draft] = ["", ""];
  const send = (insist) => {
    const { model, text, mask } = ui.state();
    const { problem } = split(draft, model);
    set(note, { text: (insist && problem) || "" });
    if (problem || draft === text) return {};
    seen = draft;
    return { text: draft, mask: Array.isArray(mask) ? "none" : mask, locked: false };
  };
  ui.bind(({ model, text }) => {
    if (text !== seen) {
      seen = draft = text;
      set(note, { text: "" });
    }
    if (slot.hidden && model) build(model.words);
  });
  const field = ui.text({
    label: "Your text", maxlength: 300, get: () => draft,
    set: (text) => {
      draft = text;
      return send(false);
    },
  });
  field.addEventListener("keydown", ({ key, isComposing }) =>
    key === "Enter" && !isComposing && ui.set(send(true)));
  function build(words) {
    slot.hidden = false;
    slot.append(
      h("div", { class: "line" },
        field, ui.button({ label: "Show", action: () => send(true) })),
      h("details", {}, h("summary", { text: `The ${words.length} words it knows` }),
        h("p", { class: "words token", text: words.join("  ") })),
      note,
    );
  }
  return slot;
}

/** The equation and the PyTorch line; the part of the current step is marked. */
function formula({ step }) {
  const part = (at, text, tone = "") =>
    [PARTS[at], text, `${tone}${at === step ? " now" : ""}`.trim() || null];
  return {
    equation: [
      part(5, "softmax"), "( ", part(0, "Q", "query"), part(2, " · "), part(1, "Kᵀ", "key"), " ",
      part(3, "/ √dₖ"), " ", part(4, "+ mask"), " ) ", part(6, "V", "value"),
    ],
    code: [
      part(5, "torch.softmax"), "((", part(0, "query", "query"), part(2, " @ "),
      part(1, "key.mT", "key"), part(3, " * d_key**-0.5"), ")", part(4, ".masked_fill(~mask, -inf)"),
      ", dim=-1)", part(6, " @ value", "value"),
    ],
  };
}

function build(ui) {
  const steps = ledger(ui);
  const detail = close();
  const map = matrix(ui, { title: "All queries", label: "Weights, queries by keys" });
  const step = (label, by, end) => ui.button({
    label, action: ({ step }) => ({ step: step + by }), disabled: ({ step }) => step === end,
  });
  return {
    controls: [
      textField(ui),
      ui.select({
        label: "Query",
        options: (state) => given(state).tokens.map((token, i) => [i, `${i + 1} ${tokenText(token)}`]),
        get: (state) => pairOf(state)[0],
        set: (i, state) => ({ selected: [i, state.selected[1]] }),
      }),
      ui.select({
        label: "Mask",
        options: ({ mask }) => [
          ["none", "none"], ["causal", "causal"], ...(Array.isArray(mask) ? [[mask, "your own"]] : []),
        ],
        get: ({ mask }) => mask,
        set: (mask) => ({ mask }),
      }),
      h("div", { class: "walk" },
        step("Back", -1, 0), step("Step", 1, LAST),
        ui.choice({
          label: "Step", trait: "step",
          options: TITLES.map((title, i) => [i, i === LAST ? "× V" : title]),
        })),
    ],
    formula: { equation: (state) => formula(state).equation, code: (state) => formula(state).code },
    picture: [detail.node, steps.node, map.node],
    draw: (geometry, view) => {
      const pair = within(ui.active(), geometry.tokens.length);
      steps.draw(geometry, pair);
      detail.draw(geometry, pair);
      map.draw(mapData(geometry, pair), view);
      stopAt(map.node, geometry.pair);
    },
  };
}

const css = `
.fig{display:flex;flex-flow:column}.say{min-height:4.6em}
.query{--ink:var(--query)}.key{--ink:var(--key)}.value{--ink:var(--value)}
.base{fill:none!important;stroke:var(--ink)}.formula button:not(.lit){color:var(--ink)}
.formula .now{border:2px solid;padding:0 1px}
.now>.box[fill=transparent]{fill:var(--surface)}
.options{flex-wrap:wrap}
.walk,.own{flex:1 1 100%;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}.walk legend{display:none}
.line{flex:1 1 100%;display:flex;gap:.5rem}.line .control:has(input){width:0;flex:1}
.line input{width:0;min-width:0}.line button{flex:none}.note{flex:1 1 12em;min-height:1.5em}
@container (max-width:30rem){.options label{padding:2px 3px;min-width:24px;font-size:13px}.equation{font-size:.95em}.say{min-height:9em;margin:0}.picture,.foot{order:1}}
.words{white-space:pre-wrap}
`;

export default figure({
  name: "attention_stepper",
  title: "Attention, step by step",
  tip:
    "pick a query, press Step. Which key gets the largest score? What becomes of its value?",
  traits: [
    "tokens", "query", "key", "value", "mask", "step", "selected", "locked", "text", "model",
  ],
  layout,
  sentence,
  table,
  pytorch,
  rest: pairOf,
  locked: (state) => (state.locked ? pairOf(state) : null),
  lock: (cell) => (cell ? { selected: cell, locked: true } : { locked: false }),
  build,
  css,
});
