"""The words and matrices of a small model that a page reads texts with."""

import re
from itertools import takewhile
from typing import Any

import traitlets

from transformer_book.figures.state import StateError, as_lists, check_matrix

MOST = 16
"""Tokens that a figure of one attention map shows at most."""

_PIECE = re.compile(r"[\w'’-]+|[^\s\w'’-]")
_HEADS = ("query", "key", "value")


class WordModel(traitlets.Dict):
    """A dict of words and matrices; tensors and arrays in it are unpacked."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Unpack what has `tolist`, then ask what every dict is asked."""
        if isinstance(value, dict):
            value = {name: as_lists(part) for name, part in value.items()}
        return super().validate(obj, value)


def check_model(model: dict[str, Any] | None) -> None:
    """Raise unless the parts of the model, if there is one, fit each other."""
    if model is None:
        return
    missing = [part for part in ("words", "embedding", *_HEADS) if not model.get(part)]
    if missing:
        raise StateError(f"a model needs words and matrices, got no {missing}")
    _check_words(model["words"])
    d_model, positions = len(model["embedding"][0]), model.get("positions") or []
    shapes = {"embedding": len(model["words"]), "positions": len(positions)}
    for part, rows in shapes.items():
        check_matrix(part, model.get(part) or [], (rows, d_model), float)
    for part in _HEADS:
        check_matrix(part, model[part], (d_model, len(model[part][0])), float)


def _check_words(words: list[str]) -> None:
    odd = [word for word in words if _PIECE.findall(word.lower()) != [word]]
    if odd or len(set(words)) < len(words):
        raise StateError(
            "a model's words must differ and be in lower case, without spaces, got "
            f"{odd or 'a word twice'}"
        )


def _near(word: str, words: list[str]) -> list[str]:
    """Three words that share most letters at the start, then are as long."""

    def apart(other: str) -> tuple[int, int]:
        pairs = zip(word, other, strict=False)
        shared = list(takewhile(lambda pair: pair[0] == pair[1], pairs))
        return -len(shared), abs(len(other) - len(word))

    return sorted(words, key=apart)[:3]


def split(text: str, model: dict[str, Any]) -> list[str]:
    """Cut a text into the model's words, in lower case.

    A word is a run of letters, digits, `_`, `'` and `-`. Any other sign is a word of
    its own if the model knows it, and is left out if not.

    Raises:
        StateError: if a word is unknown, or there are too few or too many.
    """
    known = set(model["words"])
    found = _PIECE.findall(text.lower())
    words = [piece for piece in found if piece in known or re.match(r"[\w'’-]", piece)]
    unknown = [word for word in words if word not in known]
    if unknown:
        near = ", ".join(map(repr, _near(unknown[0], model["words"])))
        raise StateError(
            f"text must be made of the {len(known)} words of the model, got "
            f"{unknown[0]!r}; similar words: {near}"
        )
    most = min(MOST, len(model.get("positions") or range(MOST)))
    if not 2 <= len(words) <= most:
        raise StateError(f"text must have 2 to {most} words, got {len(words)}")
    return words
