"""What SamplingDesk must show, by the library: filters, draws, continuations.

Tokens stand in the order of their logits, the likeliest first: filters cut off the
end, and a draw takes the first token at which the summed probability reaches u. The
u are Park and Miller's (1988), "Random number generators: good ones are hard to find".
"""

from collections.abc import Iterator, Sequence
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_book.figures import SamplingDesk
from transformer_book.figures.sampling_desk import model as shipped
from transformer_book.figures.weights import as_in_page
from transformer_lib.sampling import Choose, filter_logits, generate, greedy

_PRIME = 2**31 - 1


def draws(seed: int) -> Iterator[float]:
    """Yield numbers in 0..1 without end; the first ones would still show the seed."""
    for _ in range(3):
        seed = 48271 * seed % _PRIME
    while True:
        seed = 48271 * seed % _PRIME
        yield seed / _PRIME


def distribution(
    desk: SamplingDesk, logits: Sequence[float] | None = None
) -> tuple[list[int], list[float], list[float], list[str]]:
    """Return the next tokens, the likeliest first, by the rules of `filter_logits`.

    Their ids, the distributions before and after, and what cuts each off, or "".
    """
    given = torch.tensor(desk.logits if logits is None else logits, dtype=torch.float64)
    ordered, order = given.sort(descending=True, stable=True)
    filters = {"temperature": {"temperature": desk.temperature}}
    if desk.temperature > 0:
        filters["top-k"] = {"top_k": desk.top_k or None}
        filters["top-p"] = {"top_p": None if desk.top_p == 1 else desk.top_p}
        filters["min-p"] = {"min_p": desk.min_p or None}
    words, cut = {}, [""] * len(order)
    for name, asked in filters.items():
        words |= asked
        kept = filter_logits(ordered, **words)
        gone = kept.isinf().tolist()
        cut = [why or (name if out else "") for why, out in zip(cut, gone, strict=True)]
    before, after = (one.softmax(dim=-1).tolist() for one in (ordered, kept))
    return order.tolist(), before, after, cut


def places(after: Float[Tensor, " vocab"], heights: Sequence[float]) -> list[int]:
    """Return, for each u, the place at which the summed probability reaches it."""
    sums = after.cumsum(dim=-1)
    asked = torch.tensor(list(heights), dtype=torch.float64) * sums[-1]
    return torch.searchsorted(sums, asked).tolist()


def drawn_of(desk: SamplingDesk) -> list[int]:
    """Count how often each token is drawn, the likeliest token first."""
    _, _, after, _ = distribution(desk)
    skip = len(desk.drawn)
    heights = list(islice(draws(desk.seed), skip, skip + desk.count))
    found = places(torch.tensor(after, dtype=torch.float64), heights)
    return [found.count(place) for place in range(len(after))]


def continuations(desk: SamplingDesk, count: int = 96) -> tuple[list[int], list[int]]:
    """Write so many tokens more, the likeliest ones, and drawn ones."""
    ids = torch.tensor([shipped.read(desk.text, desk.drawn)])
    n_texts = len(shipped.names())
    heights = islice(draws(desk.seed), len(desk.drawn), None)

    def drawn(logits: Tensor) -> Tensor:
        order, _, after, _ = distribution(desk, logits[0, :n_texts].tolist())
        weights = torch.tensor(after, dtype=torch.float64)
        return torch.tensor([order[places(weights, [next(heights)])[0]]])

    def write(choose: Choose) -> list[int]:
        model, _ = as_in_page(shipped.MODEL)
        made = generate(model, ids, max_new_tokens=count, choose=choose)
        return [int(token) for token in made]

    return write(lambda logits: greedy(logits[:, :n_texts])), write(drawn)
