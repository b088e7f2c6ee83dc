"""Texts: pages of Python's manual, which need no network, and windows of any text."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_book.tasks.batches import count_batches
from transformer_book.tasks.characters import TextTokenizer

MANUAL = Path(__file__).with_name("manual") / "topics.json"
TOPICS = """assert attribute-references bitwise bltin-code-objects
bltin-ellipsis-object bltin-null-object bltin-type-objects booleans break
callable-types calls comparisons context-managers continue del dynamic-features else
exceptions for global id-classes if import in integers lambda operator-summary pass
return slicings truth typesfunctions typesmodules unary while with yield""".split()
"""Topics of the manual that the chapters read: 63 thousand characters."""


@cache
def manual_topics() -> Mapping[str, str]:
    """Return all pages of the manual that come with Python, by topic, one line each.

    They are those of Python 3.11.7 (`pydoc_data.topics`), kept with the book because
    each release of Python rewords them: numbers counted from them would differ. Runs of
    white space are one space; `manual/LICENSE.txt` holds their license.
    """
    return MappingProxyType(json.loads(MANUAL.read_text(encoding="utf-8")))


def manual_text(topics: Iterable[str] = TOPICS) -> str:
    """Return topics of Python's manual as one line of English.

    Raises:
        ValueError: if the manual has no such topic.
    """
    manual, wanted = manual_topics(), list(topics)
    unknown = sorted(set(wanted) - set(manual))
    if unknown:
        raise ValueError(
            f"topics must be in Python's manual, got {unknown}; "
            "see sorted(manual_topics())"
        )
    return " ".join(manual[topic] for topic in wanted)


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
