// A stack of blocks with all its memory, set aside once.
import { attentionLayer, everything } from "./attention.mjs";
import { FEED_FORWARDS, NORMS, RESIDUALS } from "./layers.mjs";
import { choose } from "./packed.mjs";
import { POSITIONS } from "./positions.mjs";

/** Refuses what no shipped model has; every word of a config is looked up where used. */
function check({ window, rotary_scaling: scaling }) {
  if (window !== null || scaling !== null)
    throw Error(
      `a page runs models without window and rotary_scaling, got ${window} and ${JSON.stringify(scaling)}`,
    );
}

function sizes(config, capacity) {
  const {
    d_model: width,
    n_heads: heads,
    n_kv_heads: kvHeads,
    d_head: headWidth,
  } = config;
  return {
    width,
    heads,
    capacity,
    kvHeads: kvHeads ?? heads,
    headWidth: headWidth ?? width / heads,
  };
}

function createRoom(rows, width) {
  const [x, input, change] = [0, 1, 2].map(() => new Float32Array(rows * width));
  return { rows, width, x, input, change };
}

/** Tokens look at each other: run(n, start, watch). */
function selfAttention(model, path, room, size, use) {
  const layer = attentionLayer(model, path, room, size, use);
  return (n, start, watch) => {
    layer.remember(room.input, n, start);
    layer.look(n, start, start + n, watch);
  };
}

/** Tokens look at the source, which `remembered` is to be told. */
function crossAttention(model, path, room, size, use, { source, remembered }) {
  const all = { ...use, part: "cross", seen: everything, positions: POSITIONS.none() };
  const layer = attentionLayer(model, path, room, size, all);
  remembered.push(layer);
  return (n, start, watch) => layer.look(n, start, source.length, watch);
}

/** The layers of one block, in order: [name, run], each on the stream of the room. */
function createBlock(model, path, room, size, use, memory) {
  const { residual, norm, feed_forward: word } = model.config;
  const { join } = choose(RESIDUALS, "residual", residual);
  const normOf = choose(NORMS, "norm", norm);
  const make = {
    attention: (layer) => selfAttention(model, layer, room, size, use),
    ...(memory && {
      cross: (layer) => crossAttention(model, layer, room, size, use, memory),
    }),
    feed_forward: (layer) =>
      choose(FEED_FORWARDS, "feed_forward", word)(model, layer, room),
  };
  return Object.entries(make).map(([name, layer]) => [
    name,
    join(room, normOf(model, `${path}.${name}.norm`), layer(`${path}.${name}.layer`)),
  ]);
}

/**
 * The stack below `path`: { room, run(n, start, watch), finish(x, n, out) }.
 * run takes room.x (n, d_model), n <= rows, as tokens start ... and leaves the stream
 * there; finish is the last norm. given: { part, rows, capacity, seen, headFactor,
 * placeOf, memory }. With a memory { source, remembered }, blocks look at a source of
 * source.length tokens, and their layers for that stand in `remembered`.
 */
export function createStack(model, path, given) {
  const { config } = model;
  const { part, rows, capacity, seen, headFactor, placeOf, memory } = given;
  check(config);
  const size = sizes(config, capacity);
  const room = createRoom(rows, size.width);
  const positions = choose(POSITIONS, "positions", config.positions)(
    model,
    `${path}.positions`,
    size,
    placeOf,
  );
  const blocks = Array.from({ length: config.n_layers }, (_, layer) => {
    const use = { part, layer, seen, positions, headFactor };
    return createBlock(model, `${path}.blocks.${layer}`, room, size, use, memory);
  });
  const row = (rows, i) => rows.subarray(i * size.width, (i + 1) * size.width);
  const tell = (layer, n, start, watch) => {
    if (!watch.stream) return;
    for (let i = 0; i < n; i += 1) watch.stream(part, layer, start + i, row(room.x, i));
  };
  const tellAdded = (layer, name, n, start, watch) => {
    if (!watch.added) return;
    for (let i = 0; i < n; i += 1)
      watch.added(part, layer, name, start + i, row(room.change, i), row(room.x, i));
  };
  return {
    room,
    finish: RESIDUALS[config.residual].last(model, `${path}.norm`),
    run(n, start, watch) {
      positions.embed(room.x, n, start);
      tell(0, n, start, watch);
      blocks.forEach((layers, b) => {
        for (const [name, run] of layers) {
          run(n, start, watch);
          tellAdded(b, name, n, start, watch);
        }
        tell(b + 1, n, start, watch);
      });
    },
  };
}
