// In-page inference without Python: what it refuses, forgets, keeps and asks for.
// Whether its numbers are right, test_inference.py asks PyTorch.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { runsHere } from "../../transformer_book/figures/engine/bring.mjs";
import { fastProducts } from "../../transformer_book/figures/engine/wasm.mjs";
import {
  argmax,
  createSession,
  createTokenizer,
  loadModel,
  recorder,
  unpack,
} from "../../transformer_book/figures/engine/index.mjs";

const D = 4;
const CONFIG = {
  vocab_size: 5,
  d_model: D,
  n_layers: 1,
  n_heads: 2,
  d_ff: 6,
  max_len: 40,
  n_kv_heads: null,
  d_head: null,
  norm: "rms",
  norm_eps: 1e-5,
  feed_forward: "relu",
  residual: "pre",
  positions: "rotary",
  rotary_base: 10_000,
  rotary_scaling: null,
  window: null,
  bias: false,
  tied: true,
  scale_embeddings: false,
};
const attention = (path) => ({
  [`${path}.norm.weight`]: [D],
  ...Object.fromEntries(
    ["query", "key", "value", "out"].map((name) => [
      `${path}.layer.${name}.weight`,
      [D, D],
    ]),
  ),
});
const thinking = (path) => ({
  [`${path}.norm.weight`]: [D],
  [`${path}.layer.up.weight`]: [6, D],
  [`${path}.layer.down.weight`]: [D, 6],
});
const DECODER = {
  "embedding.weight": [5, D],
  ...attention("stack.blocks.0.attention"),
  ...thinking("stack.blocks.0.feed_forward"),
  "stack.norm.weight": [D],
};
const PAIR = {
  "embedding.weight": [5, D],
  ...attention("encoder.blocks.0.attention"),
  ...thinking("encoder.blocks.0.feed_forward"),
  "encoder.norm.weight": [D],
  ...attention("decoder.blocks.0.attention"),
  ...attention("decoder.blocks.0.cross"),
  ...thinking("decoder.blocks.0.feed_forward"),
  "decoder.norm.weight": [D],
};

/** Packs made-up weights as weights.py does. */
function pack(shapes = DECODER, config = {}, header = {}) {
  let size = 0;
  const tensors = {};
  for (const [name, shape] of Object.entries(shapes)) {
    tensors[name] = { shape, type: "float32", values: size };
    size += 4 * shape.reduce((a, b) => a * b);
  }
  const text = JSON.stringify({
    format: "transformer_lib page, version 1",
    kind: "Decoder",
    arguments: {},
    tensors,
    size,
    config: { ...CONFIG, ...config },
    ...header,
  });
  const head = new TextEncoder().encode(text + " ".repeat(3));
  const length = head.length - (head.length % 4);
  const bytes = new Uint8Array(4 + length + size);
  new DataView(bytes.buffer).setUint32(0, length, true);
  bytes.set(head.subarray(0, length), 4);
  new Float32Array(bytes.buffer, 4 + length).forEach((_, i, all) => {
    all[i] = Math.sin(7 * i + 1);
  });
  return bytes;
}
const session = (options, ...packed) => createSession(unpack(pack(...packed)), options);

test("bytes that begin anywhere are read", () => {
  const bytes = pack();
  const moved = new Uint8Array(bytes.length + 1);
  moved.set(bytes, 1);
  const name = "stack.norm.weight";
  assert.deepEqual(unpack(moved.subarray(1)).tensor(name), unpack(bytes).tensor(name));
});

test("each row of int8 has its own scale", () => {
  const shapes = { table: [2, 4] };
  const bytes = pack(
    shapes,
    {},
    {
      tensors: { table: { shape: [2, 4], type: "int8", values: 0, scale: 8 } },
      size: 32,
    },
  );
  const body = bytes.length - 32;
  bytes.set([1, 2, 3, 4, 255, 254, 253, 252], body);
  new Float32Array(bytes.buffer, body + 8, 2).set([0.5, 10]);
  const { data } = unpack(bytes).tensor("table");
  assert.deepEqual([...data], [0.5, 1, 1.5, 2, -10, -20, -30, -40]);
});

test("bytes of something else are refused", () => {
  assert.throws(() => unpack(new Uint8Array(2)), /must be whole, got 2 bytes/);
  assert.throws(
    () => unpack(new Uint8Array([255, 0, 0, 0, 1])),
    /must be whole, got 5 bytes/,
  );
  assert.throws(
    () => unpack(pack().subarray(0, -4)),
    /must be whole, got \d+ of \d+ bytes/,
  );
  assert.throws(
    () => unpack(pack(DECODER, {}, { format: "other" })),
    /format.*got "other"/,
  );
});

test("models that the page does not know are refused", () => {
  const wrong = {
    norm: "batch",
    feed_forward: "maxout",
    residual: "none",
    positions: "toString",
  };
  for (const [field, word] of Object.entries(wrong))
    assert.throws(
      () => session({}, DECODER, { [field]: word }),
      RegExp(`${field} is one of .*, got ${word}`),
    );
  assert.throws(() => session({}, DECODER, { window: 8 }), /without window.*got 8/);
  assert.throws(
    () => session({}, DECODER, { rotary_scaling: { factor: 2 } }),
    /got null and \{"factor":2\}/,
  );
  assert.throws(
    () => session({}, DECODER, {}, { kind: "Encoder" }),
    /kind is one of.*got Encoder/,
  );
  const pool = { kind: "Classifier", arguments: { pool: "mean_of_tokens" } };
  assert.throws(() => session({}, DECODER, {}, pool), /each_token, got mean_of_tokens/);
  assert.throws(
    () => session({}, { "embedding.weight": [5, D] }),
    /weights "stack\..*got none/,
  );
});

test("tokens that cannot be read are refused, and nothing is read of them", () => {
  const model = session({ capacity: 4 });
  assert.throws(
    () => session({ capacity: 41 }),
    /capacity must be from 1 to max_len = 40, got 41/,
  );
  assert.throws(() => session({ capacity: 0 }), /got 0/);
  for (const ids of [[5], [-1], [0.5], ["1"], [1, NaN]])
    assert.throws(() => model.read(ids), /tokens must be from 0 to 4, got/);
  assert.throws(() => model.read([]), /1 to 4 tokens, got 0/);
  assert.throws(() => model.read([0, 0, 0, 0, 0]), /1 to 4 tokens, got 5/);
  model.read([0, 1, 2]);
  assert.throws(() => model.read([0, 0]), /1 to 1 tokens, got 2/);
  assert.equal(model.length, 3);
  for (const length of [-1, 4, 1.5])
    assert.throws(() => model.rewind(length), /from 0 to the 3/);
});

/** A layer from D to `width` numbers. */
const layerOf = (width) => ({
  weight: new Float32Array(width * D),
  bias: new Float32Array(width),
  rows: width,
  columns: D,
});

/** What an action returns where a page may run no WebAssembly. */
function withoutWebAssembly(action) {
  const { WebAssembly: kept } = globalThis;
  delete globalThis.WebAssembly;
  try {
    return action();
  } finally {
    globalThis.WebAssembly = kept;
  }
}

test("WebAssembly multiplies as the definition does, however wide a layer is", () => {
  const prompt = Array.from({ length: 31 }, (_, i) => (3 * i) % 5);
  const inner = "stack.blocks.0.feed_forward.layer";
  for (const [width, fast] of [
    [6, true], // no multiple of four
    [2000, true], // so wide that only some tokens go at once
    [17_000, false], // the layer alone is too wide
  ]) {
    const shapes = {
      ...DECODER,
      [`${inner}.up.weight`]: [width, D],
      [`${inner}.up.bias`]: [width],
      [`${inner}.down.weight`]: [D, width],
      [`${inner}.down.bias`]: [D],
    };
    const read = () => session({}, shapes).read(prompt).slice();
    const [got, want] = [read(), withoutWebAssembly(read)];
    const most = Math.max(...want.map(Math.abs));
    assert.ok(most > 0.1);
    got.forEach((number, i) => assert.ok(Math.abs(number - want[i]) < 1e-5 * most));
    assert.ok((fastProducts()(layerOf(width)) !== null) === fast);
  }
});

test("what was rewound is forgotten", () => {
  const model = session();
  const want = model.read([3, 1, 4]).slice();
  model.rewind(0);
  model.read([3, 1, 2, 0, 1]);
  model.rewind(2);
  assert.equal(model.length, 2);
  assert.deepEqual(model.read([4]), want);
});

test("a translator wants a source, and a new one begins anew", () => {
  const pair = session({}, PAIR, {}, { kind: "EncoderDecoder" });
  assert.throws(
    () => pair.read([0]),
    /must be a source to attend to; encode one first/,
  );
  pair.encode([1, 2, 3]);
  const want = pair.read([0, 1]).slice();
  pair.encode([4, 4, 4, 4, 4]);
  assert.equal(pair.length, 0);
  assert.notDeepEqual(pair.read([0, 1]), want);
  pair.encode([1, 2, 3]);
  assert.deepEqual(pair.read([0, 1]), want);
});

test("a head is asked for its factor in every pass", () => {
  let factor = 1;
  const model = session({ headFactor: () => factor });
  const whole = model.read([1, 2]).slice();
  factor = 0;
  model.rewind(0);
  assert.notDeepEqual(model.read([1, 2]), whole);
  factor = 1;
  model.rewind(0);
  assert.deepEqual(model.read([1, 2]), whole);
});

test("a recorder keeps what later passes would overwrite", () => {
  const model = session();
  const watch = recorder();
  model.read([0, 1, 2], watch);
  const [, second] = watch.weights.decoder[0][1];
  const before = [...second];
  model.read([3], watch);
  assert.deepEqual([...second], before);
  assert.deepEqual(
    watch.weights.decoder[0].map((head) => head.map((row) => row.length)),
    [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
  );
  assert.equal(watch.streams.decoder.length, 2);
});

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

/** How often `action` calls new Float32Array. */
function arraysMade(action) {
  const { Float32Array: real } = globalThis;
  let made = 0;
  globalThis.Float32Array = new Proxy(real, {
    construct(target, given) {
      made += 1;
      return new target(...given);
    },
  });
  action();
  globalThis.Float32Array = real;
  return made;
}

test("a session sets its memory aside once", () => {
  const model = session();
  const pair = session({}, PAIR, {}, { kind: "EncoderDecoder" });
  const steps = (count) => {
    for (let i = 0; i < count; i += 1) {
      if (i % 40 === 0) model.rewind(0);
      if (i % 40 === 0) pair.encode([1, 2, 3, (i / 40) % 5]);
      model.read([i % 5]);
      pair.read([i % 5]);
    }
  };
  steps(40);
  const held = () => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const before = held();
  assert.equal(
    arraysMade(() => steps(2000)),
    0,
  );
  assert.ok(held() <= before);
  assert.ok(arraysMade(() => session()) > 0);
});

test("the largest number, the first of several", () => {
  assert.equal(argmax([1, 3, 2, 3]), 1);
  assert.equal(argmax(Float32Array.of(-2, -1)), 1);
});

const ALPHABET = Array.from({ length: 256 }, (_, byte) => byte);
const TOKENIZER = {
  merges: [
    [116, 104],
    [256, 101],
  ],
  special_tokens: ["<end>"],
  alphabet: ALPHABET,
  letters: [
    [65, 90],
    [97, 122],
  ],
  numbers: [[48, 57]],
};

test("a tokenizer refuses half a character and ids of no token", () => {
  const { encode, decode, bytes, special, size } = createTokenizer(TOKENIZER);
  assert.deepEqual(encode("the th"), [257, 32, 256]);
  assert.throws(() => encode("a\ud800"), /lone surrogate/);
  assert.throws(() => encode("\udc00\ud800"), /lone surrogate/);
  assert.deepEqual(encode("\ud83d\ude00").length, 4);
  for (const id of [-1, 259, 0.5])
    assert.throws(() => decode([id]), /from 0 to 258, got/);
  assert.deepEqual([...bytes(257)], [116, 104, 101]);
  assert.equal(decode([special("<end>")]), "<end>");
  assert.equal(size, 259);
  assert.throws(() => special("<start>"), /one of <end>, got <start>/);
});

/** What anywidget gives a figure, with a Python that sends `messages`. */
function widgetOf(...messages) {
  const heard = new Set();
  return {
    heard,
    asked: [],
    on: (event, listener) => heard.add(listener),
    off: (event, listener) => heard.delete(listener),
    send(message) {
      this.asked.push(message);
      for (const [content, buffers] of messages)
        for (const listener of heard) listener(content, buffers);
    },
  };
}

/** The parts of packed bytes as messages, the last one first. */
function parts(name, bytes, of = 3) {
  const size = Math.ceil(bytes.length / of);
  const messages = Array.from({ length: of }, (_, part) => [
    { weights: name, part, of },
    [
      new DataView(
        bytes.buffer,
        part * size,
        Math.min(size, bytes.length - part * size),
      ),
    ],
  ]);
  return messages.reverse();
}

test("a notebook's figures ask Python once, and tell how far it is", async () => {
  const other = [
    { weights: "other", part: 0, of: 1 },
    [new DataView(new ArrayBuffer(4))],
  ];
  const widget = widgetOf(other, ["no message"], ...parts("tiny", pack()));
  const shares = [];
  const asked = loadModel("tiny", { widget, progress: (share) => shares.push(share) });
  const again = loadModel("tiny", { widget: widgetOf() });
  const [one, two] = await Promise.all([asked, again]);
  assert.deepEqual(widget.asked, [{ ask: "weights", model: "tiny" }]);
  assert.equal(shares.at(-1), 1);
  assert.equal(widget.heard.size, 0);
  const tokens = [1, 2, 3];
  assert.deepEqual(createSession(one).read(tokens), createSession(two).read(tokens));
  assert.deepEqual(createSession(one).read(tokens), session().read(tokens));
});

test("what Python refuses is said, and asked for again next time", async () => {
  const refusing = widgetOf([{ weights: "none", problem: "no such model" }]);
  await assert.rejects(loadModel("none", { widget: refusing }), /no such model/);
  assert.equal(refusing.heard.size, 0);
  const widget = widgetOf(...parts("none", pack()));
  assert.equal((await loadModel("none", { widget })).kind, "Decoder");
});

test("a busy Python is waited for, and the wait is told", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const [widget, told] = [widgetOf(), []];
  const asked = loadModel("busy", { widget, progress: (...news) => told.push(news) });
  context.mock.timers.tick(19_999);
  assert.deepEqual(told, [[0, false]]);
  context.mock.timers.tick(1);
  assert.deepEqual(told.pop(), [0, true]);
  const joined = [];
  const other = loadModel("busy", { progress: (...news) => joined.push(news) });
  assert.deepEqual(joined, [[0, true]]);
  const [[first, buffers], ...rest] = parts("busy", pack());
  for (const hear of widget.heard) hear(first, buffers);
  assert.deepEqual(told.pop(), [1 / 3, false]);
  context.mock.timers.tick(20_000);
  assert.deepEqual(told.pop(), [1 / 3, true]);
  for (const [said, part] of rest) for (const hear of widget.heard) hear(said, part);
  assert.equal((await asked).kind, "Decoder");
  assert.equal(await other, await asked);
  assert.equal(widget.asked.length, 1);
});

test("when the figure that asked Python goes, one that waits asks itself", async () => {
  const [gone, never] = [new AbortController(), new AbortController()];
  const asker = widgetOf();
  const first = loadModel("left", { widget: asker, signal: gone.signal });
  const widget = widgetOf(...parts("left", pack()));
  const second = loadModel("left", { widget, signal: never.signal });
  assert.equal(widget.asked.length, 0);
  gone.abort();
  await assert.rejects(first, /is gone/);
  assert.equal((await second).kind, "Decoder");
  assert.equal(asker.heard.size, 0);
  assert.equal(widget.asked.length, 1);
});

test("a figure says what runs in the page, and what rounding costs", () => {
  const accuracy = { measure: "bits", float32: 1.5, int8: 1.6 };
  assert.equal(
    runsHere({ name: "tiny", about: { accuracy } }),
    "The model tiny runs in this page, with its weights rounded to 8 bits (int8). Rounding makes it 6.67% worse on unseen text: 1.6 bits instead of 1.5; a uniform guess scores 8.",
  );
  const whole = { name: "tiny", about: { accuracy: null } };
  assert.equal(runsHere(whole), "The model tiny runs in this page.");
});
