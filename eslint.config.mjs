// What eslint asks of our JavaScript; prettier decides its form, tsc its types.
import js from "@eslint/js";
import globals from "globals";

const SCREEN = 60; // lines that one sees at once

export default [
  {
    ignores: ["_build", "node_modules", ".venv*", "transformer_book/figures/static"],
  },
  js.configs.recommended,
  {
    rules: {
      complexity: ["error", 12],
      "max-lines-per-function": [
        "error",
        { max: SCREEN, skipBlankLines: true, skipComments: true },
      ],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: ["transformer_book/figures/**", "booksite/static/**", "tests/figures/**"],
    languageOptions: { globals: globals.browser },
  },
  {
    files: [
      "**/bundle.mjs",
      "**/still.mjs",
      "booksite/*.mjs",
      "benchmarks/**",
      "tests/**",
    ],
    languageOptions: { globals: globals.node },
  },
  {
    // A figure uses kit/ and engine/ by their front doors, which the site shares.
    files: ["transformer_book/figures/*/*.mjs"],
    ignores: ["transformer_book/figures/{kit,engine}/**"],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              regex: "^\\.\\./(kit|engine)/(?!index\\.mjs$)",
              message: "import from kit/index.mjs or engine/index.mjs",
            },
          ],
        },
      ],
    },
  },
];
