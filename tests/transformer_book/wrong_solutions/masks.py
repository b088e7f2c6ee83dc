"""Masks, as learners write them."""

import torch

from transformer_lib import masks as library
from wrong_solutions.cases import Cases


def causal_mask(query_positions, key_positions):
    q, k = query_positions[:, None], key_positions
    return q >= k


def causal_by_loops(query_positions, key_positions):
    rows = [[bool(k <= q) for k in key_positions] for q in query_positions]
    return torch.tensor(rows)


PLACES = "torch.arange(len(query_positions))[:, None], torch.arange(len(key_positions))"
BY_PLACES = {"query_positions[:, None], key_positions\n": f"{PLACES}\n"}
COLUMN_OF_KEYS = {"query_positions[:, None], key": "query_positions, key"}
COLUMN_OF_KEYS |= {"_positions\n": "_positions[:, None]\n"}
LEAKS, BLOCKED = "future leaks", "the past is hidden"
TURNED, SHAPE = "inverted: True", "must be (queries, keys)"

CAUSAL = Cases(
    causal_mask,
    right=[causal_by_loops, {"q >= k": "(q - k).sign() != -1"}],
    wrong=[
        ({">=": ">"}, "to itself"),
        ({">=": "<="}, BLOCKED),
        ({">=": "<"}, "to itself"),
        ({">= k": ">= 0 * k"}, LEAKS),
        ({"q >=": "q + 1 >="}, LEAKS),
        (BY_PLACES, "positions themselves"),
        (BY_PLACES | {"q >=": "q + 4 >="}, LEAKS),
        ({"q >= k": "(q >= k).float()"}, "dtype"),
        (COLUMN_OF_KEYS, BLOCKED),
    ],
)


def sliding_window_mask(query_positions, key_positions, window):
    q, k = query_positions[:, None], key_positions
    back = q - k
    return back.abs() < window


def window_by_loops(query_positions, key_positions, window):
    mask = torch.zeros(len(query_positions), len(key_positions), dtype=torch.bool)
    for row, position in zip(mask, query_positions.tolist(), strict=True):
        for column, other in enumerate(key_positions.tolist()):
            row[column] = other in range(position - window + 1, position + window)
    return mask


INDICES, ON_THE_LEFT = "not their indices", "one too wide on the left"
ONLY_PAST, TO_WINDOW = (
    "(back >= 0) & (back < window)",
    "(-window < back) & (back <= window)",
)

WINDOW = Cases(
    sliding_window_mask,
    right=[window_by_loops, {"back.abs() < window": "back**2 < window**2"}],
    wrong=[
        ({"<": "<="}, "one too wide: "),
        ({"back.abs() < window": TO_WINDOW}, ON_THE_LEFT),
        ({"< window": "< 3 * window"}, "window is too wide"),
        ({"< window": "<= window // 2"}, "too narrow"),
        ({"back.abs() < window": ONLY_PAST}, "extends both ways"),
        ({".abs()": ""}, "far ahead"),
        ({"back.abs()": "-back"}, "far past"),
        ({"<": ">="}, TURNED),
        (BY_PLACES, INDICES),
        (COLUMN_OF_KEYS, SHAPE),
    ],
)


def prefix_mask(query_positions, key_positions, length):
    q, k = query_positions[:, None], key_positions
    return (k <= q) | (k < length)


def prefix_by_writing(query_positions, key_positions, length):
    mask = library.causal_mask(query_positions, key_positions)
    mask[:, key_positions < length] = True
    return mask


FUTURE = "the future after the prefix leaks"

PREFIX = Cases(
    prefix_mask,
    right=[prefix_by_writing, {"k < length": "(q < length) & (k < length)"}],
    wrong=[
        ({"k < length": "k <= length"}, "one too long"),
        ({" | (k < length)": ""}, "has no effect"),
        ({"(k <= q) |": "(q < 0) |"}, "only the prefix"),
        ({"|": "&"}, "with |"),
        ({"k < length": "q < length"}, "queries in the prefix attend"),
        ({"k <= q": "q >= length"}, FUTURE),
        ({"k <= q": "k <= q + 1"}, FUTURE),
        ({"(k <= q) | (k < length)": "(k > q) & (k >= length)"}, TURNED),
        (BY_PLACES, INDICES),
        (COLUMN_OF_KEYS, SHAPE),
    ],
)


def padding_mask(lengths, max_len):
    keys = torch.arange(max_len)
    mask = keys < lengths[:, None]
    return mask[:, None, :]


def padding_by_lists(lengths, max_len):
    rows = [[[True] * n + [False] * (max_len - n)] for n in lengths.tolist()]
    return torch.tensor(rows)


KEYS, QUERIES = "mask[:, None, :]", "mask[:, :, None]"

PADDING = Cases(
    padding_mask,
    right=[padding_by_lists],
    wrong=[
        ({"<": "<="}, "after the end is visible"),
        ({"keys <": "keys + 1 <"}, "last token is hidden"),
        ({"<": ">="}, TURNED),
        ({KEYS: "mask"}, "is missing"),
        ({KEYS: QUERIES}, "the keys come last"),
        ({KEYS: f"{KEYS} & {QUERIES}"}, "rows would be empty"),
        ({"arange(max_len)": "arange(int(lengths.max()))"}, "max_len keys"),
        ({KEYS: "mask.flip(-1)[:, None, :]"}, "not before it"),
        ({"lengths[:": "lengths.max().expand(3)[:"}, "its own length"),
    ],
)


def document_mask(query_documents, key_documents):
    q, k = query_documents[:, None], key_documents
    return q == k


def document_by_loops(query_documents, key_documents):
    rows = [[bool(q == k) for k in key_documents] for q in query_documents]
    return torch.tensor(rows)


KEYS_FIRST = {"query_documents[:, None], key": "query_documents, key"}
KEYS_FIRST |= {"_documents\n": "_documents[:, None]\n"}

DOCUMENT = Cases(
    document_mask,
    right=[document_by_loops, {"q == k": "~(q - k).bool()"}],
    wrong=[
        ({"==": "!="}, TURNED),
        ({"==": ">="}, "earlier documents"),
        ({"==": "<="}, "other documents leak"),
        ({"q == k": "(q - k).abs() <= 1"}, "other documents leak"),
        ({"q == k": "(q == k) & (q > 0)"}, "not padding"),
        ({"q == k": "(q == k).tril()"}, "are not positions"),
        (KEYS_FIRST, SHAPE),
        ({"[:, None]": ""}, "must match the size"),
    ],
)
