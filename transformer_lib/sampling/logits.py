"""Logits: which tokens are left of the distribution, and which one is taken."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor


def filter_logits(
    logits: Float[Tensor, "*batch vocab"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """Return logits whose softmax is the distribution to draw from; -inf is cut off.

    First the temperature divides; at 0, only the largest logits are left. Then, each
    on what the one before left: top_k keeps the k likeliest (Fan et al. 2018),
    top_p the fewest likeliest that together have probability p (Holtzman et al.
    2020), min_p those at least min_p times as likely as the likeliest (Nguyen et al.
    2024). Equal logits stay or go together, and the largest always stay. In float32
    at least. Source: Holtzman et al. 2020, section 3.1; Fan et al. 2018, section 5.4;
    Nguyen et al. 2024, section 3.

    Raises:
        ValueError: if a setting is out of range, or a row has no finite largest logit.
    """
    _check_settings(temperature, top_k, top_p, min_p)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    if temperature == 0:
        return _cut_below(peak_of(logits), logits)
    logits = logits / temperature
    peak = peak_of(logits)
    if top_k is not None:
        logits = _cut_below(_top_k_floor(logits, top_k), logits)
    if top_p is not None:
        logits = _cut_below(_top_p_floor(logits, top_p), logits)
    if min_p is not None:
        logits = _cut_below(peak + math.log(min_p), logits)
    return logits


def greedy(logits: Float[Tensor, "*batch vocab"]) -> Int[Tensor, "*batch"]:
    """Return the likeliest token; of equal ones, the first.

    Raises:
        ValueError: if a row has no finite largest logit.
    """
    peak, token = logits.max(dim=-1)
    _check_peak(peak)
    return token


def sample(
    logits: Float[Tensor, "batch vocab"],
    generator: Generator | Sequence[Generator] | None = None,
) -> Int[Tensor, " batch"]:
    """Draw one token a row: the first at which the summed probability reaches u.

    The numbers u, above 0 and up to 1, come from the CPU, the same for every device:
    all from one generator, or each row's from its own, and then a row does not depend
    on its batch-mates.

    Raises:
        ValueError: if a row has no finite largest logit, or the generators do not fit.
    """
    sums = (logits.double() - peak_of(logits)).exp().cumsum(dim=-1)
    heights = 1 - _uniform(len(logits), generator).to(logits.device)
    return torch.searchsorted(sums, heights * sums[:, -1:]).squeeze(-1)


def _uniform(
    batch: int, generator: Generator | Sequence[Generator] | None
) -> Float[Tensor, "batch 1"]:
    """Draw one number per row, from 0 to below 1."""
    if generator is None or isinstance(generator, Generator):
        return torch.rand(
            batch, 1, generator=generator, dtype=torch.float64, device="cpu"
        )
    if len(generator) != batch:
        raise ValueError(
            "sampling needs one generator for all rows or one per row, got "
            f"{len(generator)} for {batch} rows"
        )
    rows = [
        torch.rand(1, generator=one, dtype=torch.float64, device="cpu")
        for one in generator
    ]
    return torch.stack(rows)


def _cut_below(floor: Tensor, logits: Tensor) -> Tensor:
    return logits.masked_fill(logits < floor, -torch.inf)


def _top_k_floor(logits: Tensor, top_k: int) -> Tensor:
    """Return the k-th largest logit."""
    return logits.topk(min(top_k, logits.shape[-1])).values[..., -1:]


def _top_p_floor(logits: Tensor, top_p: float) -> Tensor:
    """Return the largest logit at which it and all larger ones have probability p."""
    ordered = logits.sort(dim=-1).values
    # from the small end, where a sum in floating point loses the least
    spare = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - top_p
    n_cut = spare.sum(dim=-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    return ordered.gather(-1, n_cut)


def peak_of(logits: Tensor) -> Tensor:
    """Return the largest logit of each row; refuse NaN, and rows without a choice."""
    peak = logits.amax(dim=-1, keepdim=True)
    _check_peak(peak)
    return peak


def _check_peak(peak: Tensor) -> None:
    wrong = [value for value in peak.flatten().tolist() if not math.isfinite(value)]
    if wrong:
        raise ValueError(
            f"the largest logit of each row must be finite, got {wrong[0]}; check "
            "the model's weights, or write temperature=0 for a temperature close to it"
        )


def _check_settings(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None
) -> None:
    if not 0 <= temperature < math.inf:
        raise ValueError(
            f"temperature must be finite and at least 0 (greedy), got {temperature}"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}; None keeps all")
    for name, share in (("top_p", top_p), ("min_p", min_p)):
        if share is not None and not 0 < share <= 1:
            raise ValueError(
                f"{name} must be above 0 and at most 1, got {share}; None keeps all"
            )
