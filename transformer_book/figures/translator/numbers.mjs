// Number words as num2words makes them, from which the model has learned.
const ENGLISH = (
  "one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
  "fifteen sixteen seventeen eighteen nineteen"
).split(" ");
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const GERMAN = (
  "ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn " +
  "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split(" ");
const ZIG = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(
  " ",
);

const parts = (n, by) => [Math.floor(n / by), n % by];
const joined = (words, by) => words.filter(Boolean).join(by);

function english100(n) {
  const [ten, one] = parts(n, 10);
  return n < 20 ? ENGLISH[n - 1] : joined([TENS[ten - 2], ENGLISH[one - 1]], "-");
}

function english1000(n) {
  const [hundred, rest] = parts(n, 100);
  return joined(
    [hundred && `${ENGLISH[hundred - 1]} hundred`, english100(rest)],
    " and ",
  );
}

/** 345 -> "three hundred and forty-five"; for 1 to 999,999. */
export function english(n) {
  const [thousand, rest] = parts(n, 1000);
  const left = thousand && `${english1000(thousand)} thousand`;
  return joined([left, english1000(rest)], rest < 100 ? " and " : ", ");
}

function german100(n) {
  const [ten, one] = parts(n, 10);
  if (n === 1) return "eins";
  return n < 20
    ? (GERMAN[n - 1] ?? "")
    : joined([GERMAN[one - 1], ZIG[ten - 2]], "und");
}

function german1000(n) {
  const [hundred, rest] = parts(n, 100);
  return (hundred ? `${GERMAN[hundred - 1]}hundert` : "") + german100(rest);
}

/** 345 -> "dreihundertfünfundvierzig"; as num2words, "hunderteinstausend" with an s. */
export function german(n) {
  const [thousand, rest] = parts(n, 1000);
  const left = thousand === 1 ? "ein" : german1000(thousand);
  return (thousand ? `${left}tausend` : "") + german1000(rest);
}

/** @type {Map<string, number>} */
const VALUES = new Map();
ENGLISH.forEach((word, i) => VALUES.set(word, i + 1));
TENS.forEach((word, i) => VALUES.set(word, 10 * i + 20));

const below1000 = (words) =>
  (words.match(/[a-z]+/g) ?? []).reduce(
    (n, word) => (word === "hundred" ? 100 * n : n + (VALUES.get(word) ?? 0)),
    0,
  );

const plain = (words) => words.replace(/(\band\b|[ ,-])+/g, " ").trim();

/** The number that these are the English words of, however joined ("Twenty one"), or null. */
export function meantBy(text) {
  const words = text.toLowerCase();
  const [rest, thousands = ""] = words.split("thousand").reverse();
  const n = 1000 * below1000(thousands) + below1000(rest);
  return n >= 1 && n <= 999_999 && plain(english(n)) === plain(words) ? n : null;
}

/** The same of words that are joined as the model has learned them. */
export function numberOf(words) {
  const n = meantBy(words);
  return n && english(n) === words ? n : null;
}
