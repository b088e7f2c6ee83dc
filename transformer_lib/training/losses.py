"""The loss: how much the model is surprised by the token that really came next."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def summed_cross_entropy(
    logits: Float[Tensor, "*batch vocab"],
    targets: Int[Tensor, "*batch"],
    *,
    label_smoothing: float = 0.0,
    ignore: int = -100,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """Sum -log p(target) over all targets but ``ignore``; return it and their number.

    With label smoothing ε, the wanted distribution is 1 - ε on the target plus ε / V
    on each of the V words, the target included. The logarithms are taken in float32
    at least. Source: Szegedy et al. 2016, section 7.

    Raises:
        ValueError: if the shapes do not fit or ε does not lie between 0 and 1.
    """
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            "each row of logits must have one target, got "
            f"logits {tuple(logits.shape)} and targets {tuple(targets.shape)}"
        )
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"label_smoothing must lie between 0 and 1, got {label_smoothing}"
        )
    dtype = torch.promote_types(logits.dtype, torch.float32)
    total = nn.functional.cross_entropy(
        logits.to(dtype).reshape(-1, logits.shape[-1]),
        targets.long().reshape(-1),
        reduction="sum",
        ignore_index=ignore,
        label_smoothing=label_smoothing,
    )
    return total, (targets != ignore).sum()


def cross_entropy(
    logits: Float[Tensor, "*batch vocab"],
    targets: Int[Tensor, "*batch"],
    *,
    label_smoothing: float = 0.0,
    ignore: int = -100,
) -> Float[Tensor, ""]:
    """Average -log p(target) over all targets but ``ignore``: nats per token.

    It is PyTorch's own, except that a batch without targets has loss 0, not NaN.
    Source: Szegedy et al. 2016, section 7.

    Raises:
        ValueError: if the shapes do not fit or ε does not lie between 0 and 1.
    """
    total, n_tokens = summed_cross_entropy(
        logits, targets, label_smoothing=label_smoothing, ignore=ignore
    )
    return total / n_tokens.clamp(min=1)


def next_token_loss(
    logits: Float[Tensor, "*batch seq vocab"],
    tokens: Int[Tensor, "*batch seq"],
    *,
    label_smoothing: float = 0.0,
    ignore: int = -100,
) -> Float[Tensor, ""]:
    """Average the loss of each token under the logits before it: nats per token.

    The first token is given, the last logits go unused. To leave padding out,
    ``ignore`` is its token. Source: Radford et al. 2018, section 3.1.

    Raises:
        ValueError: if the shapes do not fit or ε does not lie between 0 and 1.
    """
    # shifted targets, as a slice of the logits would be copied as a whole
    targets = nn.functional.pad(tokens[..., 1:], (0, 1), value=ignore)
    return cross_entropy(
        logits, targets, label_smoothing=label_smoothing, ignore=ignore
    )


def language_model_loss(
    model: nn.Module,
    tokens: Int[Tensor, "*batch seq"],
    *,
    label_smoothing: float = 0.0,
    ignore: int = -100,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """Sum the losses of a model that predicts each token from those before it.

    This is what `train` minimizes unless told otherwise. The tokens go to the
    model's device. Source: Radford et al. 2018, section 3.1.

    Raises:
        ValueError: if the shapes do not fit or ε does not lie between 0 and 1.
    """
    tokens = tokens.to(next(model.parameters()).device)
    return summed_cross_entropy(
        model(tokens[..., :-1]),
        tokens[..., 1:],
        label_smoothing=label_smoothing,
        ignore=ignore,
    )


def bits_per_byte(nats_per_token: float, n_tokens: int, n_bytes: int) -> float:
    """Turn a loss per token into bits per byte of text, fair to any tokenizer.

    ``n_tokens`` predicted tokens stand for ``n_bytes`` bytes of UTF-8.
    Source: Gao et al. 2020, section 3.1.

    Raises:
        ValueError: if there are no bytes.
    """
    if n_bytes < 1:
        raise ValueError(f"n_bytes must be at least 1, got {n_bytes}")
    return nats_per_token * n_tokens / (n_bytes * math.log(2))


def sequence_to_sequence_loss(
    model: nn.Module,
    batch: tuple[Tensor, Tensor, Tensor, Tensor],
    *,
    label_smoothing: float = 0.0,
    ignore: int = -100,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """Sum the losses of each target token, given the source and those before it.

    A batch is (source, source_lengths, target, target_lengths), the sequences (batch,
    seq), padded at the right. Source: Sutskever et al. 2014, section 2.

    Raises:
        ValueError: if the shapes do not fit or ε does not lie between 0 and 1.
    """
    device = next(model.parameters()).device
    source, source_lengths, target, _ = (part.to(device) for part in batch)
    logits = model(source, target[:, :-1], source_lengths=source_lengths)
    return summed_cross_entropy(
        logits, target[:, 1:], label_smoothing=label_smoothing, ignore=ignore
    )


def token_classification_loss(
    model: nn.Module,
    batch: tuple[Tensor, Tensor, Tensor, Tensor],
    *,
    ignore: int = -100,
) -> tuple[Float[Tensor, ""], Int[Tensor, ""]]:
    """Sum the losses of a label for each source token, which the target holds.

    A batch is as for `sequence_to_sequence_loss`, source and target equally long.
    Source: Devlin et al. 2019, section 3.

    Raises:
        ValueError: if the shapes do not fit.
    """
    device = next(model.parameters()).device
    source, lengths, target, _ = (part.to(device) for part in batch)
    return summed_cross_entropy(model(source, lengths), target, ignore=ignore)
