// Matrix products by WebAssembly, which multiplies four numbers at once (linear.wat).
import { bytesOf } from "./base64.mjs";
import { LINEAR } from "./linear_wasm.mjs";

const PAGE = 16_384; // float32 numbers of a page of WebAssembly's memory
const fours = (count) => 4 * Math.ceil(count / 4);

/** The compiled code, or null where a page may not compile any, or has no SIMD. */
function compile() {
  try {
    return new WebAssembly.Module(bytesOf(LINEAR));
  } catch {
    return null;
  }
}

/** Memory that the code can read, and the code: reserve(count) -> the first index. */
function createMemory(code) {
  const { exports } = new WebAssembly.Instance(code);
  const { memory, linear } = /** @type {any} */ (exports);
  let used = 0;
  let floats = new Float32Array(memory.buffer);
  return {
    linear,
    floats: () => floats,
    reserve(count) {
      const first = used;
      used += count;
      if (used > floats.length) {
        memory.grow(Math.ceil((used - floats.length) / PAGE));
        floats = new Float32Array(memory.buffer);
      }
      return first;
    },
  };
}

/** Copies rows of `width` numbers, `apart` and `wide` numbers from one to the next. */
function copyRows(count, width, from, first, apart, to, at, wide) {
  if (apart === width && wide === width)
    to.set(from.subarray(first, first + count * width), at);
  else
    for (let row = 0; row < count; row += 1, first += apart, at += wide)
      to.set(from.subarray(first, first + width), at);
}

/**
 * For the layers of one model, which share its memory: layer -> product(x, n, out, at),
 * or null where the layer is too wide, or a page may run no WebAssembly.
 */
export function fastProducts() {
  const code = compile();
  if (code === null) return () => null;
  const { linear, floats, reserve } = createMemory(code);
  const input = reserve(PAGE); // and the output behind it
  return ({ weight, bias, rows, columns }) => {
    const [high, wide] = [fours(rows), fours(columns)];
    const most = Math.floor(PAGE / (high + wide)); // rows of x at once
    if (most === 0) return null;
    const [matrix, shift] = [reserve(high * wide), reserve(high)];
    const output = input + most * wide;
    copyRows(rows, columns, weight, 0, columns, floats(), matrix, wide);
    floats().set(bias, shift);
    return (x, n, out, at) => {
      for (let done = 0; done < n; done += most) {
        const count = Math.min(most, n - done);
        copyRows(count, columns, x, done * columns, columns, floats(), input, wide);
        linear(4 * matrix, 4 * shift, high, wide, 4 * input, count, 4 * output);
        copyRows(count, rows, floats(), output, high, out, (at + done) * rows, rows);
      }
    };
  };
}
