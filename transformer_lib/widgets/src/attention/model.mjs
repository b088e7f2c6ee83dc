// From a reader's text to tokens, queries, keys and values. Pure: no DOM.
const PIECE = /[\p{L}\p{N}_'’-]+|[^\s\p{L}\p{N}_'’-]/gu;
const WORD = /[\p{L}\p{N}_'’-]/u;
export const MOST = 16;

export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
const column = (rows, c) => rows.map((row) => row[c]);

/** How many signs must be put in, left out or changed to turn `a` into `b`. */
function distance(a, b) {
  let last = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++)
      row[j] = Math.min(
        last[j] + 1, row[j - 1] + 1, last[j - 1] + Number(a[i - 1] !== b[j - 1]),
      );
    last = row;
  }
  return last[b.length];
}

/** The words of a model that look most like `word`. */
export const near = (word, words, count = 3) =>
  [...words]
    .sort((a, b) => distance(word, a) - distance(word, b) || (a < b ? -1 : 1))
    .slice(0, count);

/** Cuts a text as word_model.split does: { words } or { words, problem } in plain words. */
export function split(text, model) {
  const known = new Set(model.words);
  const found = (text.toLowerCase().slice(0, 2000).match(PIECE) ?? []).filter(
    (piece) => known.has(piece) || WORD.test(piece),
  );
  const unknown = found.find((word) => !known.has(word));
  const most = Math.min(MOST, model.positions?.length || MOST);
  if (unknown !== undefined)
    return { words: found, problem: `The model does not know “${unknown.slice(0, 24)}”. Words ` +
      `that look like it: ${near(unknown.slice(0, 24), model.words).join(", ")}.` };
  if (found.length < 2 || found.length > most)
    return { words: found, problem: `It takes 2 to ${most} words, got ${found.length}.` };
  return { words: found };
}

/** The state's tokens, query, key and value, or those of its model and text. */
export function given(state) {
  const { model, text, tokens, query, key, value } = state;
  if (!model || !text) return { tokens, query, key, value };
  const { words, problem } = split(text, model);
  if (problem) throw Error(problem);
  const x = words.map((word, i) =>
    model.embedding[model.words.indexOf(word)].map(
      (number, d) => number + (model.positions?.length ? model.positions[i][d] : 0),
    ),
  );
  const project = (matrix) =>
    x.map((row) => matrix[0].map((_, c) => dot(row, column(matrix, c))));
  return {
    tokens: words, query: project(model.query), key: project(model.key),
    value: project(model.value),
  };
}
