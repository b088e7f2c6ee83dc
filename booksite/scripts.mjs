/**
 * One script in place of many, in this order.
 *
 *     node booksite/scripts.mjs OUT SCRIPT...
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";

import { transform } from "esbuild";

const [out, ...scripts] = argv.slice(2);
const texts = scripts.map((path) => readFileSync(path, "utf8"));
const { code } = await transform(texts.join("\n;\n"), { minify: true });
writeFileSync(out, code);
