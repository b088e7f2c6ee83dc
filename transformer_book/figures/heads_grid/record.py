"""What HeadsGrid shows of a decoder: its maps, scores, and losses with heads off."""

from collections.abc import Sequence
from contextlib import ExitStack
from copy import deepcopy
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lib.decoder import Decoder
from transformer_lib.inspection import (
    ablate_heads,
    attention_layers,
    induction_score,
    previous_token_score,
    record_attention,
)

UNIT = 10_000
"""Stored weights are integers: this many are a weight of 1."""

Head = list[int]
"""Layer and head, from 0."""


def period_of(ids: Sequence[int]) -> int:
    """After how many tokens, two or more, a text repeats itself to its end; or 0."""
    periods = range(2, len(ids) // 2 + 1)
    return next((p for p in periods if ids[p:] == ids[:-p]), 0)


@torch.no_grad()
def record(
    model: Decoder, ids: Sequence[int], off: Sequence[Head], source: str
) -> dict[str, Any]:
    """Return maps and scores while some heads are off, and losses, as plain data.

    The losses, in nats per token, are with all heads on, with each alone off, and with
    those off; of a repeated text they count what can be predicted. In float64: machines
    that round in other ways still say the same digits.
    """
    model = deepcopy(model).cpu().double().eval()
    tokens, period = torch.tensor([list(ids)]), period_of(ids)
    with record_attention(model) as weights:
        losses = {str(off): (off, _losses(model, tokens, off))}
        maps = list(weights.values())
    heads = [
        [[layer, head]]
        for layer, weights_of in enumerate(maps)
        for head in range(weights_of.shape[1])
    ]
    for chosen in ([], *heads):
        losses[str(chosen)] = chosen, _losses(model, tokens, chosen)
    _, all_on = losses["[]"]
    return {
        "source": source,
        "ids": list(ids),
        "off": off,
        "maps": [[_packed(head) for head in layer[0]] for layer in maps],
        "scores": [_scores(layer, period) for layer in maps],
        "first": round(float(all_on[: period - 1].mean()), 4) if period else None,
        "losses": [
            [chosen, round(float(each[period:].mean()), 4)]
            for chosen, each in losses.values()
        ],
    }


def _losses(
    model: Decoder, tokens: Int[Tensor, "1 seq"], off: Sequence[Head]
) -> Float[Tensor, " predicted"]:
    """Return the loss of each token but the first, in nats."""
    names = list(attention_layers(model))
    with ExitStack() as undo:
        for layer, head in off:
            undo.enter_context(ablate_heads(model, {names[layer]: [head]}))
        log_p = model(tokens)[0, :-1].log_softmax(dim=-1)
    return -log_p.gather(-1, tokens[0, 1:, None]).squeeze(-1)


def _packed(weights: Float[Tensor, "seq seq"]) -> list[int]:
    """Return the lower triangle, row after row, in units."""
    rows, columns = torch.tril_indices(*weights.shape)
    return (weights[rows, columns] * UNIT).round().long().tolist()


def _scores(
    weights: Float[Tensor, "1 n_heads seq seq"], period: int
) -> list[list[float]]:
    """Return each head's mean entropy in nats, previous-token and induction score."""
    entropy = torch.special.entr(weights).sum(dim=-1).mean(dim=(0, -1))
    scores = [entropy, previous_token_score(weights)]
    if period:
        scores.append(induction_score(weights, period))
    table = torch.stack(scores, dim=-1).tolist()
    return [[round(x, 4) + 0.0 for x in row] for row in table]


def telling(scores: Sequence[Sequence[Sequence[float]]]) -> list[Head]:
    """Return the heads of the highest scores, but entropy, the last score first."""
    heads = [[i, j] for i, layer in enumerate(scores) for j in range(len(layer))]
    places = range(len(scores[0][0]) - 1, 0, -1)
    best = [max(heads, key=lambda at: scores[at[0]][at[1]][place]) for place in places]
    return best if best[0] != best[-1] else best[:1]
