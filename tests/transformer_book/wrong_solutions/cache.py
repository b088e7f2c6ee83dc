"""The cache, as learners write it."""

import torch
from torch import Tensor

from wrong_solutions.cases import Cases, Wrong


def memory(start=lambda length: length, give=lambda kept, end: kept[:, :, :end]):
    """Return `LayerCache` with memory set aside, with one thing to get wrong."""

    class Solution:
        def __init__(self, batch, n_kv_heads, max_len, d_head):
            self.key, self.value = torch.zeros(2, batch, n_kv_heads, max_len, d_head)
            self.length = 0

        def update(self, key, value):
            first, new = start(self.length), key.shape[2]
            self.key[:, :, first : first + new] = key
            self.value[:, :, first : first + new] = value
            self.length += new
            return give(self.key, self.length), give(self.value, self.length)

    return Solution


def append(old, new):
    return torch.cat((old, new), dim=2)


def along(axis):
    """Join on another axis what is not the first."""
    return lambda old, new: torch.cat((old, new), dim=axis) if old.numel() else new


def joined(join=append, count=lambda length, key: length + key.shape[2]):
    """Return `LayerCache` by concatenation, with one thing to get wrong."""

    class Solution:
        def __init__(self, batch, n_kv_heads, max_len, d_head):
            self.key, self.value = torch.empty(2, batch, n_kv_heads, 0, d_head)
            self.length = 0

        def update(self, key, value):
            self.key, self.value = join(self.key, key), join(self.value, value)
            self.length = count(self.length, key)
            return self.key, self.value

    return Solution


class NeverMovesOn(memory()):
    def update(self, key, value):
        self.length = 0
        kept = super().update(key, value)
        self.length = 0
        return kept


class Exchanged(memory()):
    def update(self, key, value):
        return super().update(key, value)[::-1]


class KeysTwice(memory()):
    def update(self, key, value):
        return super().update(key, key)


class Pieces:
    """Keeps what it is given, piece by piece; right if it keeps copies."""

    copy = staticmethod(torch.clone)

    def __init__(self, batch, n_kv_heads, max_len, d_head):
        self.pieces, self.length = [], 0

    def update(self, key, value):
        self.pieces.append((self.copy(key), self.copy(value)))
        self.length += key.shape[2]
        keys, values = zip(*self.pieces, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


class Views(Pieces):
    copy = staticmethod(lambda tensor: tensor)


class Shared(Pieces):
    """All caches keep their tokens in one list."""

    pieces: list[tuple[Tensor, Tensor]] = []  # noqa: RUF012

    def __init__(self, batch, n_kv_heads, max_len, d_head):
        self.length = 0


LOST = "the earlier tokens are lost"

WRONG_SOLUTIONS = {
    "LayerCache": Cases(
        wrong={
            "overwrites from the start": Wrong(memory(lambda length: 0), LOST),
            "never moves on": Wrong(NeverMovesOn, "length stays 0"),
            "only the new ones": Wrong(joined(lambda old, new: new), "only the new"),
            "the whole memory": Wrong(
                memory(give=lambda kept, end: kept), "not filled yet"
            ),
            "keys and values exchanged": Wrong(Exchanged, "are exchanged"),
            "the keys twice": Wrong(KeysTwice, "the values are lost"),
            "length not counted": Wrong(
                joined(count=lambda length, key: 0), "length stays 0"
            ),
            "calls counted": Wrong(
                joined(count=lambda length, key: length + 1), "count the tokens"
            ),
            "only the last of the new": Wrong(
                joined(lambda old, new: append(old, new[:, :, -1:])),
                "an update may bring several",
            ),
            "only the last of the old": Wrong(
                joined(lambda old, new: append(old[:, :, -1:], new)), LOST
            ),
            "along the heads": Wrong(joined(along(1)), "wrong axis"),
            "along the width": Wrong(joined(along(-1)), "wrong axis"),
            "in front": Wrong(joined(lambda old, new: append(new, old)), "before"),
            "views of the caller's tensors": Wrong(Views, "keep copies"),
            "one list for all caches": Wrong(Shared, "kept from call to call"),
        },
        right={
            "memory set aside": memory(),
            "by concatenation": joined(),
            "piece by piece": Pieces,
        },
    ),
}
