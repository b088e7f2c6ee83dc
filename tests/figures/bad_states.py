"""Bad states of every figure, by kind: what is wrong, and what must be said of it."""

import json
import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

Change = Callable[[Any], Any]


class Bad(NamedTuple):
    """One part of a good state, changed: NaN, which is null in a page, and others."""

    kind: str
    path: str
    """Names and numbers of the part, as in "record maps 0"."""
    change: Change
    page: str
    """Regular expression for the page's message: its rule and its value."""
    python: str
    """The same for the ValueError."""


def patched(state: dict[str, Any], bad: Bad) -> dict[str, Any]:
    """Return the trait that is changed, and its bad value."""
    first, *rest = [int(x) if x.isdigit() else x for x in bad.path.split()]
    state = {first: deepcopy(state[first])}
    at: Any = state
    for name in (path := [first, *rest])[:-1]:
        at = at[name]
    at[path[-1]] = bad.change(at[path[-1]])
    return state


def in_page(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as JSON can hold it: NaN is null there."""
    return json.loads(json.dumps(state), parse_constant=lambda _: None)


def _to(value: Any) -> Change:
    return lambda _: value


def _cut(old: list[Any]) -> list[Any]:
    return old[:-1]


def _more(old: list[Any]) -> list[Any]:
    return [*old, old[-1]]


def _add(number: float) -> Change:
    return lambda old: old + number


def _text(kind: str, path: str, python: str) -> Bad:
    """A number as text; traitlets itself refuses it for a trait that is a number."""
    name = path.split(maxsplit=1)[0]
    return Bad(kind, path, _to("7"), rf'{name}.* must be .*number.*, got .*"7"', python)


NAN = math.nan
LONG = "a " * 11_000
NO_INT = "expected an int, not the str '7'"
NO_FLOAT = "expected a float, not the str '7'"
BYTES = r"bytes of its state must be .* to 20000, got [2-4]\d{4}"
PY_BYTES = r"at most 20000 bytes, got [2-4]\d{4}"

BAD_STATES: dict[str, list[Bad]] = {
    "attention_stepper": [
        Bad(
            "length",
            "key",
            _cut,
            "length of key must .* 5, got 4",
            "key must be 5 x 4, got",
        ),
        Bad(
            "number",
            "query 1 2",
            _to(NAN),
            r"query\[1\]\[2\] must .*finite.*null",
            "query must hold finite numbers, got nan",
        ),
        _text("text", "value 0 0", "value must hold finite numbers, got '7'"),
        Bad(
            "index",
            "selected",
            _to([0, -1]),
            r"selected\[1\] must .* from 0 .*got -1",
            r"selected must be .*, got \[0, -1\]",
        ),
        Bad(
            "large",
            "tokens",
            _to(["a"] * 17),
            "length of tokens must .* 2 to 16, got 17",
            "tokens must be 2 to 16, got 17",
        ),
        Bad("bytes", "tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "block_flow": [
        Bad(
            "length",
            "flow changes",
            _cut,
            "length of flow.changes must .*, got",
            "flow must hold two layers .*, got",
        ),
        Bad(
            "number",
            "flow lengths 0",
            _to(NAN),
            r"flow.lengths\[0\] must .*finite.*null",
            r"flow.lengths\[0\] must hold finite numbers, got nan",
        ),
        _text(
            "text",
            "flow cosines 0",
            r"flow.cosines\[0\] must hold finite numbers, got '7'",
        ),
        Bad(
            "index",
            "selected",
            _to([99]),
            r"selected\[0\] must .* from 0 .*got 99",
            r"selected must be one number .*, got \[99\]",
        ),
        Bad(
            "stack",
            "stacks pre shares",
            _to([1.0]),
            "stacks.pre.shares must .* 2 to 99, got 1",
            r"stacks must have .* got \[25, 1\] for pre",
        ),
        Bad("bytes", "flow tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "bpe_stepper": [
        Bad(
            "length",
            "selected",
            _to([1]),
            "length of selected must .* 2, got 1",
            r"selected must be two ids .*, got \[1\]",
        ),
        Bad(
            "number",
            "step",
            _to(NAN),
            "step must be a whole number .*, got null",
            "'step' .* expected an int, not the float nan",
        ),
        _text("text", "step", NO_INT),
        Bad(
            "index",
            "selected",
            _to([1, 556]),
            r"selected\[1\] must .* 0 to 555, got 556",
            r"selected must be two ids from 0 to 555.*, got \[1, 556\]",
        ),
        Bad(
            "large",
            "step",
            _to(301),
            "step must .* 0 to 300, got 301",
            "step must be from 0 to 300, got 301",
        ),
        Bad("bytes", "text", _to(LONG), BYTES, PY_BYTES),
    ],
    "embedding_lookup": [
        Bad(
            "length",
            "tables 0",
            _cut,
            r"length of tables\[0\] must .* 29, got 28",
            "each of tables must be 29 x .*, got rows",
        ),
        Bad(
            "number",
            "tables 1 2 0",
            _to(NAN),
            r"tables\[1\]\[2\]\[0\] must .*number.*null",
            r"tables\[1\]\[2\]\[0\] must hold finite numbers, got nan",
        ),
        _text(
            "text",
            "tables 0 0 0",
            r"tables\[0\]\[0\]\[0\] must hold finite numbers, got '7'",
        ),
        Bad(
            "index",
            "tokens",
            _to([29]),
            r"tokens\[0\] must .* 0 to 28, got 29",
            r"tokens must be .* from 0 to 28, got \[29\]",
        ),
        Bad(
            "step",
            "step",
            _to(7),
            "step must be one of 0, 10, .*, got 7",
            r"step must be one of \[0, 10, .*got 7",
        ),
        Bad(
            "large",
            "tables 0 0 0",
            _to(1001),
            "must be a number from -1000 to 1000, got 1001",
            "tables must lie within 1,000, got 1001",
        ),
        Bad("bytes", "about", _to(LONG), BYTES, PY_BYTES),
    ],
    "heads_grid": [
        Bad(
            "length",
            "stored maps 1 2",
            _cut,
            r"length of stored.maps\[1\]\[2\] must .* 210, got 209",
            "must be 210 weights, got 209",
        ),
        Bad(
            "sum",
            "stored maps 0 1 0",
            _to(9000),
            r"sum of stored.maps\[0\]\[1\] must .* 0.9968 to 1.0032, got 0.9",
            "stored weights must sum to 1 in each row, got 0.9000 in row 0",
        ),
        Bad(
            "number",
            "stored maps 0 0 3",
            _to(NAN),
            r"stored.maps\[0\]\[0\]\[3\] must be a whole number .*null",
            "stored weights must be whole numbers .*, got nan",
        ),
        _text(
            "text",
            "stored losses 0 1",
            r"stored.losses\[0\]\[1\] must hold finite numbers, got '7'",
        ),
        Bad(
            "index",
            "selected",
            _to([2, 0]),
            r"selected\[0\] must .* 0 to 1, got 2",
            r"selected must name heads .*, got \[2, 0\]",
        ),
        Bad(
            "large",
            "tokens",
            _to(["a"] * 33),
            "length of tokens must .* 2 to 32, got 33",
            "tokens must be 2 to 32, got 33",
        ),
        Bad("bytes", "tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "kv_cache_stepper": [
        Bad(
            "length",
            "gaps",
            _cut,
            "length of gaps must .* 9, got 8",
            "gaps must be 9, one for each step, got 8",
        ),
        Bad(
            "number",
            "wrong_gaps 0",
            _to(NAN),
            r"wrong_gaps\[0\] must .*finite.*null",
            r"wrong_gaps\[0\] must hold finite numbers, got nan",
        ),
        _text(
            "text", "sizes n_heads", "sizes.n_heads must be a whole number .*, got '7'"
        ),
        Bad(
            "index",
            "selected",
            _to([0, 99, 0]),
            r"selected\[1\] must .* 0 to \d+, got 99",
            r"selected must be .*, got \[0, 99, 0\]",
        ),
        Bad(
            "step",
            "step",
            _to(9),
            "step must .* 0 to 8, got 9",
            "step must be from 0 to 8, got 9",
        ),
        Bad(
            "large",
            "prompt_length",
            _to(17),
            "prompt_length must .* 0 to 16, got 17",
            "prompt_length must be 1 to 16 .*, got 17",
        ),
        Bad("bytes", "prompt", _to(LONG), BYTES, PY_BYTES),
    ],
    "position_lab": [
        Bad(
            "length",
            "order",
            _cut,
            "length of order must .* 7, got 6",
            "order must hold each of 0 to 6 once, got",
        ),
        Bad(
            "number",
            "base",
            _to(NAN),
            "base must be a number .*null",
            "base must hold finite numbers, got nan",
        ),
        _text("text", "length", NO_INT),
        Bad(
            "rows",
            "rows",
            _to([[0.5]] * 6 + [[None]]),
            r"rows\[6\]\[0\] must .*finite.*null",
            "rows must hold finite numbers, got None",
        ),
        Bad(
            "index",
            "dimensions",
            _to([64]),
            r"dimensions\[0\] must .* 0 to 63, got 64",
            r"dimensions must be .* 0 to 63, got \[64\]",
        ),
        Bad(
            "large",
            "length",
            _to(65),
            "length must .* 2 to 64, got 65",
            "length must be from 2 to 64, got 65",
        ),
        Bad("bytes", "tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "rope_rotor": [
        Bad(
            "length",
            "key",
            _cut,
            "length of key must .* 8, got 7",
            "same even number of dimensions, .* got 8 and 7",
        ),
        Bad(
            "number",
            "query 0",
            _to(NAN),
            r"query\[0\] must be a number .*null",
            "query must hold finite numbers, got nan",
        ),
        _text("text", "key 1", "key must hold finite numbers, got '7'"),
        Bad(
            "index",
            "m",
            _to(32),
            "m must .* 0 to 31, got 32",
            "m must be from 0 to 31, got 32",
        ),
        Bad(
            "large",
            "query 0",
            _to(1001),
            r"query\[0\] must .* -1000 to 1000, got 1001",
            "query must be from -1,000 to 1,000, got 1001",
        ),
        Bad(
            "many",
            "query",
            lambda old: old * 9,
            "length of query must .* 16, got 72",
            "2 to 16, got 72 and 8",
        ),
    ],
    "sampling_desk": [
        Bad(
            "length",
            "logits",
            _cut,
            "length of logits must .* 506, got 505",
            "logits must be one for each of 506 tokens, got 505",
        ),
        Bad(
            "number",
            "logits 3",
            _to(NAN),
            r"logits\[3\] must .*finite.*null",
            "logits must hold finite numbers, got nan",
        ),
        _text("text", "temperature", NO_FLOAT),
        Bad(
            "index",
            "held",
            _to(506),
            "held must .* 0 to 505, got 506",
            "held must be from -1 to 505, got 506",
        ),
        Bad(
            "asked",
            "asked",
            _to(["a", 999]),
            r"asked\[0\] must .* 0 to 505, got 999",
            r"asked\[0\] must .* 0 to 505, got 999",
        ),
        Bad(
            "large",
            "text",
            _to("a" * 301),
            "signs of text must .* 0 to 300, got 301",
            "text must be at most 300 signs, got 301",
        ),
        Bad("bytes", "tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "score_bench": [
        Bad(
            "length",
            "query",
            _more,
            "length of query must .* 2, got 3",
            "query must be two numbers, got 3",
        ),
        Bad(
            "number",
            "key 0",
            _to(NAN),
            r"key\[0\] must be a number .*null",
            "key must hold finite numbers, got nan",
        ),
        _text("text", "query 1", "query must hold finite numbers, got '7'"),
        Bad(
            "index",
            "held",
            _to(32),
            "held must .* -1 to 31, got 32",
            "held must be from -1 to 31, got 32",
        ),
        Bad(
            "large",
            "width",
            _to(1024),
            "width must be a power of two from 2 to 512, got 1024",
            "width must be a power of two from 2 to 512, got 1024",
        ),
    ],
    "shape_ledger": [
        Bad(
            "length",
            "selected",
            _to([1, 2]),
            "length of selected must .* 1, got 2",
            r"selected must be \[line\] .*, got \[1, 2\]",
        ),
        Bad(
            "number",
            "batch",
            _to(NAN),
            "batch must be a whole number .*null",
            "'batch' .* expected an int, not the float nan",
        ),
        _text("text", "d_model", NO_INT),
        Bad(
            "index",
            "selected",
            _to([99]),
            r"selected\[0\] must .*, got 99",
            r"selected must be \[line\] .*, got \[99\]",
        ),
        Bad(
            "divides",
            "n_heads",
            _to(7),
            "n_heads must divide d_model, got 7 and 768",
            "n_heads must divide d_model, got n_heads=7, d_model=768",
        ),
        Bad(
            "large",
            "vocab_size",
            _to(300_001),
            "vocab_size must .* 1 to 300000, got 300001",
            "vocab_size must be from 1 to 300000, got 300001",
        ),
    ],
    "softmax_mask": [
        Bad(
            "length",
            "scores",
            _cut,
            "length of scores must .* 5, got 4",
            "scores must be 5 x 5, got rows of lengths",
        ),
        Bad(
            "number",
            "scores 1 1",
            _to(NAN),
            r"scores\[1\]\[1\] must .*finite.*null",
            "scores must hold finite numbers, got nan",
        ),
        _text("text", "temperature", NO_FLOAT),
        Bad(
            "mask",
            "mask 0 1",
            _to(1),
            r"mask\[0\]\[1\] must be true or false, got 1",
            "mask must hold True and False, got 1",
        ),
        Bad(
            "index",
            "selected",
            _to([0, 5]),
            r"selected\[1\] must .* 0 to 4, got 5",
            r"selected must be .*, got \[0, 5\]",
        ),
        Bad(
            "large",
            "tokens",
            _to(["a"] * 9),
            "length of tokens must .* 2 to 8, got 9",
            "tokens must be 2 to 8, got 9",
        ),
        Bad("bytes", "tokens 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "train_scrub": [
        Bad(
            "length",
            "record first",
            _cut,
            "length of record.first must .* 22, got 21",
            "first must have one entry for each of the 22 steps, got 21",
        ),
        Bad(
            "sum",
            "record maps 3 1 0 0",
            _to(90),
            r"sum of record.maps\[3\]\[1\]\[0\] must .* 100 to 100, got 90",
            "row i of i . 1 whole numbers that sum to 100, got",
        ),
        Bad(
            "number",
            "record second 2",
            _to(NAN),
            r"record.second\[2\] must be a number .*null",
            r"record.second\[2\] must hold finite numbers, got nan",
        ),
        _text(
            "text", "record maps 0 0 0 0", "whole numbers that sum to 100, got .*'7'"
        ),
        Bad(
            "index",
            "selected",
            _to([2, 0, 0]),
            r"selected\[0\] must .* 0 to 1, got 2",
            r"selected must be .*, got \[2, 0, 0\]",
        ),
        Bad(
            "frame",
            "frame",
            _to(22),
            "frame must .* 0 to 21, got 22",
            "frame must be from 0 to 21, got 22",
        ),
        Bad(
            "large",
            "record tokens",
            _to(["a"] * 13),
            "length of record.tokens must .* 2 to 12, got 13",
            "tokens must be 2 to 12, got 13",
        ),
        Bad("bytes", "record heads 0", _to(LONG), BYTES, PY_BYTES),
    ],
    "translator": [
        Bad(
            "length",
            "answer chances",
            _cut,
            r"length of answer.chances must .* 5, got 4",
            "chances must be 5, got 4",
        ),
        Bad(
            "sum",
            "answer weights 0 0 0 0",
            _add(500),
            r"sum of answer.weights\[0\]\[0\]\[0\] must .* to 100.*, got 1[45]\d\d",
            r"weights must sum to 1000 in each row, got .*1[45]\d\d",
        ),
        Bad(
            "number",
            "answer weights 0 0 1 0",
            _to(NAN),
            r"answer.weights\[0\]\[0\]\[1\]\[0\] must .*number.*null",
            r"answer.weights\[0\]\[0\]\[1\]\[0\] must hold finite numbers, got nan",
        ),
        _text(
            "text",
            "answer chances 0 0 1",
            r"answer.chances\[0\]\[0\]\[1\] must hold finite numbers, got '7'",
        ),
        Bad(
            "index",
            "selected",
            _to([28]),
            r"selected\[0\] must .* 0 to 27, got 28",
            r"selected must be .* below 28, .*got \[28\]",
        ),
        Bad(
            "head",
            "head",
            _to([9, 9]),
            r"head\[0\] must .*, got 9",
            r"head must be \[layer, head\] below .*, got \[9, 9\]",
        ),
        Bad(
            "large",
            "step",
            _to(29),
            "step must .* 0 to 28, got 29",
            "step must be from 0 to 28, got 29",
        ),
        Bad("bytes", "answer translation", _to(LONG), BYTES, PY_BYTES),
    ],
}
