"""The words and matrices of a small model that a page reads texts with."""

import re
from typing import Any

import traitlets

from transformer_book.figures.schema import limits_of
from transformer_book.figures.state import StateError, as_lists

_LIMITS = limits_of("attention_stepper")
_MOST = _LIMITS["tokens"]["length"][1]
_WORD = _LIMITS["text"]["word"]
_PIECE = re.compile(rf"{_WORD}|\S")


class WordModel(traitlets.Dict):
    """A dict of words and matrices; tensors and arrays in it are unpacked."""

    def validate(self, obj: Any, value: Any) -> Any:
        """Unpack what has `tolist`, then ask what every dict is asked."""
        if isinstance(value, dict):
            value = {name: as_lists(part) for name, part in value.items()}
        return super().validate(obj, value)


def check_words(words: list[str]) -> None:
    """Raise unless a text, which is read in lower case, can hold each of the words."""
    if odd := [word for word in words if _PIECE.findall(word.lower()) != [word]]:
        raise StateError(
            f"a model's words must be in lower case, without spaces, got {odd}"
        )


def split(text: str, model: dict[str, Any]) -> list[str]:
    """Cut a text into the model's words, in lower case.

    A word is a run of anything but spaces and signs. A sign, such as a comma, is a word
    of its own if the model knows it, and is left out if not.

    Raises:
        StateError: if a word is unknown, or there are too few or too many.
    """
    known = set(model["words"])
    found = _PIECE.findall(text.lower())
    words = [piece for piece in found if piece in known or re.match(_WORD, piece)]
    for word in words:
        if word not in known:
            raise StateError(
                f"text must be made of the {len(known)} words of the model, got "
                f"{word!r}"
            )
    most = min(_MOST, len(model.get("positions") or range(_MOST)))
    if not 2 <= len(words) <= most:
        raise StateError(f"text must have 2 to {most} words, got {len(words)}")
    return words
