"""Masks for several texts in one tensor, as learners write them."""

import torch

from wrong_solutions.kinds import Bank, Wrong


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


TURNED, SHAPE = "turned round: True", "must be (queries, keys)"

BANKS = {
    "padding_mask": Bank(
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
    "document_mask": Bank(
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
