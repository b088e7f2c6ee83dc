// What a figure's state must be. A rule(value, name) throws "NAME must be RULE, got VALUE";
// Python has the same rules, so these stop only a page or a link that was edited.
const LIMIT = 20_000; // bytes of a state; state.py

const cut = (value) => {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

/** A rule in words, and whether a value keeps it. */
export const rule = (words, right) => (value, name) => {
  if (!right(value)) throw Error(`${name} must be ${words}, got ${cut(value)}`);
};

const ranged = (kind, isKind) => (low, high) =>
  rule(
    low === high ? `${low}` : `${kind} from ${low} to ${high}`,
    (x) => isKind(x) && x >= low && x <= high,
  );
/** whole(low, high) and real(low, high); neither a text nor null is a number. */
export const whole = ranged("an integer", Number.isInteger);
export const real = ranged("a number", Number.isFinite);
export const finite = rule("a finite number", Number.isFinite);
export const flag = rule("true or false", (x) => x === !!x);
export const text = rule(
  "valid Unicode text",
  (x) => x === `${x}` && !/\p{Surrogate}/u.test(x),
);
export const one = (...known) =>
  rule(`one of ${known.join(", ")}`, (x) => known.includes(x));

export const atLeast0 = rule("a number >= 0", (x) => Number.isFinite(x) && x >= 0);
/** Whole numbers, by the names of their ranges. */
export const wholes = (ranges) =>
  Object.fromEntries(
    Object.entries(ranges).map(([name, range]) => [name, whole(...range)]),
  );
export const rising = (least, most) =>
  rule(
    `${least} to ${most} increasing integers from 0`,
    (all) =>
      Array.isArray(all) &&
      all.length >= least &&
      all.length <= most &&
      all.every((x, i) => Number.isInteger(x) && x > (i ? all[i - 1] : -1)),
  );

/** A list of `least` to `most`, of which each keeps a rule. */
export const list =
  (item, least, most = least) =>
  (value, name) => {
    rule("a list", Array.isArray)(value, name);
    whole(least, most)(value.length, `the length of ${name}`);
    value.forEach((x, i) => item(x, `${name}[${i}]`, i));
  };

/** A row of weights whose sum is `all`, but for their rounding. */
export const shares = (all, within) => (row, name) =>
  real(all - within, all + within)(
    row.reduce((sum, x) => sum + x, 0),
    `the sum of ${name}`,
  );

/** An object, or a list of fixed length, whose parts keep their rules, in their order. */
export const parts = (rules) => (value, name) => {
  rule("an object", (x) => typeof (x ?? 0) === "object")(value, name || "its state");
  for (const part in rules) rules[part](value[part], name ? `${name}.${part}` : part);
};

export const any = () => {};

/** A cell of a table of these sizes; `place` may be [], too. */
export const cell =
  (...sizes) =>
  (value, name) => {
    list(any, sizes.length)(value, name);
    value.forEach((x, i) => whole(0, sizes[i] - 1)(x, `${name}[${i}]`));
  };
export const place =
  (...sizes) =>
  (value, name) => {
    if (!Array.isArray(value) || value.length) cell(...sizes)(value, name);
  };

/** Rows of finite numbers, all as wide as the first of `of`, at most `most`. */
export const table = (n, of, most = 9999) =>
  list(list(finite, Math.min(most, of?.[0]?.length || 1)), n);

const bytes = (value, replace) => new Blob([JSON.stringify(value, replace)]).size;
const rounded = (_, x) => (typeof x === "number" ? Math.round(1e4 * x) / 1e4 : x);

/** The same for a whole state, and not too much of it. */
export function keep(state, rules) {
  if (bytes(state) > LIMIT)
    whole(0, LIMIT)(bytes(state, rounded), "the size of its state in bytes");
  parts(rules)(state, "");
}
