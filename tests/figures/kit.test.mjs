// The kit's pure parts, in Node, without a DOM.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compact,
  hatch,
  inkOn,
  line,
  matrixFrame,
  number,
  percent,
  python,
  quote,
  scale,
  short,
  tokenText,
} from "../../transformer_book/figures/kit/index.mjs";
import {
  difference,
  last,
  read,
  write,
} from "../../transformer_book/figures/kit/link.mjs";
import {
  cividisRGB,
  contrast,
  palette,
  rgb,
} from "../../transformer_book/figures/kit/palette.mjs";
import { csv } from "../../transformer_book/figures/kit/export.mjs";

for (const theme of ["light", "dark"]) {
  const colors = palette[theme];
  const ratio = (one, other) => contrast(rgb(colors[one]), rgb(colors[other]));
  for (const name of ["text", "query", "key", "value", "position", "quiet"])
    for (const ground of ["ground", "surface"])
      test(`${theme}: ${name} is readable on ${ground}`, () => {
        assert.ok(ratio(name, ground) >= 4.5, String(ratio(name, ground)));
      });
  test(`${theme}: lines and controls are visible`, () => {
    for (const name of ["line", "query"]) assert.ok(ratio(name, "ground") >= 3, name);
  });
}

test("the ink on every weight is readable", () => {
  for (let x = 0; x <= 1; x += 0.01)
    assert.ok(contrast(cividisRGB(x), rgb(inkOn(x))) >= 4.5, String(x));
});

test("cividis only gets lighter, and takes what is outside as its ends", () => {
  const black = [0, 0, 0];
  for (let x = 0.05; x <= 1; x += 0.05)
    assert.ok(contrast(cividisRGB(x), black) > contrast(cividisRGB(x - 0.05), black));
  assert.deepEqual(cividisRGB(2), cividisRGB(1));
  assert.deepEqual(cividisRGB(NaN), cividisRGB(0));
});

test("numbers in words", () => {
  assert.equal(percent(0.6214), "62%");
  assert.equal(percent(0.001), "less than 1%");
  assert.equal(percent(0.999), "more than 99%");
  assert.equal(percent(0), "0%");
  assert.equal(percent(1), "100%");
  assert.equal(percent(NaN), "NaN");
  assert.equal(number(-0.001), "0.00");
  assert.equal(number(-Infinity), "-inf");
  assert.equal(short(1), "1");
  assert.equal(short(0.5), "0.5");
});

test("tokens are made visible and cut between signs", () => {
  assert.equal(tokenText(""), "∅");
  assert.equal(tokenText(" a"), "␣a");
  assert.equal(tokenText("\n"), "⏎");
  assert.equal(tokenText("\u202egnp"), "·gnp");
  assert.equal(tokenText("x".repeat(10_000), 5), "xxxx…");
  assert.equal(tokenText("👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 2), "👩‍👩‍👧‍👦…");
  assert.ok(tokenText("e" + "\u0301".repeat(60)).length <= 8);
  assert.equal(quote("שלום"), "“\u2068שלום\u2069”");
});

test("Python literals", () => {
  assert.equal(
    python([true, 1.5, -Infinity, NaN]),
    '[True, 1.5, -float("inf"), float("nan")]',
  );
  assert.equal(python('a"\n\\é'), '"a\\"\\n\\\\\\u00e9"');
  assert.equal(python("👧"), '"\\U0001f467"'); // two surrogates would be no text in Python
});

test("CSV quotes, and disarms what a spreadsheet would run", () => {
  const table = {
    header: ["a,b", 'c"d'],
    rows: [
      ["=1+1", -1],
      ["-0.5", "-x"],
    ],
  };
  assert.equal(csv(table), '"a,b","c""d"\n\'=1+1,-1\n-0.5,\'-x\n');
});

test("a matrix fits its room, with flat labels only where they fit", () => {
  for (const width of [300, 340, 680])
    for (const n of [2, 5, 8]) {
      const texts = Array.from({ length: n }, () => "because");
      const frame = matrixFrame({ rows: texts, cols: texts, width, extra: 1 });
      assert.ok(frame.cell >= 24);
      assert.ok(frame.width <= width, `${n} tokens in ${width}: ${frame.width}`);
    }
  assert.ok(matrixFrame({ rows: ["a"], cols: ["a"], width: 300 }).flat);
});

test("a hatch stays inside its cell", () => {
  const numbers = hatch(10, 20, 30, 40)
    .match(/[\d.]+/g)
    .map(Number);
  numbers.forEach((value, i) => {
    const [low, high] = i % 2 ? [20, 60] : [10, 40];
    assert.ok(value >= low && value <= high, String(value));
  });
  assert.ok(numbers.length > 8);
});

test("lines break where there is no number", () => {
  assert.equal(
    line([
      [0, 1],
      [1, NaN],
      [2, 3],
      [3, 4],
    ]),
    "M0 1M2 3L3 4",
  );
});

test("a scale goes there and back", () => {
  const x = scale([0, 10], [100, 200]);
  assert.equal(x(5), 150);
  assert.equal(x.invert(150), 5);
});

test("the address holds what changed, one part per figure", () => {
  const initial = { a: 1, list: [1, 2], word: "x" };
  const state = { a: 1, list: [1, 3], word: "&=#<" };
  assert.deepEqual(difference(state, initial), { list: [1, 3], word: "&=#<" });
  const hash = write("#other-1=5&section", "fig-2", state, initial);
  assert.match(hash, /^other-1=5&fig-2=/);
  assert.deepEqual(read(`#${hash}`, "fig-2", initial), { list: [1, 3], word: "&=#<" });
  assert.equal(write(`#${hash}`, "fig-2", initial, initial), "other-1=5&fig-2=%7B%7D");
  assert.ok(last(`#${hash}`, "fig-2")); // its link leads to it
  assert.ok(!last(`#${hash}`, "other-1"));
  assert.ok(last(`#${write(`#${hash}`, "other-1", state, initial)}`, "other-1"));
});

test("an address is not trusted", () => {
  const initial = { a: 1, list: [1] };
  for (const junk of ["", "#x-1", "#x-1=%", "#x-1={", "#x-1=null", '#x-1={"a":"1"}'])
    assert.deepEqual(read(junk, "x-1", initial), {});
  assert.deepEqual(read('#x-1={"__proto__":{"a":2},"list":3,"a":4}', "x-1", initial), {
    a: 4,
  });
});

test("compact: three digits and a unit", () => {
  const texts = new Map([
    [0, "0 "],
    [999, "999 "],
    [1000, "1.00 k"],
    [9994, "9.99 k"],
    [9995, "10.0 k"],
    [99_949, "99.9 k"],
    [99_950, "100 k"],
    [999_499, "999 k"],
    [999_500, "1.00 M"],
    [124_439_808, "124 M"],
    [1e18, "1.00 E"],
  ]);
  for (const [number, text] of texts) {
    assert.equal(compact(number, " "), text);
    assert.equal(compact(number), text.replace(" ", ""));
  }
});
