"""PagedCache: the memory of many users, reserved as a whole or taken in blocks."""

import traitlets

from transformer_book.figures.figure import Figure
from transformer_book.figures.state import Values


class PagedCache(Figure):
    """Follow one queue of users through the same memory, managed in two ways.

    A memory of 64 slots serves users with `prompts` tokens to read and `answers` to
    write, at most 16 together. In the first, each user reserves 16 slots; a `static`
    batch waits until all its users are done. In the second, users take blocks of
    `block_size` slots, and share the full blocks of the first `prefix` tokens, which
    are the same in all prompts. A pass reads at most `budget` tokens, and `step` is the
    pass that is shown. `selected` is [row, column] of a slot, 4 rows for each way, or
    [].
    """

    name = "paged_cache"

    prompts = Values(traitlets.Int(), default_value=[10, 9, 11, 9, 10, 9, 12, 10])
    answers = Values(traitlets.Int(), default_value=[2, 7, 3, 6, 2, 7, 4, 3])
    prefix = traitlets.Int(8)
    block_size = traitlets.Int(4)
    budget = traitlets.Int(24)
    static = traitlets.Bool(False)
    step = traitlets.Int(1)
    selected = Values(traitlets.Int(), default_value=[])
