"""The cache, as learners write it."""

import torch

from wrong_solutions.cases import Cases, edited


class LayerCache:
    def __init__(self, batch, n_kv_heads, max_len, d_head):
        self.kept = torch.empty(2, batch, n_kv_heads, 0, d_head)
        self.length = 0

    def update(self, key, value):
        old, new = self.kept, torch.stack((key, value))
        self.kept = torch.cat((old, new), dim=-2)
        self.length += key.shape[2]
        return tuple(self.kept)


class SetAside:
    """Memory for all tokens from the beginning."""

    def __init__(self, batch, n_kv_heads, max_len, d_head):
        self.kept = torch.zeros(2, batch, n_kv_heads, max_len, d_head)
        self.length = 0

    def update(self, key, value):
        start, new = self.length, key.shape[2]
        self.kept[..., start : start + new, :] = torch.stack((key, value))
        self.length += new
        return tuple(self.kept[..., : self.length, :])


class Pieces:
    """Keep what comes, piece by piece."""

    def __init__(self, batch, n_kv_heads, max_len, d_head):
        self.pieces, self.length = [], 0

    def update(self, key, value):
        self.pieces.append((key.clone(), value.clone()))
        self.length += key.shape[2]
        keys, values = zip(*self.pieces, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)


ONE_LIST = {"d_head):": "d_head, pieces=[]):", "[], 0": "pieces, 0"}
LOST, STAYS = "the earlier tokens are lost", "length stays 0"
JOINED = "torch.cat((old, new), dim=-2)"

LAYER = Cases(
    LayerCache,
    right=[SetAside, Pieces],
    wrong=[
        (edited(SetAside, {"start, new = self.length": "start, new = 0"}), LOST),
        (edited(SetAside, {"self.length += new": ""}), STAYS),
        ({JOINED: "new"}, "only the new"),
        (edited(SetAside, {"[..., : self.length, :]": ""}), "unfilled memory"),
        ({"(key, value))": "(value, key))"}, "are swapped"),
        ({"(key, value))": "(key, key))"}, "the values are lost"),
        ({"self.length += key.shape[2]": ""}, STAYS),
        ({"key.shape[2]": "1"}, "count the tokens"),
        ({"(old, new)": "(old, new[..., -1:, :])"}, "an update may contain several"),
        ({"(old, new)": "(old[..., -1:, :], new)"}, LOST),
        ({JOINED: "torch.cat((old, new), -3) if self.length else new"}, "wrong axis"),
        ({JOINED: "torch.cat((old, new), -1) if self.length else new"}, "wrong axis"),
        ({"(old, new)": "(new, old)"}, "before"),
        (edited(Pieces, {"key.clone(), value.clone()": "key, value"}), "store copies"),
        (edited(Pieces, ONE_LIST), "state kept between calls"),
    ],
)
