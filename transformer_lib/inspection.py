"""Inspection: record attention, or switch parts of a model off, and leave no trace."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import Attend, Mask
from transformer_lib.decoder import Decoder
from transformer_lib.multihead import MultiHeadAttention, merge_heads, split_heads


def attention_layers(model: nn.Module) -> dict[str, MultiHeadAttention]:
    """Return the attention layers by name, in the order of the model's parts.

    Raises:
        ValueError: if there is none.
    """
    modules = model.named_modules()
    layers = {name: m for name, m in modules if isinstance(m, MultiHeadAttention)}
    if not layers:
        raise ValueError(
            "a model to inspect must contain MultiHeadAttention, got none in "
            f"{type(model).__name__}"
        )
    return layers


@contextmanager
def record_attention(
    model: nn.Module,
) -> Iterator[dict[str, Float[Tensor, "batch n_heads q_len kv_len"]]]:
    """Record the weights of every attention layer, by name, while the block runs.

    The record holds the latest call of each layer, before dropout. Any kernel tells
    its weights: given the identity matrix as values, it returns them. The outputs
    come from the kernel as ever, so they are the same to the last bit.

    Raises:
        ValueError: if the model has no attention layer.
    """
    record: dict[str, Tensor] = {}
    with ExitStack() as undo:
        for name, layer in attention_layers(model).items():
            undo.callback(setattr, layer, "attend", layer.attend)
            layer.attend = _recorder(layer.attend, partial(record.__setitem__, name))
        yield record


def _recorder(attend: Attend, keep: Callable[[Tensor], None]) -> Attend:
    """Return the kernel, which now also reports its weights."""

    def attend_and_keep(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Mask | None = None,
        *,
        dropout: float = 0.0,
    ) -> Tensor:
        kv_len = key.shape[-2]
        identity = torch.eye(kv_len, dtype=value.dtype, device=value.device)
        with torch.no_grad():
            keep(attend(query, key, identity.expand(*key.shape[:-1], kv_len), mask))
        return attend(query, key, value, mask, dropout=dropout)

    return attend_and_keep


@contextmanager
def ablate_heads(
    model: nn.Module,
    heads: Mapping[str, Sequence[int]],
    replace: Callable[[Tensor], Tensor] = torch.zeros_like,
) -> Iterator[None]:
    """Replace the outputs of some heads, while the block runs: by zeros unless told.

    ``heads`` are numbers from 0 by the names of `attention_layers`. ``replace`` turns
    the outputs of a layer's chosen heads, (batch, heads, q_len, d_head), into what
    the layer gets instead; it may be their mean. The weights of these heads stay as
    they are. Source: Michel et al. 2019, section 2.3.

    Raises:
        ValueError: if a layer or a head does not exist.
    """
    layers = attention_layers(model)
    _check_heads(layers, heads)
    with ExitStack() as hooks:
        for name, chosen in heads.items():
            # before the last matrix, where the heads still lie side by side
            hook = partial(_ablate, layers[name].n_heads, list(chosen), replace)
            hooks.enter_context(layers[name].out.register_forward_pre_hook(hook))
        yield


def _ablate(
    n_heads: int,
    chosen: list[int],
    replace: Callable[[Tensor], Tensor],
    _: nn.Module,
    args: tuple[Tensor],
) -> Tensor:
    """Return what the last matrix of a layer reads instead of its argument."""
    outputs = split_heads(args[0], n_heads)
    index = torch.tensor(chosen, dtype=torch.long, device=outputs.device)
    return merge_heads(outputs.index_copy(1, index, replace(outputs[:, chosen])))


@torch.no_grad()
def logit_lens(
    model: Decoder, tokens: Int[Tensor, "batch seq"]
) -> Float[Tensor, "n_layers batch seq vocab"]:
    """Return the logits that each block's output would give, were it the last one.

    The final norm and the unembedding read it; the last are the model's own logits.
    Source: nostalgebraist 2020; Belrose et al. 2023, section 2.
    """
    states: list[Tensor] = []

    def keep(_: nn.Module, args: Any, state: Tensor) -> None:
        states.append(state)

    with ExitStack() as hooks:
        for block in model.stack.blocks:
            hooks.enter_context(block.register_forward_hook(keep))
        model(tokens)
    return torch.stack([model.unembedding.logits(model.stack.norm(x)) for x in states])


def previous_token_score(
    weights: Float[Tensor, "batch n_heads seq seq"],
) -> Float[Tensor, " n_heads"]:
    """Return each head's mean weight on the token just before.

    Source: Olsson et al. 2022, Data Collection, (3) Head activation evaluators.

    Raises:
        ValueError: if queries and keys are not the same two tokens or more.
    """
    _check_square(weights, 2)
    return _mean_weight(weights, 1)


def induction_score(
    weights: Float[Tensor, "batch n_heads seq seq"], period: int
) -> Float[Tensor, " n_heads"]:
    """Return each head's mean weight on what followed the token, one period ago.

    Meant for ``period`` random tokens and the same again: a head that attends from each
    token of the second copy to the one after its first occurrence knows what comes
    next. Source: Olsson et al. 2022, Data Collection, (3) Head activation evaluators,
    under the name of prefix matching.

    Raises:
        ValueError: if the period is below 2, or no token belongs to a second copy.
    """
    if period < 2:
        raise ValueError(f"period must be at least 2 tokens, got {period}")
    _check_square(weights, period + 1)
    return _mean_weight(weights[..., 1:, 1:], period - 1)


def _mean_weight(weights: Tensor, distance: int) -> Tensor:
    """Average over the batch and over all queries that have a key so far back."""
    return weights.diagonal(-distance, dim1=-2, dim2=-1).mean(dim=(0, -1))


def _check_heads(
    layers: Mapping[str, MultiHeadAttention], heads: Mapping[str, Sequence[int]]
) -> None:
    """Refuse names of no layer and numbers of no head, before anything is changed."""
    strangers = sorted(set(heads) - set(layers))
    if strangers:
        raise ValueError(
            f"heads are chosen by the names of attention layers, {sorted(layers)}, "
            f"got {strangers}"
        )
    for name, chosen in heads.items():
        last = layers[name].n_heads - 1
        if not all(0 <= head <= last for head in chosen):
            raise ValueError(
                f"heads of {name} must be from 0 to n_heads - 1 = {last}, "
                f"got {list(chosen)}"
            )


def _check_square(weights: Tensor, shortest: int) -> None:
    """Refuse weights that are not those of one long enough sequence on itself."""
    q_len, kv_len = weights.shape[-2:]
    if q_len != kv_len or q_len < shortest:
        raise ValueError(
            "a score needs the weights of a whole sequence of at least "
            f"{shortest} tokens, got q_len={q_len}, kv_len={kv_len}"
        )
