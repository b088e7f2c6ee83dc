"""Splitting and merging of heads, as learners write them."""

import torch

from wrong_solutions.kinds import Bank, Wrong


def split_by_loops(x, n_heads):
    width = x.shape[-1] // n_heads
    pieces = [x[..., h * width : (h + 1) * width] for h in range(n_heads)]
    return torch.stack(pieces, dim=-3)


def split_by_permuting(x, n_heads):
    batch, seq, d_model = x.shape
    pieces = x.reshape(batch, seq, n_heads, d_model // n_heads)
    return pieces.permute(0, 2, 1, 3)


def cut_at_once(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, n_heads, seq, d_model // n_heads)


def not_moved(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, seq, n_heads, d_model // n_heads)


def every_third(x, n_heads):
    batch, seq, d_model = x.shape
    return x.view(batch, seq, d_model // n_heads, n_heads).permute(0, 3, 1, 2)


def width_of_a_head(x, n_heads):
    """Take n_heads for d_head."""
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


def transposed_before(x, n_heads):
    batch, seq, d_model = x.shape
    return x.transpose(1, 2).reshape(batch, n_heads, seq, d_model // n_heads)


def pieces_in_front(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


def for_keys(x, n_heads):
    return split_by_permuting(x, n_heads).transpose(-1, -2)


def not_moved_back(x):
    batch, n_heads, seq, d_head = x.shape
    return x.reshape(batch, seq, n_heads * d_head)


def view_of_transposed(x):
    batch, n_heads, seq, d_head = x.shape
    return x.transpose(1, 2).view(batch, seq, n_heads * d_head)


def numbers_in_turn(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def merge_by_loops(x):
    return torch.stack([torch.cat(list(heads), dim=-1) for heads in x])


PLACES, TOGETHER = "must change places", "got into"
STACKED, SIDE = "the shape must be (batch, n_heads", "must stand side by side"

BANKS = {
    "split_heads": Bank(
        wrong={
            "view with the axes in the wrong order": Wrong(cut_at_once, TOGETHER),
            "transposed before the cut": Wrong(transposed_before, TOGETHER),
            "heads and tokens not swapped": Wrong(not_moved, PLACES),
            "every third number": Wrong(every_third, "consecutive numbers"),
            "heads from the last to the first": Wrong(
                lambda x, n: split_by_loops(x, n).flip(1), "head 0 the first"
            ),
            "number of heads as their width": Wrong(width_of_a_head, "not their width"),
            "heads before the batch": Wrong(pieces_in_front, STACKED),
            "turned like keys": Wrong(for_keys, STACKED),
            "the whole vector for each head": Wrong(
                lambda x, n: x[:, None].expand(-1, n, -1, -1), STACKED
            ),
            "a tuple of heads": Wrong(
                lambda x, n: x.chunk(n, dim=-1), "it is a builtins.tuple"
            ),
        },
        right={
            "by loops": split_by_loops,
            "by permuting": split_by_permuting,
        },
    ),
    "merge_heads": Bank(
        wrong={
            "not swapped back": Wrong(not_moved_back, TOGETHER),
            "the wrong axes swapped": Wrong(
                lambda x: x.transpose(2, 3).reshape(2, 5, 12), TOGETHER
            ),
            "only swapped": Wrong(lambda x: x.transpose(1, 2), "(batch, seq, n_heads"),
            "head by head": Wrong(
                lambda x: torch.cat(list(x.unbind(1)), dim=1), "(batch, seq, n_heads"
            ),
            "tokens side by side": Wrong(
                lambda x: x.flatten(2), "(batch, seq, n_heads"
            ),
            "view of what is not contiguous": Wrong(view_of_transposed, "reshape(...)"),
            "numbers in turn": Wrong(numbers_in_turn, SIDE),
            "heads from the last to the first": Wrong(
                lambda x: merge_by_loops(x.flip(1)), SIDE
            ),
            "heads added": Wrong(lambda x: x.sum(1), "added up"),
            "heads averaged": Wrong(lambda x: x.mean(dim=1), "added up"),
        },
        right={
            "by loops": merge_by_loops,
            "made contiguous": lambda x: (
                x.permute(0, 2, 1, 3).contiguous().view(2, 5, -1)
            ),
            "by einsum": lambda x: torch.einsum("bhsd->bshd", x).flatten(2),
        },
    ),
}
