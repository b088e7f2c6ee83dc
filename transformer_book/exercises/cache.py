"""Checks of the chapter on cache."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from transformer_book.exercises.exercise import Exercise, Solution, alike, gives, normal
from transformer_book.exercises.sandbox import NotYet
from transformer_lib import cache

KEYS, VALUES = normal(2, 3, 10, 4), normal(2, 3, 10, 4, seed=1)
FIRST_KEYS = KEYS[:, :, :5]


def _fed(cls: Solution, steps: Sequence[int] = (5, 5)) -> dict[str, Any]:
    """Return what a new cache holds after each update by so many tokens."""
    store, results, end = cls(2, 3, 12, 4), {}, 0
    for step in steps:
        new = slice(end, end + step)
        end += step
        kept = store.update(KEYS[:, :, new].clone(), VALUES[:, :, new].clone())
        if kept is None:
            raise NotYet
        # clones, as later updates may write there
        keys, values = (x.clone() for x in kept)
        results[f"after {end} tokens"] = {
            "length": store.length,
            "keys": keys,
            "values": values,
        }
    return results


def _after(cls: Solution, *steps: int) -> Any:
    """Return what a new cache holds in the end."""
    return list(_fed(cls, steps).values())[-1]


def _lent(cls: Solution) -> dict[str, Tensor]:
    """Return what a cache holds although the tensors it was given changed."""
    store, key, value = cls(2, 3, 12, 4), FIRST_KEYS.clone(), VALUES[:, :, :5].clone()
    store.update(key, value)
    for lent in (key, value):
        lent.zero_()
    keys, values = store.update(KEYS[:, :, 5:8], VALUES[:, :, 5:8])
    return {"keys": keys.clone(), "values": values.clone()}


LAYER = Exercise(
    "LayerCache",
    cache.LayerCache,
    {
        "2 sequences, 3 heads, width 4, capacity 12; 5 tokens, then 5 more": _fed,
        "5 tokens, whose tensors the caller then sets to 0, and 3 more": _lent,
    },
    {
        "unfilled memory was returned too: return only the first length "
        "tokens": lambda cls: _after(cls, 5)["keys"].shape[2] == 12,
        "keys and values are swapped": lambda cls: alike(
            _after(cls, 5)["keys"], VALUES[:, :, :5]
        ),
        "the values are lost: the keys were returned twice": lambda cls: alike(
            _after(cls, 5)["values"], FIRST_KEYS
        ),
        "only the last of 5 new tokens is kept: an update may "
        "contain several": lambda cls: alike(_after(cls, 5)["keys"], KEYS[:, :, 4:5]),
        "length stays 0: count the tokens, self.length += key.shape[2]": lambda cls: (
            _after(cls, 5)["length"] == 0
        ),
        "only the new keys and values were returned: return all so far": lambda cls: (
            alike(_after(cls, 5, 1)["keys"], KEYS[:, :, 5:6])
        ),
        "new tokens are added along the wrong axis: keys are (batch, n_kv_heads, "
        "seq, d_head), so the tokens are axis 2": lambda cls: (
            _after(cls, 1, 1)["keys"].shape not in ((2, 3, 1, 4), (2, 3, 2, 4))
        ),
        "new tokens come before the earlier ones: append them at the end": lambda cls: (
            alike(_after(cls, 5, 1)["keys"][:, :, 1:], FIRST_KEYS)
        ),
        "the earlier tokens are lost: write new ones starting at index "
        "self.length, not over the first ones": lambda cls: (
            not alike(_after(cls, 5, 1)["keys"][:, :, :5], FIRST_KEYS)
        ),
        "keys and values are right, but the length is not: count the tokens, "
        "self.length += key.shape[2]": lambda cls: _after(cls, 5)["length"] != 5,
        "the cache changed when the input tensors changed: store copies": gives(
            _fed, _fed(cache.LayerCache)
        ),
    },
)

EXERCISES = (LAYER,)
