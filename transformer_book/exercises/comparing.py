"""Comparing a result with the right one: what differs first, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

NEAR = 1e-5
"""Roundings of float32 in another order stay well below."""


class Formal(str):
    """A difference that says itself what is wrong, such as a dtype."""


def difference(got: Any, want: Any) -> str | None:
    """Return what differs, or None."""
    if isinstance(want, Tensor):
        return _of_tensors(got, want)
    if isinstance(got, Tensor) and got.ndim == 0:
        got = got.item()
    for kind, compare in _KINDS:
        if isinstance(want, kind):
            return compare(got, want)
    same = got == want  # anything, where it is the learner's own
    return None if isinstance(same, bool) and same else _unequal(got, want)


def _of_tensors(got: Any, want: Tensor) -> str | None:
    if not isinstance(got, Tensor):
        kind = f"{type(got).__module__}.{type(got).__qualname__}"
        return Formal(
            f"it is a {kind}, expected a torch.Tensor of shape {tuple(want.shape)}"
        )
    if got.is_floating_point() and want.dtype == torch.float64:
        want = want.to(got.dtype)  # more than asked for
    if got.shape != want.shape:
        return f"the shape is {tuple(got.shape)}, expected {tuple(want.shape)}"
    for what in ("device", "dtype"):
        mine, right = getattr(got, what), getattr(want, what)
        if mine != right:
            return Formal(f"the {what} is {mine}, expected {right}")
    return _of_numbers(got.detach(), want.detach())


def _of_numbers(got: Tensor, want: Tensor) -> str | None:
    """Return the place where two tensors of one form differ most."""
    wide, right = (x.double() for x in (got, want))
    gap = (wide - right).abs().nan_to_num(torch.inf)
    gap = gap.masked_fill((wide == right) | (wide.isnan() & right.isnan()), 0.0)
    far = gap > NEAR * (1 + right.abs().nan_to_num(0.0, 0.0, 0.0))
    if not far.any():
        return None
    place = [int(i) for i in torch.unravel_index(gap.argmax(), gap.shape)]
    values = f"{_number(got, place)}, expected {_number(want, place)}"
    if got.ndim == 0:
        return f"it is {values}"
    return f"at {place} it is {values}; {far.double().mean():.0%} of the numbers differ"


def _of_mappings(got: Any, want: Mapping[Any, Any]) -> str | None:
    if not isinstance(got, Mapping):
        return _unequal(got, want)
    missing = sorted(want.keys() - got.keys(), key=repr)
    extra = sorted(got.keys() - want.keys(), key=repr)
    if missing or extra:
        return f"missing keys: {_short(missing)}; unexpected keys: {_short(extra)}"
    return _of_parts(got, want, want)


def _of_sequences(got: Any, want: Sequence[Any]) -> str | None:
    if not isinstance(got, list | tuple) or len(got) != len(want):
        return _unequal(got, want)
    return _of_parts(got, want, range(len(want)))


def _of_parts(got: Any, want: Any, places: Any) -> str | None:
    for place in places:
        found = difference(got[place], want[place])
        if found:
            return type(found)(f"part {place!r}: {found}")
    return None


def _of_floats(got: Any, want: float) -> str | None:
    near = isinstance(got, float | int) and (
        got == want or abs(got - want) <= NEAR * (1 + abs(want))
    )
    return None if near else _unequal(got, want)


_KINDS: tuple[tuple[Any, Any], ...] = (
    (Mapping, _of_mappings),
    (list | tuple, _of_sequences),
    (float, _of_floats),
)


def _unequal(got: Any, want: Any) -> str:
    return f"it is {_short(got)}, expected {_short(want)}"


def _number(x: Tensor, place: list[int]) -> str:
    value = x[tuple(place)].item()
    return str(value) if isinstance(value, bool | int) else f"{value:.4f}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 70 else f"{text[:60]} ..."
