"""Exercises that check themselves: ``check("attention")(my_function)``."""

import copy
import difflib
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_lib import attention, masks, positions

Solution = Callable[..., Any]
Probe = tuple[str, Callable[[Solution], bool]]
"""What to say if it fails, and a test that is true of every right solution."""


@dataclass(frozen=True)
class CheckResult:
    """True on a pass; the message says what differs and why it probably does."""

    passed: bool
    message: str
    solution: Solution

    def __bool__(self) -> bool:
        return self.passed

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the checked function, so that ``@check(...)`` leaves it usable."""
        return self.solution(*args, **kwargs)

    def __repr__(self) -> str:
        return self.message


def check(name: str) -> Callable[[Solution], CheckResult]:
    """Return the judge of a library function; it takes yours and says what it found.

    The judge never raises: an exception of the solution is part of the message.

    Raises:
        ValueError: if there is no such check.
    """
    if name not in PROBES:
        near = difflib.get_close_matches(name, PROBES, n=3) or sorted(PROBES)
        raise ValueError(f"there is no check {name!r}; did you mean {near}?")

    def judge(solution: Solution) -> CheckResult:
        for complaint, holds in PROBES[name]:
            problem = _find(complaint, holds, solution)
            if problem:
                return CheckResult(False, f"{name}: {problem}", solution)
        return CheckResult(True, f"{name}: right ✓", solution)

    return judge


class _NotYet(Exception):
    """The solution returned nothing: the exercise is untouched."""


def _find(
    complaint: str, holds: Callable[[Solution], bool], solution: Solution
) -> str | None:
    """Run one probe and put what went wrong into words."""

    def guarded(*args: Any, **kwargs: Any) -> Tensor:
        # copies: a solution may change its arguments in place
        result = solution(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        if result is None or result is ...:
            raise _NotYet
        return torch.as_tensor(result)

    try:
        return None if holds(guarded) else complaint
    except _NotYet:
        return "not yet: the function returns nothing"
    except Exception:  # a learner's function may raise anything
        return f"✗ your function raised an exception\n{traceback.format_exc(limit=-2)}"


def _same(got: Tensor, want: Tensor) -> bool:
    """Return whether shape and values agree, to rounding."""
    return got.shape == want.shape and torch.allclose(
        got.double(), want.double(), atol=1e-5
    )


def _normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


_P = torch.arange(7)
_Q, _K, _V = _normal(3, 4), _normal(5, 4).flip(0), _normal(5, 6)
_MASK = torch.tensor([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]]).bool()

_WEIGHTS: list[Probe] = [
    (
        "✗ the shape is not (queries, keys) = (3, 5): is it Q @ K.mT?",
        lambda f: f(_Q, _K).shape == (3, 5),
    ),
    (
        "✗ rows do not sum to 1: is the softmax over the keys, dim=-1?",
        lambda f: _same(f(_Q, _K).sum(-1), torch.ones(3)),
    ),
    (
        "✗ the weights differ: are the scores divided by the root of the key width, "
        "sqrt(query.shape[-1])?",
        lambda f: _same(f(_Q, _K), attention.attention_weights(_Q, _K)),
    ),
]

PROBES: dict[str, list[Probe]] = {
    "sinusoid": [
        (
            "✗ the shape is not (positions, d_model) = (7, 6)",
            lambda f: f(_P, 6).shape == (7, 6),
        ),
        (
            "✗ position 0 must read 0, 1, 0, 1, ...: sines in the even columns, "
            "cosines in the odd ones",
            lambda f: _same(f(_P, 6)[0], torch.tensor([0.0, 1.0] * 3)),
        ),
        (
            "✗ the first pair must turn by one radian per position",
            lambda f: _same(f(_P, 6)[:, 0], _P.float().sin()),
        ),
        (
            "✗ later pairs turn at the wrong speed: pair i turns by "
            "10000 ** (-2 * i / d_model)",
            lambda f: _same(f(_P, 6), positions.sinusoid(_P, 6)),
        ),
    ],
    "rotate": [
        (
            "✗ the length of a vector changed: a rotation keeps it",
            lambda f: _same(
                f(_normal(7, 6), _P).norm(dim=-1), _normal(7, 6).norm(dim=-1)
            ),
        ),
        (
            "✗ position 0 must leave a vector as it is",
            lambda f: _same(f(_normal(7, 6), _P)[0], _normal(7, 6)[0]),
        ),
        (
            "✗ the vectors are turned by other angles or in other pairs than "
            "(i, i + d_head / 2): where does each minus sign go?",
            lambda f: _same(f(_normal(7, 6), _P), positions.rotate(_normal(7, 6), _P)),
        ),
    ],
    "alibi_slopes": [
        (
            "✗ with 8 heads the slopes must be 1/2, 1/4, ..., 1/256",
            lambda f: _same(f(8), positions.alibi_slopes(8)),
        ),
        (
            "✗ right for 8 heads but not for 4: the exponent is -8 h / n_heads",
            lambda f: _same(f(4), positions.alibi_slopes(4)),
        ),
    ],
    "attention_weights": _WEIGHTS,
    "attention": [
        (
            "✗ the shape is not (queries, value width) = (3, 6): weights @ V?",
            lambda f: f(_Q, _K, _V).shape == (3, 6),
        ),
        (
            "✗ equal values must come back as they are: do the weights sum to 1 over "
            "the keys, dim=-1?",
            lambda f: _same(f(_Q, _K, torch.ones(5, 6)), torch.ones(3, 6)),
        ),
        (
            "✗ the averages differ: are the scores divided by sqrt(query.shape[-1])?",
            lambda f: _same(f(_Q, _K, _V), attention.attention(_Q, _K, _V)),
        ),
        (
            "✗ the mask is not obeyed: True = may look, and a score that may not be "
            "looked at becomes -inf before the softmax",
            lambda f: _same(
                f(_Q, _K, _V, _MASK), attention.attention(_Q, _K, _V, _MASK)
            ),
        ),
    ],
    "causal_mask": [
        (
            "✗ a token must be allowed to look at itself",
            lambda f: bool(f(_P, _P).diagonal().all()),
        ),
        (
            "✗ the future leaks, or the past is blocked: True where the query's "
            "position is at or after the key's",
            lambda f: _same(f(_P, _P), masks.causal_mask(_P, _P)),
        ),
    ],
}
