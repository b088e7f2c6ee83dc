/**
 * One style sheet in place of many, without the rules that no page can use.
 *
 *     node booksite/styles.mjs OUT CONTENT SHEET...
 *
 * Joins the SHEETs in this order, with what they import, and writes OUT. CONTENT names
 * the files, pages and scripts, in which PurgeCSS looks for each rule's tags, classes
 * and ids: globs, separated by commas. A rule stays if its words occur anywhere there.
 */
import { writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { argv } from "node:process";

import { build, transform } from "esbuild";
import { PurgeCSS } from "purgecss";

const [out, content, ...sheets] = argv.slice(2);

/** Fonts and pictures stay where they are: only their address is told anew. */
const inPlace = {
  name: "in place",
  setup({ onResolve }) {
    onResolve({ filter: /^[^#]/ }, ({ kind, path, resolveDir }) => {
      if (kind !== "url-token" || path.startsWith("data:")) return undefined;
      const address = relative(dirname(out), join(resolveDir, path));
      return { path: address, external: true };
    });
  },
};

async function joined() {
  const contents = sheets.map((sheet) => `@import "./${sheet}";`).join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ".", loader: "css" },
    bundle: true,
    write: false,
    plugins: [inPlace],
    logLevel: "error",
  });
  return outputFiles[0].text;
}

const [{ css }] = await new PurgeCSS().purge({
  content: content.split(","),
  css: [{ raw: await joined() }],
  keyframes: true,
});
const { code } = await transform(css, { loader: "css", minify: true });
writeFileSync(out, code);
