// Bundles each figure (src/<name>.mjs) into one file.
//   node bundle.mjs                       ES modules into static/, committed
//   node bundle.mjs NAME ...              only these figures
//   node bundle.mjs --check               fails if a committed file is not fresh
//   node bundle.mjs --iife --outdir DIR   classic scripts for the site and file://
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const here = import.meta.dirname;
const source = join(here, "src");
const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean" },
    iife: { type: "boolean" },
    outdir: { type: "string", default: join(here, "static") },
  },
});

const names = (await readdir(source))
  .filter((file) => file.endsWith(".mjs"))
  .map((file) => basename(file, ".mjs"))
  .filter((name) => positionals.length === 0 || positionals.includes(name))
  .sort();

const common = {
  bundle: true, write: false, minify: true, charset: "utf8", target: "es2022",
  legalComments: "none", logLevel: "warning", absWorkingDir: here, metafile: true,
};
const SHARED = ["kit", "exports", "rules", "inference"]; // folders of src

const classic = (name) => ({
  stdin: {
    contents: `import figure from "./${name}.mjs";
      (globalThis.TransformerFigures ??= {})["${name}"] = figure;`,
    resolveDir: source,
  },
  format: "iife",
});
const module = (name) => ({
  stdin: { contents: `export { default } from "./${name}.mjs";`, resolveDir: source },
  format: "esm",
});

/** How many bytes of a bundle come from each shared part, and from the figure's own. */
function sizes({ inputs }) {
  const sums = { own: 0 };
  for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
    const folder = path.split("/")[1]; // of src/kit/dom.mjs
    const part = SHARED.includes(folder) ? folder : "own";
    sums[part] = (sums[part] ?? 0) + bytesInOutput;
  }
  return sums;
}

async function files() {
  const parts = {};
  const bundles = await Promise.all(
    names.map(async (name) => {
      const shape = asked.iife ? classic(name) : module(name);
      const { outputFiles, metafile } = await build({ ...common, ...shape });
      parts[name] = sizes(Object.values(metafile.outputs)[0]);
      return [`${name}.${asked.iife ? "js" : "mjs"}`, outputFiles[0].text];
    }),
  );
  if (asked.iife) return bundles;
  const colors = await readFile(join(source, "kit", "palette.json"), "utf8");
  const shared = JSON.stringify(parts, ["own", ...SHARED, ...names], 1);
  const all = positionals.length === 0 ? [["sizes.json", `${shared}\n`]] : [];
  return [...bundles, ["palette.json", colors], ...all];
}

const stale = [];
await mkdir(asked.outdir, { recursive: true });
for (const [name, text] of await files()) {
  const path = join(asked.outdir, name);
  if (asked.check) {
    const old = await readFile(path, "utf8").catch(() => null);
    if (old !== text) stale.push(name);
  } else {
    await writeFile(path, text);
    console.log(`${name}: ${text.length} bytes, ${gzipSync(text).length} gzipped`);
  }
}
if (stale.length > 0) {
  console.error(`out of date in widgets/static: ${stale.join(", ")}; run make bundle`);
  process.exit(1);
}
