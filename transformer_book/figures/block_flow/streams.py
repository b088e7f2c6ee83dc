"""BlockFlow's numbers: what each layer adds to a token's stream, and the logit lens."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache, lru_cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from transformer_book.figures.schema import check_limits, limits_of
from transformer_book.figures.state import StateError, rounded
from transformer_book.figures.weights import as_in_page
from transformer_lib.blocks import Config, Stack
from transformer_lib.decoder import Decoder
from transformer_lib.tokens import Tokenizer

MODEL = "manual-lm"
BLOCKS = 12
"""Blocks that the figure shows at most; the random stacks have as many."""
_LIMITS = limits_of("block_flow")
TOKENS = _LIMITS["flow"]["parts"]["tokens"]["length"][1]
"""Most tokens of a prompt."""
LEADERS = 3
LAYERS = ("attention", "feed_forward")

Walk = Iterator[tuple[Tensor, Tensor, Tensor]]


def walk(stack: Stack, embedded: Tensor) -> Walk:
    """Yield the stream before each layer, what the layer adds, and the stream then."""
    x, mask, rotate = stack.enter(embedded, mask="causal")
    ways: list[dict[str, Any]] = [{"mask": mask, "rotate": rotate}, {}]
    for block in stack.blocks:
        for name, how in zip(LAYERS, ways, strict=True):
            place: Any = getattr(block, name)
            added: list[Tensor] = []
            hook = place.layer.register_forward_hook(
                lambda *a, to=added: to.append(a[2])
            )
            after = place(x, partial(place.layer, **how))
            hook.remove()
            yield x, added[0], after
            x = after


def follow(
    model: Decoder, tokenizer: Tokenizer, prompt: str, position: int = -1
) -> dict[str, Any]:
    """Follow one token through the layers; -1 is the last one.

    In float64: machines that round in other ways still say the same digits.

    Raises:
        StateError: if the prompt has no tokens or too many, or the model is too deep.
    """
    ids = encoded(tokenizer, prompt)
    place = min(position, len(ids) - 1) if position >= 0 else len(ids) - 1
    with torch.no_grad():
        measures, shares = _measured(deepcopy(model).double().eval(), ids, place)
    shares = shares[:, : tokenizer.vocab_size]
    answer = _leaders(shares[-1])[0]
    top = [
        [[tokenizer.decode([i]), float(row[i])] for i in _leaders(row)]
        for row in shares
    ]
    known = {
        "prompt": prompt,
        "position": place,
        "tokens": [tokenizer.decode([i]) for i in ids],
        "norm": model.config.residual,
        "top": top,
        "answer": shares[:, answer].tolist(),
    }
    return rounded(known | measures)


def _measured(
    model: Decoder, ids: list[int], place: int
) -> tuple[dict[str, list[float]], Tensor]:
    """Return lengths and angles of one token, and its probabilities at each depth."""
    if model.config.n_layers > BLOCKS:
        raise StateError(
            f"a model to follow must have at most {BLOCKS} blocks, got "
            f"{model.config.n_layers}"
        )
    weight = model.embedding.weight
    embedded = model.embedding(torch.tensor([ids], device=weight.device))
    steps = [
        tuple(x[0, place].double() for x in step)
        for step in walk(model.stack, embedded)
    ]
    # the last layer has no next one: its stream is what it left
    states = torch.stack([steps[0][0], *(after for *_, after in steps)])
    logits = model.unembedding.logits(model.stack.norm(states[None].to(weight.dtype)))
    measures = {
        "lengths": states.norm(dim=-1).tolist(),
        "changes": [float(change.norm()) for _, change, _ in steps],
        "cosines": [
            float(cosine_similarity(change, x, dim=0)) for x, change, _ in steps
        ],
    }
    return measures, logits[0].double().softmax(-1)


def encoded(tokenizer: Tokenizer, prompt: str) -> list[int]:
    """Return the ids of a prompt that the figure can show."""
    check_limits({"prompt": prompt}, {"prompt": _LIMITS["prompt"]})
    ids = tokenizer.encode(prompt)
    if not 1 <= len(ids) <= TOKENS:
        raise StateError(f"prompt must be 1 to {TOKENS} tokens, got {len(ids)}")
    return list(ids)


def _leaders(shares: Tensor) -> list[int]:
    """Return the ids of the largest, the first of equals first."""
    order = shares.sort(descending=True, stable=True).indices
    return order[:LEADERS].tolist()


def shipped_ids(prompt: str) -> list[int]:
    """Return the ids that the book's model reads."""
    return encoded(as_in_page(MODEL)[1], prompt)


@lru_cache(64)
def follow_shipped(prompt: str, position: int = -1) -> dict[str, Any]:
    """Follow a token through the book's model."""
    return follow(*as_in_page(MODEL), prompt, position)


@cache
def random_stacks() -> dict[str, Any]:
    """Return lengths and shares in untrained stacks of both kinds, mean over 16 tokens.

    A share is the length of an addition as part of the sum's, before any norm.
    """
    return {kind: _random_stack(kind) for kind in ("pre", "post")}


def _random_stack(kind: Any) -> dict[str, list[float]]:
    config = Config(
        vocab_size=1,
        d_model=64,
        n_layers=BLOCKS,
        n_heads=4,
        d_ff=256,
        max_len=16,
        norm="layer",
        feed_forward="relu",
        positions="none",
        residual=kind,
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        stack = Stack(config).double()
        # small, as embeddings are
        x = torch.randn(1, 16, config.d_model, dtype=torch.float64) / 4
        steps = list(walk(stack, x))
    states = [steps[0][0], *(after for *_, after in steps)]
    shares = [change.norm(dim=-1) / (x + change).norm(dim=-1) for x, change, _ in steps]
    return rounded(
        {
            "lengths": [float(state.norm(dim=-1).mean()) for state in states],
            "shares": [float(share.mean()) for share in shares],
        }
    )
