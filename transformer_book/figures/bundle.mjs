// Bundles the figures: each folder with a view.mjs is one.
//   node bundle.mjs                       ES modules for notebooks into static/, and the
//                                         engine's WebAssembly; both are committed
//   node bundle.mjs NAME ...              only these figures
//   node bundle.mjs --check               fails if a committed file is not fresh
//   node bundle.mjs --site --outdir DIR   classic scripts for the site and file://
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { parseArgs } from "node:util";
import { build, transform } from "esbuild";

const here = import.meta.dirname;
const { values: asked, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    check: { type: "boolean" },
    site: { type: "boolean" },
    outdir: { type: "string", default: join(here, "static") },
  },
});

const names = (await readdir(here))
  .filter((name) => existsSync(join(here, name, "view.mjs")))
  .filter((name) => positionals.length === 0 || positionals.includes(name))
  .sort();

/** CSS as a minified text. */
const styles = {
  name: "styles",
  setup: (on) =>
    on.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const { code } = await transform(text, { loader: "css", minify: true });
      return { contents: code, loader: "text" };
    }),
};

/** On the site these folders are scripts of their own, which others share. */
const shared = (...folders) => ({
  name: "shared",
  setup(on) {
    const filter = new RegExp(`/(${folders.join("|")})/index\\.mjs$`);
    on.onResolve({ filter }, ({ path }) => ({
      path: path.split("/").at(-2),
      namespace: "shared",
    }));
    on.onLoad({ filter: /./, namespace: "shared" }, ({ path }) => ({
      contents: `module.exports = shared.${path}`,
    }));
  },
});

const KIT = `export * from "./kit/index.mjs";
  export { default as css } from "./kit/style.css";`;
const ENGINE = `export * from "./engine/index.mjs";`;

const ofFigure = (name, css) => `
  import { figure } from "./kit/index.mjs";
  import spec from "./${name}/view.mjs";
  import own from "./${name}/style.css";
  ${css}
  export default figure(spec, css + own);`;

async function bundle(contents, options, plugins = []) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: here },
    bundle: true,
    write: false,
    minify: true,
    charset: "utf8",
    target: "es2022",
    legalComments: "none",
    logLevel: "warning",
    absWorkingDir: here,
    metafile: true,
    plugins: [...plugins, styles],
    ...options,
  });
  return { text: outputFiles[0].text, inputs: Object.keys(metafile.inputs) };
}

/** One ES module with all that a figure needs: what anywidget loads in a notebook. */
async function forNotebooks(name) {
  const contents = ofFigure(name, `import css from "./kit/style.css";`);
  return [`${name}.mjs`, (await bundle(contents, { format: "esm" })).text];
}

/** A classic script that tells the host (figure-host.js) its name, needs and code. */
async function forSite(name, contents, plugins) {
  const options = { format: "iife", globalName: "made" };
  const { text, inputs } = await bundle(contents, options, plugins);
  const needs = ["kit", "engine"].filter((part) => inputs.includes(`shared:${part}`));
  const head = `TransformerFigures.define("${name}",${JSON.stringify(needs)},(shared)=>{`;
  return [`${name}.js`, `${head}${text.trim()}return made});\n`];
}

/** The engine's WebAssembly as a module: its bytes as a text of base64. */
async function assembled() {
  const { default: start } = await import("wabt");
  const { parseWat } = await start();
  const source = await readFile(join(here, "engine/linear.wat"), "utf8");
  const { buffer } = parseWat("linear.wat", source, { simd: true }).toBinary({});
  const text = Buffer.from(buffer).toString("base64");
  return `// Made from linear.wat by bundle.mjs.\nexport const LINEAR =\n  "${text}";\n`;
}

const stale = [];
async function keep(path, text) {
  if (asked.check) {
    const old = await readFile(path, "utf8").catch(() => null);
    if (old !== text) stale.push(relative(here, path));
  } else {
    await writeFile(path, text);
    console.log(
      `${relative(here, path)}: ${text.length} bytes, ${gzipSync(text).length} gzipped`,
    );
  }
}

await mkdir(asked.outdir, { recursive: true });
if (!asked.site) await keep(join(here, "engine/linear_wasm.mjs"), await assembled());
const scripts = asked.site
  ? [
      forSite("kit", KIT, []),
      forSite("engine", ENGINE, [shared("kit")]),
      ...names.map((name) =>
        forSite(name, ofFigure(name, `import { css } from "./kit/index.mjs";`), [
          shared("kit", "engine"),
        ]),
      ),
    ]
  : names.map(forNotebooks);

for (const [name, text] of await Promise.all(scripts))
  await keep(join(asked.outdir, name), text);
if (stale.length > 0) {
  console.error(`out of date: ${stale.join(", ")}; run make bundle`);
  process.exit(1);
}
