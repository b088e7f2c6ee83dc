/**
 * The pictures of pages in fewer bytes: rounded numbers, and paths relative to their last
 * point.
 *
 *     node booksite/pictures.mjs PAGE...
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";

import { optimize } from "svgo";

const PICTURE = /<svg\b[^>]*\brole="img"[^]*?<\/svg>/g;
const NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'; // which HTML does not need
/** @type {import("svgo").PluginConfig[]} */
const plugins = ["convertPathData", "convertTransform", "cleanupNumericValues"];

function shorter(picture) {
  const whole = picture.replace("<svg", `<svg${NAMESPACE}`);
  const { data } = optimize(whole, { floatPrecision: 2, plugins });
  return data.replace(NAMESPACE, "");
}

for (const path of argv.slice(2)) {
  const page = readFileSync(path, "utf8");
  const short = page.replace(PICTURE, shorter);
  if (short !== page) writeFileSync(path, short);
}
