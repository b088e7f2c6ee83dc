"""What a check is made of: experiments that must agree, and symptoms that explain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.comparing import difference

Solution = Callable[..., Any]
"""The learner's function or class; it is called as the library's own one is."""

Run = Callable[[Solution], Any]
"""Does something with a solution and returns what came out."""

Test = Callable[[Solution], bool]
"""Says whether a mistake shows in a solution."""


@dataclass(frozen=True)
class Exercise:
    """One check: a solution is right if every experiment agrees with the library.

    An experiment's title says on what, in shapes and numbers: the smallest come first.
    A symptom is what a usual mistake looks like, by the words that name the mistake.
    Symptoms decide nothing. After a failure, the first that shows explains it.
    """

    name: str
    library: Solution
    experiments: Mapping[str, Run]
    symptoms: Mapping[str, Test]


def alike(got: Any, want: Any) -> bool:
    """Say whether two results agree."""
    return difference(got, want) is None


def gives(run: Run, *wrong: Any) -> Test:
    """Make a symptom's test: one of these results comes out."""
    return lambda solution: any(alike(run(solution), result) for result in wrong)


def acts_like(run: Run, *wrong: Solution) -> Test:
    """Make a symptom's test: the solution does what one of these wrong ones does."""
    return lambda solution: any(alike(run(solution), run(other)) for other in wrong)


def otherwise(solution: Solution) -> bool:
    """Show always: the last symptom, for whatever no other one explains."""
    return True


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Draw numbers to try solutions on: the same on every machine."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def places(length: int, start: int = 0) -> Tensor:
    """Return positions from ``start`` on."""
    return torch.arange(start, start + length)
