// Numbers and tokens as people read them. Pure: no DOM.

/** 0.6214 -> "62%"; tiny but not zero -> "less than 1%"; NaN -> "NaN". */
export function percent(x) {
  if (!Number.isFinite(x)) return number(x);
  if (x > 0 && x < 0.005) return "less than 1%";
  if (x < 1 && x >= 0.995) return "more than 99%";
  return `${Math.round(100 * x)}%`;
}

/** Fixed digits without a negative zero; "inf", "-inf" and "NaN" as PyTorch says them. */
export function number(x, digits = 2) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** As few digits as needed, at most `digits`: 1 -> "1", 0.5 -> "0.5". */
export const short = (x, digits = 2) =>
  Number.isFinite(x) ? String(Number(number(x, digits))) : number(x);

const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter();
export const graphemes = (text) =>
  segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : [...text];

// Characters that would show nothing, or would turn the text around them.
const CONTROL =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** A token made visible and cut to `limit` signs: "" -> "∅", "\n" -> "⏎", " a" -> "␣a". */
export function tokenText(token, limit = 24) {
  const text = String(token);
  if (text === "") return "∅";
  const signs = graphemes(text.slice(0, 12 * limit + 12))
    .slice(0, limit + 1)
    .map((sign) => [...sign].slice(0, 8).join(""));
  const cut = signs.length > limit ? [...signs.slice(0, limit - 1), "…"] : signs;
  return cut
    .join("")
    .replace(/^ | $/g, "␣")
    .replace(/[\r\n]+/g, "⏎")
    .replace(CONTROL, "·");
}

/** A token inside a sentence: in quotes, cut, and unable to turn the sentence around. */
export function quote(token, limit = 24) {
  const text = tokenText(token, limit);
  return RIGHT_TO_LEFT.test(text) ? `“\u2068${text}\u2069”` : `“${text}”`;
}

/** A number of at least 0, rounded, with commas: 1,024. */
export const commas = (x) =>
  String(Math.floor(x + 0.5)).replace(/\B(?=(\d{3})+$)/g, ",");

/** Three digits and a unit: 124M, 9.66G, 7. */
export function compact(x, space = "") {
  if (x < 1000) return `${number(x, 0)}${space}`;
  let power = 0;
  for (; x >= 999.5; power++) x /= 1000;
  return `${number(x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0)}${space}${" kMGTPE"[power]}`;
}

/** A Python literal of numbers, Booleans, strings and lists of them. */
export function python(value) {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string")
    return JSON.stringify(value).replace(/[\u007f-\u{10ffff}]/gu, (sign) => {
      const code = sign.codePointAt(0).toString(16);
      return code.length > 4
        ? `\\U${code.padStart(8, "0")}`
        : `\\u${code.padStart(4, "0")}`;
    });
  if (Number.isNaN(value)) return 'float("nan")';
  if (!Number.isFinite(value)) return value > 0 ? 'float("inf")' : '-float("inf")';
  return String(value);
}

/** A Python literal of rows of numbers, one row per line; show(x) -> text. */
export const pythonRows = (rows, show = python) =>
  `[\n${rows.map((row) => `    [${row.map((x) => show(x)).join(", ")}],\n`).join("")}]`;
