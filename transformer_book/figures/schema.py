"""What a figure's state must be: the rules in its limits.json.

`kit/schema.mjs` reads them too, for a page, and says how they are written.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from operator import add, mul, sub
from pathlib import Path
from typing import Any

from transformer_book.figures.state import StateError

_FOLDER = Path(__file__).parent
_OPERATIONS = {"+": add, "-": sub, "*": mul}

Limits = Mapping[str, Any]


@cache
def limits_of(name: str) -> Limits:
    """Return the rules of a figure's state, by trait."""
    return json.loads((_FOLDER / name / "limits.json").read_text("utf-8"))


def cut(value: Any) -> str:
    """Write a value down for a message, as JSON, at most 60 signs of it."""
    try:
        text = json.dumps(value, separators=(",", ":"))
    except TypeError:
        text = f"{value!a}"
    return text if len(text) <= 60 else f"{text[:59]}…"


def check_limits(state: Mapping[str, Any], limits: Limits, **sizes: int) -> None:
    """Raise StateError unless each trait keeps its rule.

    `sizes` are what the rules name beside the parts of the state.
    """
    for trait, rule in limits.items():
        _State(state, sizes, trait, _hint(rule)).check(rule, state.get(trait), trait)


def check_rule(rule: Any, value: Any, name: str) -> None:
    """Raise StateError unless a value keeps a rule that needs no state."""
    _State({}, {}, name, "").check(rule, value, name)


def _hint(rule: Any) -> str:
    return rule.get("hint", "") if isinstance(rule, dict) else ""


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_whole(value: Any) -> bool:
    return type(value) is int


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


_NUMBERS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "whole": ("an integer", _is_whole),
    "even": ("an even integer", lambda x: _is_whole(x) and x % 2 == 0),
    "odd": ("an odd integer", lambda x: _is_whole(x) and x % 2 == 1),
    "real": ("a number", _is_number),
}
_SIMPLE: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "any": ("anything", lambda x: True),
    "none": ("[] or null", lambda x: x is None or x == []),
    "finite": ("a finite number", _is_number),
    "flag": ("true or false", lambda x: isinstance(x, bool)),
    "text": ("valid Unicode text", _is_text),
}


class _State:
    """One trait of a state, and what its rules refer to."""

    def __init__(
        self, state: Mapping[str, Any], sizes: Limits, trait: str, hint: str
    ) -> None:
        self.state, self.scope = state, {**state, **sizes}
        self.trait, self.hint = trait, hint

    def check(self, rule: Any, value: Any, name: str) -> None:
        """Raise unless the value keeps the rule."""
        kind = rule if isinstance(rule, str) else next(iter(rule))
        if kind in _NUMBERS:
            self._range(kind, rule[kind], value, name)
        elif kind in _SIMPLE:
            self._simple(kind, value, name)
            if kind != rule:
                self._range("whole", rule[kind], len(value), f"the length of {name}")
        else:
            getattr(self, f"_{kind}")(rule, value, name)

    def _refuse(self, words: str, value: Any, name: str, bounds: Any = ()) -> None:
        read = re.findall(r"[a-z_]+", " ".join(b for b in bounds if isinstance(b, str)))
        others = sorted({*read} & self.state.keys() - {self.trait})
        both = ", ".join(f"{trait}=..." for trait in (self.trait, *others))
        hint = self.hint or (f"update({both}) changes them together" if others else "")
        raise StateError(
            f"{name} must be {words}, got {cut(value)}" + (f"; {hint}" if hint else "")
        )

    def _simple(self, kind: str, value: Any, name: str) -> None:
        words, right = _SIMPLE[kind]
        if not right(value):
            self._refuse(words, value, name)

    def _at(self, place: str) -> Any:
        """Return what is at a place of the state; None if nothing is."""
        found: Any = self.scope
        for key in place.split("."):
            try:
                if isinstance(found, list):
                    index = {"last": -1, "i": self.scope.get("i", -1)}.get(key, key)
                    found = found[int(index)]
                else:
                    found = found[key]
            except (KeyError, IndexError, TypeError):
                return None
        return found

    def _measure(self, word: str) -> float:
        if word[0].isdigit():
            return float(word) if "." in word else int(word)
        found = self._at(word)
        if isinstance(found, list):
            return len(found)
        return found if _is_number(found) else 0

    def _size(self, bound: Any) -> Any:
        if not isinstance(bound, str):
            return bound
        first, *rest = bound.split(" ")
        size = self._measure(first)
        for sign, word in zip(rest[::2], rest[1::2], strict=True):
            size = _OPERATIONS[sign](size, self._measure(word))
        return int(size) if size == int(size) else size

    def _range(self, kind: str, bounds: list[Any], value: Any, name: str) -> None:
        words, right = _NUMBERS[kind]
        low, high, *as_long = (self._size(bound) for bound in bounds)
        for size in as_long:
            low = high = max(low, min(high, size))
        if not right(value) or value < low or (high is not None and value > high):
            words += f" >= {low}" if high is None else f" from {low} to {high}"
            self._refuse(f"{low}" if low == high else words, value, name, bounds)

    def _list(self, rule: Limits, value: Any, name: str) -> None:
        if not isinstance(value, list):
            self._refuse("a list", value, name)
        length = rule["length"]
        if not isinstance(length, dict):
            length = {"whole": length if isinstance(length, list) else [length, length]}
        self.check(length, len(value), f"the length of {name}")
        for i, entry in enumerate(value):
            self.scope["i"] = i
            self.check(rule["list"], entry, f"{name}[{i}]")
        if rule.get("rising") and any(a >= b for a, b in pairwise(value)):
            self._refuse("a list of increasing numbers", value, name)
        if rule.get("distinct") and any(value.count(entry) > 1 for entry in value):
            self._refuse("a list of different entries", value, name)
        if "sum" in rule:
            total, within = (self._size(bound) for bound in rule["sum"])
            around = [total - within, total + within]
            self._range("real", around, sum(value), f"the sum of {name}")

    def _parts(self, rule: Limits, value: Any, name: str) -> None:
        rules = rule["parts"]
        if isinstance(rules, list):
            self._list({"list": "any", "length": len(rules)}, value, name)
            for i, part in enumerate(rules):
                self.check(part, value[i], f"{name}[{i}]")
        elif not isinstance(value, dict):
            self._refuse("an object", value, name)
        else:
            for part, one in rules.items():
                self.check(one, value.get(part), f"{name}.{part}")

    def _cell(self, rule: Limits, value: Any, name: str) -> None:
        sizes = [self._size(size) for size in rule["cell"]]
        self._parts({"parts": [{"whole": [0, n - 1]} for n in sizes]}, value, name)

    def _place(self, rule: Limits, value: Any, name: str) -> None:
        self._either({"either": ["none", {"cell": rule["place"]}]}, value, name)

    def _either(self, rule: Limits, value: Any, name: str) -> None:
        *others, last = rule["either"]
        for other in others:
            try:
                return self.check(other, value, name)
            except StateError:
                continue
        self.check(last, value, name)

    def _one(self, rule: Limits, value: Any, name: str) -> None:
        known = rule["one"]
        known = (self._at(known) if isinstance(known, str) else known) or []
        if not any(type(value) is type(one) and value == one for one in known):
            self._refuse(f"one of {', '.join(map(str, known))}", value, name)
