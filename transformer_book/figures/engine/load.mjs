// Brings a model to the page once: on the site by classic scripts (a page from disk may
// neither fetch nor import), in a notebook by messages from Python (ServesWeights).
import { bytesOf } from "./base64.mjs";
import { unpack } from "./packed.mjs";

const PATIENCE = 20_000; // milliseconds without a part until we say that none has come
// null in a notebook: there is no site around the widget
const home = globalThis.TransformerFigures?.home ?? null;

/** One part of a model, from its script: { of: number of parts, bytes }. */
function fromScript(name, number) {
  const key = `${name}-${number}`;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL(`weights/${encodeURIComponent(key)}.js`, home).href;
    script.onload = () => {
      script.remove();
      try {
        const [of, text] = globalThis.TransformerWeights[key];
        delete globalThis.TransformerWeights[key];
        resolve({ of, bytes: bytesOf(text) });
      } catch {
        reject(Error(`the model "${name}" arrived damaged`)); // or another page in its place
      }
    };
    script.onerror = () => {
      script.remove();
      reject(Error(`the model "${name}" did not load`));
    };
    document.head.append(script);
  });
}

async function fromScripts(name, tell) {
  const first = await fromScript(name, 0);
  let here = 1;
  tell(here / first.of);
  const others = Array.from({ length: first.of - 1 }, async (_, i) => {
    const { bytes } = await fromScript(name, i + 1);
    tell((here += 1) / first.of);
    return bytes;
  });
  return [first.bytes, ...(await Promise.all(others))];
}

const asBytes = (buffer) =>
  new Uint8Array(buffer.buffer ?? buffer, buffer.byteOffset ?? 0, buffer.byteLength);

const GONE = Error("the figure that asked for the model is gone");

/**
 * The parts of a model from Python, by the widget's messages. A Python that runs another
 * cell answers after it, so there is no end to waiting but that the widget goes.
 */
function fromPython(name, { widget, signal }, tell) {
  const parts = [];
  let timer;
  let hear;
  const come = new Promise((resolve, reject) => {
    const wait = (share) => {
      tell(share);
      clearTimeout(timer);
      timer = setTimeout(() => tell(share, true), PATIENCE);
    };
    hear = (said, buffers) => {
      if (said?.weights !== name) return;
      if (said.problem) return reject(Error(said.problem));
      parts[said.part] = asBytes(buffers[0]);
      const here = Object.keys(parts).length;
      wait(here / said.of);
      if (here === said.of) resolve(parts);
    };
    wait(0);
    signal?.addEventListener("abort", () => reject(GONE), { once: true });
    widget.on("msg:custom", hear);
    widget.send({ ask: "weights", model: name });
  });
  return come.finally(() => {
    clearTimeout(timer);
    widget.off("msg:custom", hear);
  });
}

/** Parts, one after the other, in memory of their own. */
function joined(parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function begin(name, asker) {
  const entry = { listeners: new Set(), share: 0, isLate: false };
  const tell = (share, isLate = false) => {
    Object.assign(entry, { share, isLate });
    for (const listener of entry.listeners) listener(share, isLate);
  };
  const parts = home === null ? fromPython(name, asker, tell) : fromScripts(name, tell);
  entry.model = parts.then((all) => unpack(joined(all)));
  return entry;
}

/**
 * @param {string} name
 * @param {{ widget?: any, signal?: AbortSignal,
 *   progress?: (share: number, isLate?: boolean) => void }} given
 * The model of that name, unpacked. widget is what anywidget gives a figure;
 * progress(share from 0 to 1) is called as parts come, and with isLate when none has come
 * for long, until signal aborts. All figures of a page share one model: if the one that
 * asked goes, another asks. What failed is asked for again next time.
 */
export async function loadModel(name, { widget, signal, progress = () => {} } = {}) {
  const models = (globalThis.TransformerModels ??= {});
  const entry = (models[name] ??= begin(name, { widget, signal }));
  entry.listeners.add(progress);
  signal?.addEventListener("abort", () => entry.listeners.delete(progress), {
    once: true,
  });
  progress(entry.share, entry.isLate);
  try {
    return await entry.model;
  } catch (error) {
    if (models[name] === entry) delete models[name];
    if (error !== GONE || signal?.aborted) throw error;
    return await loadModel(name, { widget, signal, progress });
  } finally {
    entry.listeners.delete(progress);
  }
}
