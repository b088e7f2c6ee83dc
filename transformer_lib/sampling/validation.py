"""Validation: prompts of different lengths in one batch, and what is refused."""

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lib.blocks import Config


def pad_left(
    prompts: Sequence[Sequence[int]], pad_id: int = 0
) -> tuple[Int[Tensor, "batch longest"], Int[Tensor, " batch"]]:
    """Put prompts into one tensor, all ending at its right edge, and keep lengths.

    The next tokens are then one column.

    Raises:
        ValueError: if there is no prompt, or an empty one.
    """
    lengths = [len(prompt) for prompt in prompts]
    if not lengths or min(lengths) < 1:
        raise ValueError(
            f"pad_left needs prompts of at least one token, got lengths {lengths}; "
            "begin each with a start token"
        )
    longest = max(lengths)
    rows = [[pad_id] * (longest - len(prompt)) + list(prompt) for prompt in prompts]
    return torch.tensor(rows), torch.tensor(lengths)


def check_prompts(
    config: Config, prompts: Tensor, lengths: Tensor | None, max_new_tokens: int
) -> None:
    """Refuse prompts that a decoder cannot continue by so many tokens."""
    _check_sequences(config, prompts, lengths)
    _check_lengths(config, prompts.shape[1], max_new_tokens)


def check_sources(
    config: Config,
    sources: Tensor,
    lengths: Tensor | None,
    start_id: int,
    max_new_tokens: int,
) -> None:
    """Refuse sources that an encoder-decoder cannot read, or targets too long."""
    _check_sequences(config, sources, lengths)
    check_ids(config, start=start_id)
    _check_lengths(config, 1, max_new_tokens)
    if sources.shape[1] > config.max_len:
        raise ValueError(
            f"a source must fit max_len={config.max_len}, got {sources.shape[1]} tokens"
        )


def check_ids(config: Config, **ids: int | None) -> None:
    """Refuse ids that are no tokens."""
    for name, token in ids.items():
        if token is not None and not 0 <= token < config.vocab_size:
            raise ValueError(
                f"ids must be from 0 to vocab_size - 1 = {config.vocab_size - 1}, "
                f"got {name} id {token}"
            )


def _check_sequences(config: Config, tokens: Tensor, lengths: Tensor | None) -> None:
    """Refuse sequences that are empty, or whose tokens the model does not know."""
    if 0 in tokens.shape:
        raise ValueError(
            "generation needs sequences of at least one token, got a batch of shape "
            f"{tuple(tokens.shape)}; begin each with a start token"
        )
    check_ids(config, least=int(tokens.min()), largest=int(tokens.max()))
    if lengths is None:
        return
    if lengths.shape != tokens.shape[:1]:
        raise ValueError(
            "there must be one length per sequence, got lengths of shape "
            f"{tuple(lengths.shape)} for {len(tokens)} sequences"
        )
    if lengths.min() < 1 or lengths.max() > tokens.shape[1]:
        raise ValueError(
            f"lengths must be from 1 to the width {tokens.shape[1]} of the batch, got "
            f"{lengths.tolist()}"
        )


def _check_lengths(config: Config, width: int, max_new_tokens: int) -> None:
    """Refuse sequences that would outgrow the model, before the first token."""
    if max_new_tokens < 1:
        raise ValueError(f"max_new_tokens must be at least 1, got {max_new_tokens}")
    if width + max_new_tokens > config.max_len:
        raise ValueError(
            f"prompt and new tokens must fit max_len={config.max_len}, got {width} + "
            f"{max_new_tokens}; shorten them, or build the model with a larger max_len"
        )
