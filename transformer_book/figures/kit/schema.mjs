// What a figure's state must be: the rules in its limits.json, which schema.py reads too. A
// state that breaks one is refused: "NAME must be RULE, got VALUE".
//   "text"  "finite"  "flag"  "any"  "none" (null or [])   { "text": [least, most] } signs
//   { "whole": [low, high] }  { "even": ... }  { "odd": ... }  { "real": ... }
//                           a number; there is no end where `high` is null
//   { "one": [...] }        one of these, or of the list that a place names, as "steps"
//   { "list": rule, "length": n, "rising": true, "distinct": true, "sum": [total, within] }
//                           `length` is a size, a range, [low, high, size] (as long as that,
//                           within the range) or a rule; the rest may be left out
//   { "parts": { name: rule } } or { "parts": [rule, rule] }
//   { "cell": [size, size] }  an index below each size; a "place" may be [], too
//   { "either": [rule, rule] }  one of them at least; the last one says what is wrong
// A bound or a size is a number, or read from left to right, as "2 * record.tokens - 1": a
// place in the state stands for its number or for the length of its list. `i` is the index
// in the list around, "steps.last" the last entry. "hint" is for Python.
import all from "../limits.json" with { type: "json" };

const LIMIT = all.bytes;

const cut = (value) => {
  const text = JSON.stringify(value ?? null);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
};

function refuse(words, value, name) {
  throw Error(`${name} must be ${words}, got ${cut(value)}`);
}

/** A rule in words, and whether a value keeps it. */
const simple = (words, right) => (_rule, value, name) =>
  right(value) || refuse(words, value, name);

const OPERATIONS = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
};

/** What stands at a place of the state. */
const at = (place, scope) =>
  place.split(".").reduce((part, key) => {
    if (key === "last") return part?.at?.(-1);
    return part?.[key === "i" && part !== scope ? scope.i : key];
  }, scope);

function measure(word, scope) {
  if (!isNaN(word)) return Number(word);
  const found = at(word, scope);
  return Array.isArray(found) ? found.length : Number.isFinite(found) ? found : 0;
}

/** A bound as a number; null if there is none. */
function size(bound, scope) {
  if (typeof bound !== "string") return bound;
  const [first, ...rest] = bound.split(" ");
  let found = measure(first, scope);
  for (let k = 0; k < rest.length; k += 2)
    found = OPERATIONS[rest[k]](found, measure(rest[k + 1], scope));
  return found;
}

const ranged = (kind, isKind) => (rule, value, name, scope) => {
  const [bounds] = Object.values(rule);
  const [least, most, as] = bounds.map((bound) => size(bound, scope));
  const exact = as === undefined ? null : Math.max(least, Math.min(most, as));
  const [low, high] = [exact ?? least, exact ?? most];
  const right = isKind(value) && value >= low && (high === null || value <= high);
  const range = high === null ? `${kind} >= ${low}` : `${kind} from ${low} to ${high}`;
  if (!right) refuse(low === high ? low : range, value, name);
};
const whole = ranged("an integer", Number.isInteger);

const isText = (x) => x === `${x}` && !/\p{Surrogate}/u.test(x);

function text({ text: bounds }, value, name) {
  simple("valid Unicode text", isText)(null, value, name);
  if (bounds) whole({ whole: bounds }, [...value].length, `the length of ${name}`);
}

function list(rule, value, name, scope) {
  simple("a list", Array.isArray)(rule, value, name);
  const { length: n, rising, distinct, sum } = rule;
  const isRule = typeof n === "object" && !Array.isArray(n);
  const length = isRule ? n : { whole: Array.isArray(n) ? n : [n, n] };
  check(length, value.length, `the length of ${name}`, scope);
  value.forEach((entry, i) => {
    scope.i = i;
    check(rule.list, entry, `${name}[${i}]`, scope);
  });
  if (rising && value.some((x, i) => i && x <= value[i - 1]))
    refuse("a list of increasing numbers", value, name);
  if (distinct && new Set(value.map((x) => `${x}`)).size < value.length)
    refuse("a list of different entries", value, name);
  if (sum) {
    const [total, within] = sum.map((bound) => size(bound, scope));
    const found = value.reduce((all, x) => all + x, 0);
    KINDS.real({ real: [total - within, total + within] }, found, `the sum of ${name}`);
  }
}

/** An object, or a list of fixed length, whose parts keep their rules, in their order. */
function parts({ parts: rules }, value, name, scope) {
  const isList = Array.isArray(rules);
  if (isList) list({ list: "any", length: rules.length }, value, name, scope);
  else
    simple("an object", (x) => x && x === Object(x) && !Array.isArray(x))(
      null,
      value,
      name,
    );
  for (const key in rules)
    check(rules[key], value[key], isList ? `${name}[${key}]` : `${name}.${key}`, scope);
}

function cell({ cell: sizes }, value, name, scope) {
  const below = sizes.map((n) => ({ whole: [0, size(n, scope) - 1] }));
  parts({ parts: below }, value, name, scope);
}

function either({ either: [...rules] }, value, name, scope) {
  const last = rules.pop();
  const fits = (rule) => {
    try {
      check(rule, value, name, scope);
      return true;
    } catch {
      return false;
    }
  };
  if (!rules.some(fits)) check(last, value, name, scope);
}

function one({ one: known }, value, name, scope) {
  const all = (Array.isArray(known) ? known : at(known, scope)) ?? [];
  if (!all.includes(value)) refuse(`one of ${all.join(", ")}`, value, name);
}

const KINDS = {
  any: () => {},
  none: simple("[] or null", (x) => Array.isArray(x ?? []) && !x?.length),
  finite: simple("a finite number", Number.isFinite),
  flag: simple("true or false", (x) => x === !!x),
  text,
  whole,
  even: ranged("an even integer", (x) => x % 2 === 0),
  odd: ranged("an odd integer", (x) => Math.abs(x % 2) === 1),
  real: ranged("a number", Number.isFinite),
  one,
  list,
  parts,
  cell,
  place: ({ place }, ...rest) => either({ either: ["none", { cell: place }] }, ...rest),
  either,
};

/** Refuses a value that breaks a rule. */
export function check(rule, value, name, scope = {}) {
  const [kind] = typeof rule === "string" ? [rule] : Object.keys(rule);
  KINDS[kind](rule, value, name, scope);
}

/** Refuses a state that breaks its limits; `sizes` are what they name beside its parts. */
export function follow(state, limits, sizes = {}) {
  const scope = { ...state, ...sizes };
  for (const trait in limits) check(limits[trait], state[trait], trait, scope);
}

const bytes = (value, replace) => new Blob([JSON.stringify(value, replace)]).size;
const rounded = (_, x) => (typeof x === "number" ? Math.round(1e4 * x) / 1e4 : x);

/** The same for a whole state, and not too much of it. */
export function keep(state, limits, sizes) {
  if (bytes(state) > LIMIT)
    throw Error(
      `a figure's state must be at most ${LIMIT} bytes, got ${bytes(state, rounded)}`,
    );
  follow(state, limits, sizes);
}
