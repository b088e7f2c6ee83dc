"""Masks, as learners write them."""

import torch

from transformer_lib.masks import causal_mask
from wrong_solutions.cases import Cases, Wrong


def causal_by_loops(query_positions, key_positions):
    rows = [[bool(k <= q) for k in key_positions] for q in query_positions]
    return torch.tensor(rows)


def triangle(query_positions, key_positions):
    """Look at the places in the tensor, not at the positions."""
    return torch.ones(len(query_positions), len(key_positions)).tril().bool()


def window(near):
    """Return `sliding_window_mask` by a rule for distances."""
    return lambda q, k, w: near(q[:, None] - k, w)


def window_by_places(query_positions, key_positions, width):
    ones = torch.ones(len(query_positions), len(key_positions))
    return ones.triu(1 - width).tril(width - 1).bool()


def window_by_loops(query_positions, key_positions, width):
    mask = torch.zeros(len(query_positions), len(key_positions), dtype=torch.bool)
    for row, position in zip(mask, query_positions.tolist(), strict=True):
        for column, other in enumerate(key_positions.tolist()):
            row[column] = other in range(position - width + 1, position + width)
    return mask


def prefix(rule):
    """Return `prefix_mask` by a rule for queries (a column) and keys (a row)."""
    return lambda q, k, n: rule(q[:, None], k[None], n)


def prefix_by_places(query_positions, key_positions, length):
    mask = triangle(query_positions, key_positions)
    mask[:, :length] = True
    return mask


def prefix_by_writing(query_positions, key_positions, length):
    mask = causal_mask(query_positions, key_positions)
    mask[:, key_positions < length] = True
    return mask


TURNED, SHAPE = "turned round: True", "must be (queries, keys)"
PLACES, FUTURE = "not their places", "the future behind the prefix leaks"


def padding(rule=torch.lt, form=lambda mask: mask[:, None, :], end=lambda n, m: m):
    """Return `padding_mask` as a learner writes it, with one thing to get wrong."""

    def solution(lengths, max_len):
        keys = torch.arange(end(lengths, max_len))
        return form(rule(keys, lengths[:, None]))

    return solution


def both_sides(mask):
    return mask[:, :, None] & mask[:, None, :]


def padding_by_lists(lengths, max_len):
    rows = [[[True] * n + [False] * (max_len - n)] for n in lengths.tolist()]
    return torch.tensor(rows)


def padding_by_writing(lengths, max_len):
    mask = torch.zeros(len(lengths), 1, max_len, dtype=torch.bool)
    for row, length in zip(mask, lengths, strict=True):
        row[0, :length] = True
    return mask


def document(rule):
    """Return `document_mask` by a rule for queries (a column) and keys (a row)."""
    return lambda q, k: rule(q[:, None], k[None])


def document_by_loops(query_documents, key_documents):
    return torch.tensor(
        [[bool(q == k) for k in key_documents] for q in query_documents]
    )


def same_past(query_documents, key_documents):
    same = query_documents[:, None] == key_documents
    return same & torch.ones(same.shape).tril().bool()


WRONG_SOLUTIONS = {
    "causal_mask": Cases(
        wrong={
            "not even itself": Wrong(lambda q, k: q[:, None] > k, "at itself"),
            "turned round": Wrong(lambda q, k: q[:, None] <= k, "the past is blocked"),
            "True = hidden": Wrong(lambda q, k: q[:, None] < k, "at itself"),
            "everything": Wrong(
                lambda q, k: torch.ones(len(q), len(k)).bool(), "future leaks"
            ),
            "one step into the future": Wrong(
                lambda q, k: q[:, None] + 1 >= k, "future leaks"
            ),
            "a triangle, whatever the positions": Wrong(
                triangle, "positions themselves"
            ),
            "made for one offset": Wrong(
                lambda q, k: torch.ones(len(q), len(k)).tril(4).bool(), "future leaks"
            ),
            "numbers instead of Booleans": Wrong(
                lambda q, k: (q[:, None] >= k).float(), "dtype"
            ),
            "keys by queries": Wrong(
                lambda q, k: k[:, None] <= q, "the past is blocked"
            ),
        },
        right={
            "by loops": causal_by_loops,
            "by differences": lambda q, k: (q[:, None] - k[None]).sign() != -1,
        },
    ),
    "sliding_window_mask": Cases(
        wrong={
            "one too wide": Wrong(window(lambda d, w: d.abs() <= w), "one too wide: "),
            "one too wide on the left": Wrong(
                window(lambda d, w: (-w < d) & (d <= w)), "one too wide on the left"
            ),
            "three times too wide": Wrong(
                window(lambda d, w: d.abs() < 3 * w), "window is too wide"
            ),
            "half a window on each side": Wrong(
                window(lambda d, w: d.abs() <= w // 2), "too narrow"
            ),
            "only the past": Wrong(
                window(lambda d, w: (d >= 0) & (d < w)), "looks both ways"
            ),
            "the whole future": Wrong(window(lambda d, w: d < w), "far ahead"),
            "the whole past": Wrong(window(lambda d, w: -d < w), "far past"),
            "True = hidden": Wrong(window(lambda d, w: d.abs() >= w), TURNED),
            "places": Wrong(window_by_places, PLACES),
            "keys by queries": Wrong(lambda q, k, w: (k[:, None] - q).abs() < w, SHAPE),
        },
        right={
            "by loops": window_by_loops,
            "by squares": window(lambda d, w: d * d < w * w),
        },
    ),
    "prefix_mask": Cases(
        wrong={
            "one too long": Wrong(
                prefix(lambda q, k, n: (k <= q) | (k <= n)), "one too long"
            ),
            "only causal": Wrong(prefix(lambda q, k, n: k <= q), "changes nothing"),
            "only the prefix": Wrong(
                prefix(lambda q, k, n: (k < n).expand(len(q), -1)), "only the prefix"
            ),
            "both at once": Wrong(prefix(lambda q, k, n: (k <= q) & (k < n)), "by |"),
            "queries in the prefix see all": Wrong(
                prefix(lambda q, k, n: (k <= q) | (q < n)), "queries in the prefix see"
            ),
            "queries behind the prefix see all": Wrong(
                prefix(lambda q, k, n: (k < n) | (q >= n)), FUTURE
            ),
            "one step into the future": Wrong(
                prefix(lambda q, k, n: (k <= q + 1) | (k < n)), FUTURE
            ),
            "True = hidden": Wrong(prefix(lambda q, k, n: (k > q) & (k >= n)), TURNED),
            "places": Wrong(prefix_by_places, PLACES),
            "keys by queries": Wrong(
                lambda q, k, n: (k[:, None] <= q) | (k[:, None] < n), SHAPE
            ),
        },
        right={
            "a square and a triangle": prefix(
                lambda q, k, n: (k <= q) | ((q < n) & (k < n))
            ),
            "by writing": prefix_by_writing,
        },
    ),
    "padding_mask": Cases(
        wrong={
            "one too long": Wrong(padding(torch.le), "behind the end can be seen"),
            "the last one hidden": Wrong(
                padding(lambda k, n: k < n - 1), "last token is hidden"
            ),
            "True = padding": Wrong(padding(torch.ge), TURNED),
            "no axis of queries": Wrong(padding(form=lambda m: m), "is missing"),
            "queries instead of keys": Wrong(
                padding(form=lambda m: m[:, :, None]), "the keys are last"
            ),
            "queries as well": Wrong(padding(form=both_sides), "rows would be empty"),
            "as long as the longest": Wrong(
                padding(end=lambda n, m: int(n.max())), "max_len keys"
            ),
            "before the texts": Wrong(
                padding(form=lambda m: m.flip(-1)[:, None]), "not before them"
            ),
            "one length for all": Wrong(
                padding(lambda k, n: k < n.max().expand(len(n), 1)), "of its own"
            ),
        },
        right={"by lists": padding_by_lists, "by writing": padding_by_writing},
    ),
    "document_mask": Cases(
        wrong={
            "True = hidden": Wrong(document(torch.ne), TURNED),
            "earlier documents too": Wrong(document(torch.ge), "earlier documents"),
            "later documents too": Wrong(document(torch.le), "other documents leak"),
            "neighbors too": Wrong(
                document(lambda q, k: (q - k).abs() <= 1), "other documents leak"
            ),
            "0 as padding": Wrong(
                document(lambda q, k: (q == k) & (q > 0)), "no padding"
            ),
            "the past alone": Wrong(same_past, "are no positions"),
            "keys by queries": Wrong(lambda q, k: k[:, None] == q, SHAPE),
            "token by token": Wrong(lambda q, k: q == k, "must match the size"),
        },
        right={
            "by loops": document_by_loops,
            "by differences": document(lambda q, k: ~(q - k).bool()),
        },
    ),
}
