// Byte-level BPE, the same ids as transformer_lib.tokens.Tokenizer.

/** The pattern of words, with the letters and numbers that Python's Unicode knows. */
function wordPattern({ letters, numbers }) {
  const sign = (code) => `\\u{${code.toString(16)}}`;
  const signs = (ranges) =>
    ranges.map(([first, last]) => `${sign(first)}-${sign(last)}`).join("");
  const [L, N, space] = [signs(letters), signs(numbers), "\\p{White_Space}"];
  return new RegExp(
    `'(?:s|t|re|ve|m|ll|d)| ?[${L}]+| ?[${N}]+| ?[^${space}${L}${N}]+` +
      `|${space}+(?!\\P{White_Space})|${space}+`,
    "gu",
  );
}

/** ids with `made` wherever `left` and `right` stand side by side, in place. */
function merge(ids, left, right, made) {
  let kept = 0;
  for (let i = 0; i < ids.length; i += 1) {
    if (kept > 0 && ids[kept - 1] === left && ids[i] === right) ids[kept - 1] = made;
    else ids[kept++] = ids[i];
  }
  ids.length = kept;
}

/** The place in `ids` of the pair that was learned first, or -1. */
function firstLearned(ids, madeOf) {
  let [best, place] = [Infinity, -1];
  for (let i = 0; i + 1 < ids.length; i += 1) {
    const made = madeOf.get(ids[i] * 2 ** 24 + ids[i + 1]);
    if (made < best) [best, place] = [made, i];
  }
  return place;
}

function bytesOfTokens({ merges, special_tokens: special, alphabet }) {
  const tokens = alphabet.map((byte) => Uint8Array.of(byte));
  for (const [left, right] of merges)
    tokens.push(Uint8Array.of(...tokens[left], ...tokens[right]));
  return [...tokens, ...special.map((name) => new TextEncoder().encode(name))];
}

/** A packed model's tokenizer: { encode, decode, bytes, special, size }. */
export function createTokenizer(data) {
  const { merges, special_tokens: special, alphabet } = data;
  const words = wordPattern(data);
  const tokens = bytesOfTokens(data);
  const idOfByte = new Map(alphabet.map((byte, id) => [byte, id]));
  const madeOf = new Map(
    merges.map(([left, right], rank) => [left * 2 ** 24 + right, 256 + rank]),
  );
  const utf8 = new TextEncoder();

  const ofWord = (word) => {
    const ids = Array.from(utf8.encode(word), (byte) => idOfByte.get(byte));
    for (let at = firstLearned(ids, madeOf); at >= 0; at = firstLearned(ids, madeOf)) {
      const [left, right] = [ids[at], ids[at + 1]];
      merge(ids, left, right, madeOf.get(left * 2 ** 24 + right));
    }
    return ids;
  };
  /** Bytes of one id; a special token's are those of its name. */
  const bytes = (id) => {
    if (Number.isInteger(id) && id >= 0 && id < tokens.length) return tokens[id];
    throw Error(`ids must be integers from 0 to ${tokens.length - 1}, got ${id}`);
  };
  return {
    size: tokens.length,
    bytes,
    /** Text -> ids. */
    encode(text) {
      if (/\p{Surrogate}/u.test(text))
        throw Error("a text must not hold a lone surrogate (half a character)");
      return (text.match(words) ?? []).flatMap(ofWord);
    },
    /** Ids -> text; bytes that are no UTF-8 become U+FFFD. */
    decode(ids) {
      const all = Array.from(ids, bytes).flatMap((some) => [...some]);
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(all));
    },
    /** The id of a special token, which encode never returns. */
    special(name) {
      const rank = special.indexOf(name);
      if (rank < 0)
        throw Error(`the name must be one of ${special.join(", ")}, got ${name}`);
      return 256 + merges.length + rank;
    },
  };
}
