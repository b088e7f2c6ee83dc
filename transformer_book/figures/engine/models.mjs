// The three kinds of models as sessions: they own their memory and keep what they read.
import { causal, everything } from "./attention.mjs";
import { linear, matrix } from "./ops.mjs";
import { choose } from "./packed.mjs";
import { createStack } from "./stack.mjs";

const CHUNK = 32; // tokens that a decoder reads at once; the results do not depend on it
const asItIs = { headFactor: () => 1, placeOf: (token) => token };

/** Refuses tokens that no session may read, before anything is read. */
function checkTokens(tokens, room, vocabulary) {
  if (tokens.length < 1 || tokens.length > room)
    throw Error(`there must be 1 to ${room} tokens, got ${tokens.length}`);
  const wrong = Array.from(tokens).find(
    (id) => !Number.isInteger(id) || id < 0 || id >= vocabulary,
  );
  if (wrong !== undefined)
    throw Error(`tokens must be from 0 to ${vocabulary - 1}, got ${wrong}`);
}

/** embed(tokens, first, n, x): n rows of the table, scaled, into x (n, d_model). */
function embedder(model, path) {
  const {
    data,
    shape: [, width],
  } = model.tensor(`${path}.weight`);
  const scale = model.config.scale_embeddings ? Math.sqrt(width) : 1;
  return (tokens, first, n, x) => {
    for (let i = 0; i < n; i += 1)
      for (let k = 0; k < width; k += 1)
        x[i * width + k] = data[tokens[first + i] * width + k] * scale;
  };
}

const capacityOf = ({ config }, asked = config.max_len) => {
  if (Number.isInteger(asked) && asked >= 1 && asked <= config.max_len) return asked;
  throw Error(`capacity must be from 1 to max_len = ${config.max_len}, got ${asked}`);
};

/** What a decoder alone and the decoder of a pair have in common: reading on. */
function createWriter(model, stack, table, capacity) {
  const { room, run, finish } = stack;
  const unembedding = matrix(model, model.config.tied ? "embedding" : "unembedding");
  const embed = embedder(model, table);
  const state = new Float32Array(room.width);
  const latest = new Float32Array(unembedding.rows);
  let length = 0;

  const logits = (stream, out = new Float32Array(unembedding.rows)) => {
    finish(stream, 1, state);
    linear(unembedding, state, 1, out);
    return out;
  };
  return {
    capacity,
    get length() {
      return length;
    },
    logits,
    read(tokens, watch = {}) {
      checkTokens(tokens, capacity - length, unembedding.rows);
      let n = 0;
      for (let first = 0; first < tokens.length; first += n) {
        n = Math.min(room.rows, tokens.length - first);
        embed(tokens, first, n, room.x);
        run(n, length, watch);
        length += n;
      }
      return logits(room.x.subarray((n - 1) * room.width, n * room.width), latest);
    },
    rewind(to) {
      if (!Number.isInteger(to) || to < 0 || to > length)
        throw Error(`length must be from 0 to the ${length} tokens read, got ${to}`);
      length = to;
    },
  };
}

function createDecoder(model, { capacity, ...given }) {
  const most = capacityOf(model, capacity);
  const stack = createStack(model, "stack", {
    ...asItIs,
    ...given,
    part: "decoder",
    rows: Math.min(CHUNK, most),
    capacity: most,
    seen: causal,
  });
  return createWriter(model, stack, "embedding", most);
}

/** encode(tokens, watch) -> the states (n, d_model) of a whole sequence, in its own memory. */
function createEncoder(model, path, table, capacity, given) {
  const stack = createStack(model, path, {
    ...asItIs,
    ...given,
    part: "encoder",
    rows: capacity,
    capacity,
    seen: everything,
  });
  const embed = embedder(model, table);
  const states = new Float32Array(capacity * stack.room.width);
  const [vocabulary] = model.tensor(`${table}.weight`).shape;
  return (tokens, watch) => {
    checkTokens(tokens, capacity, vocabulary);
    embed(tokens, 0, tokens.length, stack.room.x);
    stack.run(tokens.length, 0, watch);
    stack.finish(stack.room.x, tokens.length, states);
    return states;
  };
}

function createTranslator(model, { capacity, ...given }) {
  const most = capacityOf(model, capacity);
  const memory = { source: { length: 0 }, remembered: [] };
  const encode = createEncoder(model, "encoder", "embedding", most, given);
  const stack = createStack(model, "decoder", {
    ...asItIs,
    ...given,
    part: "decoder",
    rows: Math.min(CHUNK, most),
    capacity: most,
    seen: causal,
    memory,
  });
  const table = model.config.tied ? "embedding" : "target_embedding";
  const writer = createWriter(model, stack, table, most);
  const { read } = writer;
  writer.read = (tokens, watch) => {
    if (memory.source.length) return read(tokens, watch);
    throw Error("there must be a source to attend to; encode one first");
  };
  writer.encode = (tokens, watch = {}) => {
    const states = encode(tokens, watch);
    memory.source.length = tokens.length;
    for (const layer of memory.remembered) layer.remember(states, tokens.length, 0);
    writer.rewind(0);
  };
  return writer;
}

function createClassifier(model, { capacity, ...given }) {
  if (model.arguments.pool !== "each_token")
    throw Error(`a page runs classifiers of each_token, got ${model.arguments.pool}`);
  const most = capacityOf(model, capacity);
  const encode = createEncoder(
    model,
    "encoder.stack",
    "encoder.embedding",
    most,
    given,
  );
  const head = matrix(model, "head");
  const logits = new Float32Array(most * head.rows);
  return {
    capacity: most,
    read(tokens, watch = {}) {
      linear(head, encode(tokens, watch), tokens.length, logits);
      return logits.subarray(0, tokens.length * head.rows);
    },
  };
}

const KINDS = {
  Decoder: createDecoder,
  EncoderDecoder: createTranslator,
  Classifier: createClassifier,
};

/** A session of an unpacked model; index.mjs says what it can do. */
export const createSession = (model, options = {}) =>
  choose(KINDS, "kind", model.kind)(model, options);

/**
 * A watch that keeps copies: weights[part][layer][head][query] (kept,) and
 * streams[part][layer][query] (d_model,).
 */
export function recorder() {
  const [weights, streams] = [{}, {}];
  const put = (place, [...path], numbers) => {
    const last = path.pop();
    let at = place;
    for (const step of path) at = at[step] ??= [];
    at[last] = numbers.slice();
  };
  return {
    weights,
    streams,
    attention: (part, layer, head, query, row) =>
      put(weights, [part, layer, head, query], row),
    stream: (part, layer, query, x) => put(streams, [part, layer, query], x),
  };
}
