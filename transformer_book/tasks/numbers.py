"""Number words: translation between any two languages that `num2words` speaks."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

Part = Literal["training", "held out", "unseen"]


def number_words(number: int, language: str = "en") -> str:
    """Spell a number out: 21 is "twenty-one" in "en", "einundzwanzig" in "de".

    Raises:
        ValueError: if `num2words` does not speak the language, or not so far.
    """
    from num2words import CONVERTER_CLASSES

    if language not in CONVERTER_CLASSES:
        raise ValueError(
            f"language must be one of {sorted(CONVERTER_CLASSES)}, got {language!r}"
        )
    return _spell(number, language)


@lru_cache(maxsize=2**17)
def _spell(number: int, language: str) -> str:
    """Remember: to spell takes a tenth of a millisecond, as long as a small batch."""
    from num2words import num2words

    try:
        return str(num2words(number, lang=language))
    except (TypeError, OverflowError) as error:
        raise ValueError(
            f"num2words must be able to spell the number, got {number} in "
            f"{language!r}: {error}; take smaller numbers or another language"
        ) from error


def number_pairs(
    numbers: range | list[int], *, source: str = "en", target: str = "de"
) -> list[tuple[str, str]]:
    """Spell each number in two languages: [("twenty-one", "einundzwanzig"), ...].

    Raises:
        ValueError: if `num2words` does not speak a language.
    """
    return [(number_words(n, source), number_words(n, target)) for n in numbers]


@dataclass(frozen=True, kw_only=True)
class NumberSplit:
    """The numbers below ``limit`` in three parts that never overlap.

    "unseen" is one whole range. Of the others, one in ``every`` is "held out", by a
    fixed hash. What is left is for "training", and so are all numbers below 100:
    they contain the words of which the others are made ("zero" is in no other).

    Raises:
        ValueError: if "unseen" is empty or reaches out of bounds.
    """

    limit: int = 1_000_000
    every: int = 10
    unseen: range = range(700_000, 710_000)

    def __post_init__(self) -> None:
        if self.every < 2:
            raise ValueError(
                f"every must be at least 2 (each second number), got {self.every}"
            )
        inside = self.unseen and min(self.unseen) >= 100
        if not inside or max(self.unseen) >= self.limit:
            raise ValueError(
                "unseen must hold numbers from 100 to below the limit, got "
                f"{self.unseen} and limit {self.limit}"
            )

    def members(self, part: Part) -> Int[Tensor, " count"]:
        """Return all numbers of a part, the smallest first.

        Raises:
            ValueError: if there is no such part.
        """
        numbers = torch.arange(self.limit)
        unseen = torch.isin(numbers, torch.tensor(self.unseen))
        # Knuth, volume 3, section 6.4: multiples of the golden ratio, modulo 1, fall
        # evenly, so every range of numbers gives its share
        share = numbers * 2_654_435_761 % 2**32
        held_out = (numbers >= 100) & (share * self.every < 2**32) & ~unseen
        parts = {
            "training": ~unseen & ~held_out,
            "held out": held_out,
            "unseen": unseen,
        }
        if part not in parts:
            raise ValueError(f"part must be one of {sorted(parts)}, got {part!r}")
        return numbers[parts[part]]

    def draw(self, part: Part, count: int, generator: torch.Generator) -> list[int]:
        """Draw numbers of a part, long and short ones; some come more than once.

        Half of the draws are even over the whole part, where nearly all numbers are
        long. The others are even over what is below 10, 100, 1000 ..., each of these
        bounds equally often, as far as the part has numbers there.

        Raises:
            ValueError: if count is below 1, or the part is empty or unknown.
        """
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        members = self.members(part)
        if not len(members):
            raise ValueError(f"no number is {part!r}, got {self}; take a larger limit")
        bounds = torch.tensor([10**d for d in range(1, len(str(self.limit - 1)))])
        below = torch.searchsorted(members, bounds)
        below = below[below > 0]
        whole = torch.full((max(1, len(below)),), len(members))
        sizes = torch.cat([below, whole])
        chosen = sizes[torch.randint(len(sizes), (count,), generator=generator)]
        return members[
            torch.randint(2**62, (count,), generator=generator) % chosen
        ].tolist()
