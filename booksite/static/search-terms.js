// How the search takes a question apart; Sphinx's own way knows no formulas. `QK^T` asks
// for pages that have both letters, and what stands above another sign is no word.
globalThis.splitQuery = (query) =>
  query
    .replace(/\b([A-Z])([A-Z])(?=\^)/g, "$1 $2")
    .replace(/\^(\{[^}]*\}|\\?\w+)/g, " ")
    .split(/[^\p{Letter}\p{Number}_]+/u)
    .filter(Boolean);
