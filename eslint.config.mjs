// What eslint asks of our JavaScript; prettier decides its form, tsc its types.
import js from "@eslint/js";
import globals from "globals";

const SCREEN = 60; // lines that one sees at once
const INTO_MARKUP =
  "/^(innerHTML|outerHTML|srcdoc|insertAdjacentHTML|createContextualFragment|setHTMLUnsafe)$/";
const MARKUP = [
  `AssignmentExpression > MemberExpression.left[property.name=${INTO_MARKUP}]`,
  `CallExpression > MemberExpression.callee[property.name=${INTO_MARKUP}]`,
  `Property[key.name=${INTO_MARKUP}]`,
  "CallExpression[callee.object.name=document][callee.property.name=/^write/]",
  "CallExpression[callee.property.name=setAttribute][arguments.0.value=/^(on|srcdoc)/]",
].map((selector) => ({ selector, message: "A text is no markup: use textContent." }));

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
        { max: SCREEN, skipBlankLines: true, skipComments: true, IIFEs: true },
      ],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-syntax": ["error", ...MARKUP],
      "no-script-url": "error",
      "no-var": "error",
      "prefer-const": "error",
    },
  },
  {
    files: [
      "transformer_book/figures/**",
      "booksite/static/**",
      "tests/figures/**",
      "tests/site/**",
      "benchmarks/figures.mjs",
    ],
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
    // A figure uses kit/ and engine/ by their index.mjs, which the site shares.
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
