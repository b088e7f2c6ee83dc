// Sets formulas for booksite/formulas.py: one JSON request per line, one JSON answer.
import { createInterface } from "node:readline";
import katex from "katex";

// KaTeX paints a command that it does not allow in this color, and says no more.
const REFUSED = "#c0ffee";
const macros = JSON.parse(process.argv[2] ?? "{}");

function render({ tex, display }) {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      output: "htmlAndMathml",
      macros: { ...macros },
      strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
      errorColor: REFUSED,
      trust: ({ command }) => command === "\\htmlClass",
    });
    return html.includes(REFUSED) ? { error: "a command is not allowed" } : { html };
  } catch (error) {
    return { error: error.message };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(render(JSON.parse(line))) + "\n");
}
