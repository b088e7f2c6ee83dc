// Reads a packed model (weights.py says how one is written).
const FORMAT = "transformer_lib page, version 1";

/** The entry of `table` for a word of the config, or an error that names the words. */
export function choose(table, field, word) {
  if (Object.hasOwn(table, word)) return table[word];
  const known = Object.keys(table).join(", ");
  throw Error(`a page runs models whose ${field} is one of ${known}, got ${word}`);
}

/** Header and body of the bytes; the body begins at a multiple of 4. */
function split(bytes) {
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes;
  const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength);
  const end = whole.length < 4 ? Infinity : 4 + view.getUint32(0, true);
  if (end > whole.length)
    throw Error(`a packed model must be whole, got ${whole.length} bytes`);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, end)));
  if (header.format !== FORMAT)
    throw Error(
      `a packed model must have the format "${FORMAT}", got "${header.format}"`,
    );
  const body = whole.subarray(end);
  if (body.length !== header.size)
    throw Error(
      `a packed model must be whole, got ${body.length} of ${header.size} bytes`,
    );
  return { header, body };
}

const READERS = {
  float32: ({ values }, count, body) =>
    new Float32Array(body.buffer, body.byteOffset + values, count),
  int8({ values, scale, shape: [rows, columns] }, count, body) {
    const steps = new Int8Array(body.buffer, body.byteOffset + values, count);
    const scales = new Float32Array(body.buffer, body.byteOffset + scale, rows);
    const numbers = new Float32Array(count);
    for (let row = 0, i = 0; row < rows; row += 1)
      for (const end = i + columns; i < end; i += 1)
        numbers[i] = steps[i] * scales[row];
    return numbers;
  },
};

/**
 * Bytes -> { name, kind, config, arguments, tokenizer, about, tensor(name) }.
 * tensor(name) is { shape, data: Float32Array }; each is read once, and int8 widened.
 */
export function unpack(bytes) {
  const { header, body } = split(bytes);
  const read = new Map();
  const tensor = (name) => {
    if (read.has(name)) return read.get(name);
    const place = header.tensors[name];
    if (!place) throw Error(`the model must have the weights "${name}", got none`);
    const count = place.shape.reduce((product, size) => product * size, 1);
    const data = choose(READERS, "type of numbers", place.type)(place, count, body);
    read.set(name, { shape: place.shape, data });
    return read.get(name);
  };
  return { ...header, tensor };
}
