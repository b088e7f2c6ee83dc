"""What SamplingDesk must show, by the library: filters, draws, continuations.

Tokens stand in the order of their logits, the likeliest first: filters cut off the
end, and a draw takes the first token at which the summed probability reaches u. The
u are Park and Miller's (1988), "Random number generators: good ones are hard to find".
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_book.figures import SamplingDesk
from transformer_book.figures.sampling_desk import model as shipped
from transformer_lib.sampling import Choose, filter_logits, generate, greedy

LONGER = 96  # tokens of a continuation

_PRIME = 2**31 - 1


def draws(seed: int) -> Iterator[float]:
    """Yield numbers in 0..1 without end; the first ones would still show the seed."""
    for _ in range(3):
        seed = 48271 * seed % _PRIME
    while True:
        seed = 48271 * seed % _PRIME
        yield seed / _PRIME


class Settings(NamedTuple):
    """What reshapes the distribution; a number that changes nothing is off."""

    temperature: float
    top_k: int  # 0 is off
    top_p: float  # 1 is off
    min_p: float  # 0 is off

    def filters(self) -> list[tuple[str, dict[str, Any]]]:
        """Name the filters that are on, and the words for `filter_logits`, in order."""
        return [
            (name.replace("_", "-"), {name: value})
            for name, value, off in (
                ("top_k", self.top_k, 0),
                ("top_p", self.top_p, 1),
                ("min_p", self.min_p, 0),
            )
            if value != off and self.temperature > 0
        ]


class Distribution(NamedTuple):
    """Next tokens, the likeliest first."""

    order: list[int]
    before: list[float]
    after: list[float]
    cut: list[str]  # what cuts a token off; "" if nothing does


def reshape(logits: Sequence[float], settings: Settings) -> Distribution:
    """Return the distribution before and after, by the rules of `filter_logits`."""
    order = sorted(range(len(logits)), key=lambda i: -logits[i])
    ordered = torch.tensor([logits[i] for i in order], dtype=torch.float64)
    given: dict[str, Any] = {"temperature": settings.temperature}
    kept = filter_logits(ordered, **given)
    cut = ["temperature" if gone else "" for gone in kept.isinf().tolist()]
    for name, words in settings.filters():
        given |= words
        kept = filter_logits(ordered, **given)
        gone = kept.isinf().tolist()
        cut = [why or (name if out else "") for why, out in zip(cut, gone, strict=True)]
    after = kept.softmax(dim=-1)
    return Distribution(order, ordered.softmax(dim=-1).tolist(), after.tolist(), cut)


def places(after: Float[Tensor, " vocab"], heights: Sequence[float]) -> list[int]:
    """Return, for each u, the place at which the summed probability reaches it."""
    sums = after.cumsum(dim=-1)
    asked = torch.tensor(list(heights), dtype=torch.float64) * sums[-1]
    return torch.searchsorted(sums, asked).tolist()


def counts(after: Sequence[float], seed: int, skip: int, count: int) -> list[int]:
    """Count how often each place comes in `count` draws, `skip` after the seed."""
    found = [0] * len(after)
    heights = list(islice(draws(seed), skip, skip + count))
    for place in places(torch.tensor(after, dtype=torch.float64), heights):
        found[place] += 1
    return found


def settings_of(desk: SamplingDesk) -> Settings:
    return Settings(desk.temperature, desk.top_k, desk.top_p, desk.min_p)


def distribution(desk: SamplingDesk) -> Distribution:
    return reshape([float(x) for x in desk.logits], settings_of(desk))


def counts_of(desk: SamplingDesk) -> list[int]:
    """Count how often each token is drawn, the likeliest token first."""
    return counts(distribution(desk).after, desk.seed, len(desk.drawn), desk.count)


def continuations(desk: SamplingDesk) -> tuple[list[int], list[int]]:
    """Write 96 tokens more, the likeliest ones, and drawn ones."""
    ids = tuple(shipped.read(desk.text, desk.drawn))
    n_texts, heights = len(shipped.names()), draws(desk.seed)
    heights = islice(heights, len(desk.drawn), None)

    def drawn(logits: Tensor) -> Tensor:
        given = logits[0, :n_texts].tolist()
        order, _, after, _ = reshape(given, settings_of(desk))
        weights = torch.tensor(after, dtype=torch.float64)
        return torch.tensor([order[places(weights, [next(heights)])[0]]])

    return (
        _write(ids, lambda logits: greedy(logits[:, :n_texts])),
        _write(ids, drawn),
    )


def _write(ids: tuple[int, ...], choose: Choose) -> list[int]:
    model, _ = shipped.shipped()
    made = generate(model, torch.tensor([ids]), max_new_tokens=LONGER, choose=choose)
    return [int(token) for token in made]
