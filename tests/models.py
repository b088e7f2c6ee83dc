"""Tiny models for tests: no two of their sizes are equal, and nothing in them is 0."""

from dataclasses import replace
from functools import cache
from typing import Any

import torch
from hypothesis import settings
from samples import law, seeded
from torch import Tensor, nn

from transformer_lib.blocks import POSITIONS, Config

TINY = Config(
    vocab_size=13,
    d_model=16,
    n_layers=2,
    n_heads=4,
    d_ff=20,
    max_len=40,
    scale_embeddings=True,
)
KINDS = sorted(POSITIONS)
"""All words for positions."""

few = settings(law, max_examples=6)
"""For laws of whole models, which run once for each kind of positions."""


def tiny(**changes: Any) -> Config:
    """Return the tiny config with some of its words and numbers changed."""
    return replace(TINY, **changes)


@cache
def model(
    kind: type[nn.Module],
    config: Config,
    dtype: torch.dtype = torch.float64,
    **parts: Any,
) -> Any:
    """Build a model whose shifts and scales are drawn too, so that none can hide."""
    torch.manual_seed(0)
    built = kind(config, **parts).to(dtype).eval().requires_grad_(requires_grad=False)
    for parameter in built.parameters():
        if parameter.ndim == 1:
            parameter.add_(torch.randn_like(parameter), alpha=0.3)
    return built


def draw_tokens(seed: int, *shape: int, vocab: int = TINY.vocab_size) -> Tensor:
    """Draw tokens of a vocabulary: of the tiny one, if none is named."""
    return torch.randint(0, vocab, shape, generator=seeded(seed))


def count(module: nn.Module) -> int:
    """Count the numbers that a model learns; those of tied matrices once."""
    return sum(parameter.numel() for parameter in module.parameters())
