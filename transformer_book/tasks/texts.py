"""Texts: Python's own manual, which needs no network, and windows of any text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_book.tasks.batches import count_batches
from transformer_book.tasks.characters import TextTokenizer

TOPICS = """assert attribute-references bitwise bltin-code-objects
bltin-ellipsis-object bltin-null-object bltin-type-objects booleans break
callable-types calls comparisons context-managers continue del dynamic-features else
exceptions for global id-classes if import in integers lambda operator-summary pass
return slicings truth typesfunctions typesmodules unary while with yield""".split()
"""Topics of the manual that read the same in Python 3.11, 3.12 and 3.13."""


def manual_text(topics: list[str] | None = None) -> str:
    """Return topics of Python's own manual (`pydoc_data`) as one line of English.

    Runs of white space become one space. The default topics, 63 thousand
    characters, are the same text in Python 3.11 to 3.13.

    Raises:
        ValueError: if the manual has no such topic.
    """
    from pydoc_data.topics import topics as manual

    wanted = TOPICS if topics is None else topics
    unknown = sorted(set(wanted) - set(manual))
    if unknown:
        raise ValueError(
            f"topics must be in Python's manual, got {unknown}; "
            "see sorted(pydoc_data.topics.topics)"
        )
    return " ".join(re.sub(r"\s+", " ", manual[topic]).strip() for topic in wanted)


def split_text(text: str) -> tuple[str, str]:
    """Cut off the last tenth, for validation: the rest is for training.

    One cut in one place, and not topics here and there: the manual says some things
    twice ("if" and "else" are the same page), so a page kept back may be known.

    Raises:
        ValueError: if the text is too short to cut.
    """
    cut = len(text) - len(text) // 10
    if cut == len(text):
        raise ValueError(f"a text to split has 10 characters or more, got {text!r}")
    return text[:cut], text[cut:]


@dataclass(frozen=True, eq=False)
class Corpus:
    """A text as ids, and its size in bytes of UTF-8.

    Losses per token depend on the tokenizer, bits per byte do not. The first token
    is given and not predicted, but its bytes are counted.
    """

    tokens: Int[Tensor, " length"]
    n_bytes: int

    @classmethod
    def of(cls, text: str, tokenizer: TextTokenizer) -> "Corpus":
        """Encode a text."""
        tokens = torch.tensor(tokenizer.encode(text), dtype=torch.int64)
        return cls(tokens, len(text.encode()))

    def batches(
        self,
        length: int,
        *,
        batch_size: int,
        generator: torch.Generator,
        steps: int | None = None,
    ) -> Iterator[Int[Tensor, "batch length"]]:
        """Draw windows of ``length`` tokens, for training: each may start anywhere.

        Raises:
            ValueError: if no window fits.
        """
        n_starts = self._count_starts(length)

        def draw() -> Tensor:
            starts = torch.randint(n_starts, (batch_size, 1), generator=generator)
            return self.tokens[starts + torch.arange(length)]

        return (draw() for _ in count_batches(steps, batch_size))

    def sweep(
        self, length: int, *, batch_size: int
    ) -> Iterator[Int[Tensor, "batch length"]]:
        """Read from end to end, for validation: every token but the first is predicted.

        Each window begins with the last token of the window before it, which was
        predicted there. What is left at the end comes as one shorter window.

        Raises:
            ValueError: if no window fits.
        """
        self._count_starts(length)
        windows = self.tokens.unfold(0, length, length - 1)
        rest = self.tokens[len(windows) * (length - 1) :]
        shorter = [rest[None]] if len(rest) > 1 else []
        return iter((*windows.split(batch_size), *shorter))

    def _count_starts(self, length: int) -> int:
        """Refuse windows in which nothing is predicted, or that do not fit."""
        if not 2 <= length <= len(self.tokens):
            raise ValueError(
                "a window holds at least 2 tokens (one to predict) and at most all "
                f"{len(self.tokens)}, got {length}"
            )
        return len(self.tokens) - length + 1
