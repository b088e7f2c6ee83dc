// The state of Translator, checked, and what is shown of it. No DOM.
import {
  keep,
  list,
  one,
  parts,
  place,
  real,
  rule,
  shares,
  text,
  whole,
} from "../kit/index.mjs";
import { MOST, wordsOf } from "./answers.mjs";
import { numberOf } from "./numbers.mjs";
import { frame } from "./shapes.mjs";
import { headsOf, waits } from "./text.mjs";

function check(state) {
  const { answer } = state;
  const [rows, columns, layers] = [
    answer?.target?.length,
    answer?.source?.length,
    answer?.weights,
  ];
  const row = (all, name) => {
    list(real(0, 1000), columns)(all, name);
    shares(1000, columns / 2 + 1)(all, name);
  };
  const choice = parts([text, real(0, 1)]);
  keep(state, {
    text: rule(
      "a number from 1 to 999,999, or short words",
      (x) => x === `${x}` && wordsOf(x) !== null,
    ),
    answer: parts({
      words: text,
      expected: text,
      by: text,
      translation: text,
      source: list(text, 1, MOST),
      target: list(text, 1, MOST),
      chances: list(list(choice, 1, MOST), rows),
      weights: list(list(list(row, rows), layers?.[0]?.length || 1), 1, MOST),
    }),
    step: whole(0, MOST),
    view: one("lines", "grid"),
    selected: list(whole(0, MOST - 1), 0, 2),
    head: (x, name) => place(layers.length, layers[0].length)(x, name),
  });
}

/** The answer that is shown, and why not the one to what was asked, or typed. */
function choose({ text, answer }, ask, refused) {
  const words = wordsOf(text);
  const here = ask && words !== answer.words && numberOf(words);
  const shown = here ? ask(words) : answer;
  const [refusal, waiting] = waits(refused ?? words, shown);
  return { answer: shown, here, refusal, waiting };
}

/** Everything that is drawn or said, from the state, and the page's model once it is here. */
export function layout(state, width = 680, ask = null, refused = null) {
  check(state);
  const chosen = choose(state, ask, refused);
  const { answer } = chosen;
  const head = answer.weights[state.head[0]]?.[state.head[1]] ? state.head : [];
  const used = head.length ? [answer.weights[head[0]][head[1]]] : answer.weights.flat();
  const shown = Math.min(state.step, answer.target.length);
  const rows = Math.min(shown + 1, answer.target.length);
  const shares = Array.from({ length: rows }, (_, r) =>
    answer.source.map(
      (_, c) => used.reduce((sum, one) => sum + one[r][c], 0) / used.length / 1000,
    ),
  );
  const at = (active) => {
    if (active?.length && active[0] < rows)
      return active.slice(
        0,
        active.length > 1 && active[1] < answer.source.length ? 2 : 1,
      );
    return shown < rows ? [shown] : null;
  };
  return {
    ...chosen,
    state,
    width,
    head,
    shown,
    rows,
    shares,
    at,
    done: shown === answer.target.length,
    heads: headsOf(head, answer.weights),
    frame: frame(answer, width),
  };
}
