"""Tokenizers as the tasks see them, and the smallest one: a token per character."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

SPECIAL = ("<pad>", "<start>", "<end>")
"""The special tokens of every task with texts."""


@runtime_checkable
class TextTokenizer(Protocol):
    """What a task asks of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; no special token comes out of plain text."""

    def decode(self, ids: list[int]) -> str:
        """Return the text of the ids."""

    def special(self, name: str) -> int:
        """Return the id of "<pad>", "<start>" or "<end>"."""


@dataclass(frozen=True)
class Characters:
    """A tokenizer with one token per character, behind the special tokens.

    Ids 0, 1, 2 are "<pad>", "<start>", "<end>"; the alphabet follows in order.

    Raises:
        ValueError: if a character occurs twice in the alphabet.
    """

    alphabet: str
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ids = {c: i for i, c in enumerate(self.alphabet, start=len(SPECIAL))}
        if len(ids) < len(self.alphabet):
            raise ValueError(
                "each character must occur once in the alphabet, got "
                f"{self.alphabet!r}; remove the repeated ones"
            )
        object.__setattr__(self, "_ids", ids)

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Characters":
        """Take as alphabet all characters of the texts, sorted."""
        return cls("".join(sorted(set().union(*texts))))

    @property
    def vocab_size(self) -> int:
        """How many ids there are, with the special ones."""
        return len(SPECIAL) + len(self.alphabet)

    def encode(self, text: str) -> list[int]:
        """Return one id per character.

        Raises:
            ValueError: if a character is not in the alphabet.
        """
        strange = sorted(set(text) - set(self._ids))
        if strange:
            raise ValueError(
                f"the text must be written in the alphabet, got {strange}; "
                "build it of all texts: Characters.of(texts)"
            )
        return [self._ids[character] for character in text]

    def decode(self, ids: list[int]) -> str:
        """Return the characters; special tokens read as their names.

        Raises:
            ValueError: if an id is none of the vocabulary.
        """
        unknown = sorted({i for i in ids if not 0 <= i < self.vocab_size})
        if unknown:
            raise ValueError(
                f"ids must lie between 0 and {self.vocab_size - 1}, got {unknown}"
            )
        symbols = (*SPECIAL, *self.alphabet)
        return "".join(symbols[i] for i in ids)

    def special(self, name: str) -> int:
        """Return the id of a special token.

        Raises:
            ValueError: if there is no such token.
        """
        if name not in SPECIAL:
            raise ValueError(f"special tokens are {SPECIAL}, got {name!r}")
        return SPECIAL.index(name)
