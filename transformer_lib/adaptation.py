"""Adaptation: change or shrink a trained model without training all of it again.

LoRA trains two narrow matrices beside a frozen one, quantization stores weights in
fewer bits, and distillation teaches a small model what a large one predicts.
"""

from collections.abc import Callable, Collection
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int, Int8, UInt8
from torch import Tensor, nn

from transformer_lib.cache import quantize
from transformer_lib.embeddings import Embedding, rows_of

FEW = 16
"""Up to so many vectors, `int8_product` reads the integers themselves."""


class LoRALinear(nn.Module):
    """A frozen linear layer, plus a trainable ``up @ down`` of rank ``rank``.

    ``up`` starts at zero, so the layer starts out as the frozen one; ``down`` must not,
    or neither would get a gradient. Source: Hu et al. 2022, section 4.1.

    Raises:
        ValueError: if the rank is below 1, or larger than one of the layer's widths.
    """

    def __init__(
        self, linear: "nn.Linear | QuantizedLinear", rank: int, *, alpha: float
    ) -> None:
        super().__init__()
        d_out, d_in = linear.weight.shape
        _check_rank(rank, d_in, d_out)
        self.linear, self.scale = linear.requires_grad_(False), alpha / rank
        self.down = nn.Parameter(linear.weight.new_empty(rank, d_in))
        self.up = nn.Parameter(linear.weight.new_zeros(d_out, rank))
        nn.init.normal_(self.down, std=d_in**-0.5)

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Return the frozen layer's output plus the update's."""
        return self.linear(x) + self.scale * F.linear(F.linear(x, self.down), self.up)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Return one frozen linear layer with the same outputs."""
        weight = self.linear.weight + self.scale * self.up @ self.down
        d_out, d_in = weight.shape
        linear = nn.Linear(d_in, d_out, bias=False, device="meta")
        linear.weight = nn.Parameter(weight, requires_grad=False)
        linear.bias = self.linear.bias
        return linear


def add_lora(
    model: nn.Module,
    rank: int,
    *,
    alpha: float = 16.0,
    names: Collection[str] = ("query", "value"),
) -> nn.Module:
    """Freeze a model, and let every linear layer of these names adapt by `LoRALinear`.

    The model is changed in place; it computes what it did until it is trained.
    Source: Hu et al. 2022, sections 4.2 and 7.1 (which layers).

    Raises:
        ValueError: if no layer has such a name, or the rank does not fit.
    """
    model.requires_grad_(False)
    wrap = partial(LoRALinear, rank=rank, alpha=alpha)
    if not _replace(model, (nn.Linear, QuantizedLinear), wrap, names):
        raise ValueError(
            f"a model to adapt must have linear layers named {sorted(names)}, "
            f"got none in {type(model).__name__}"
        )
    return model


def merge_lora(model: nn.Module) -> nn.Module:
    """Add each `LoRALinear`'s update to its weight, in place; all names are as before.

    Source: Hu et al. 2022, section 4.1.

    Raises:
        ValueError: if there is nothing to merge.
    """
    if not _replace(model, (LoRALinear,), LoRALinear.merged):
        raise ValueError(
            "a model to merge must have LoRALinear layers, got none in "
            f"{type(model).__name__}; merge it once"
        )
    return model


def rounded_product(x: Tensor, layer: "QuantizedLinear") -> Tensor:
    """Compute the rounded weight, then the product with it."""
    return F.linear(x, layer.weight, layer.bias)


def int8_product(x: Tensor, layer: "QuantizedLinear") -> Tensor:
    """Return `rounded_product` from the integers themselves: (x @ numbersᵀ) * scale.

    PyTorch's kernel reads a byte per weight, where `rounded_product` writes and reads
    four more. It multiplies in bfloat16, whatever the dtype of x. It is made for few
    vectors: more than `FEW`, as those of a prompt, are left to `rounded_product`.

    Raises:
        ValueError: if the integers are not int8, or a channel has not one scale.
    """
    if layer.bits != 8 or len(layer.scale) != len(layer.numbers):
        raise ValueError(
            "int8_product needs 8 bits and one scale per output channel, got "
            f"{layer.bits} bits and {len(layer.scale)} scales for "
            f"{len(layer.numbers)} channels"
        )
    flat = x.reshape(-1, x.shape[-1]).bfloat16()
    if len(flat) > FEW:
        return rounded_product(x, layer)
    scale = layer.scale.flatten().bfloat16()
    out = torch._weight_int8pack_mm(flat, layer.numbers, scale)
    out = out.view(*x.shape[:-1], -1).to(x.dtype)
    return out if layer.bias is None else out + layer.bias


class QuantizedLinear(nn.Module):
    """A linear layer whose weight is stored as int8 or int4, with a scale per group.

    A group is ``group_size`` weights in a row of memory, or all if there are fewer:
    one output channel unless given. ``product`` multiplies: `rounded_product`, or
    `int8_product` for speed. Source: Dettmers et al. 2022, section 3.1; Dettmers et
    al. 2023, section 2 (parts of a channel).

    Raises:
        ValueError: if bits are neither 8 nor 4, or the groups do not fit.
    """

    numbers: Tensor
    scale: Tensor

    def __init__(
        self,
        linear: nn.Linear | Embedding,
        *,
        bits: int = 8,
        group_size: int | None = None,
        product: Callable[[Tensor, "QuantizedLinear"], Tensor] = rounded_product,
    ) -> None:
        super().__init__()
        weight = linear.weight.detach()
        group_size = weight.shape[1] if group_size is None else group_size
        group_size = min(group_size, weight.numel())
        _check_groups(weight, bits, group_size)
        numbers, scale = quantize(weight.reshape(-1, group_size), bits)
        self.bits, self.product = bits, product
        self.bias: Any = getattr(linear, "bias", None)
        self.register_buffer("numbers", _PACK[bits](numbers.view(weight.shape)))
        self.register_buffer("scale", scale)

    @property
    def weight(self) -> Float[Tensor, "d_out d_in"]:
        """The rounded weight: integers times scale."""
        numbers = _UNPACK[self.bits](self.numbers)
        return (numbers.view(len(self.scale), -1) * self.scale).view(numbers.shape)

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Return what a linear layer with the rounded weight returns."""
        return self.product(x, self)


class QuantizedEmbedding(QuantizedLinear):
    """An embedding stored as int8, with a scale per row; it scores by the same rows.

    Source: Dettmers et al. 2022, section 3.1 (a scale per row, of linear layers).
    """

    def __init__(
        self,
        embedding: Embedding,
        product: Callable[[Tensor, QuantizedLinear], Tensor] = rounded_product,
    ) -> None:
        super().__init__(embedding, product=product)
        self.factor = embedding.scale

    def forward(
        self, tokens: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Return the rounded row of each token, scaled as the embedding's was.

        Raises:
            ValueError: if a token has no row.
        """
        scale = rows_of(self.scale, tokens, "tokens", "vocab_size")
        return self.numbers[tokens] * scale * self.factor

    def logits(
        self, x: Float[Tensor, "*batch seq d_model"]
    ) -> Float[Tensor, "*batch seq vocab"]:
        """Return the dot product of each state with each rounded row."""
        return self.product(x, self)


def quantize_embeddings(
    model: nn.Module,
    *,
    product: Callable[[Tensor, QuantizedLinear], Tensor] = rounded_product,
) -> nn.Module:
    """Turn every embedding into a `QuantizedEmbedding`, in place; tied ones stay tied.

    Raises:
        ValueError: if there is no embedding.
    """
    if not _replace(model, (Embedding,), partial(QuantizedEmbedding, product=product)):
        raise ValueError(
            "a model to quantize must have embeddings, got none in "
            f"{type(model).__name__}"
        )
    return model


def quantize_linears(
    model: nn.Module,
    *,
    bits: int = 8,
    group_size: int | None = None,
    product: Callable[[Tensor, QuantizedLinear], Tensor] = rounded_product,
) -> nn.Module:
    """Turn every linear layer of a model into a `QuantizedLinear`, in place.

    Embeddings, norms and biases keep their floats (`quantize_embeddings`). Source:
    Dettmers et al. 2022, section 3.

    Raises:
        ValueError: if there is no linear layer, or the groups do not fit one.
    """
    wrap = partial(QuantizedLinear, bits=bits, group_size=group_size, product=product)
    if not _replace(model, (nn.Linear,), wrap):
        raise ValueError(
            "a model to quantize must have linear layers, got none in "
            f"{type(model).__name__}"
        )
    return model


def pack_int4(numbers: Int8[Tensor, "*batch width"]) -> UInt8[Tensor, "*batch half"]:
    """Put two integers from -8 to 7 into each byte, the first one in the low half.

    Raises:
        ValueError: if the width is odd.
    """
    if numbers.shape[-1] % 2:
        raise ValueError(
            f"int4 needs an even width, two numbers per byte, got {numbers.shape[-1]}"
        )
    low, high = (numbers + 8).to(torch.uint8).unflatten(-1, (-1, 2)).unbind(-1)
    return low | (high << 4)


def unpack_int4(packed: UInt8[Tensor, "*batch half"]) -> Int8[Tensor, "*batch width"]:
    """Return the integers that `pack_int4` packed."""
    halves = torch.stack((packed & 15, packed >> 4), dim=-1)
    return halves.flatten(-2).to(torch.int8) - 8


def distillation_loss(
    student: Float[Tensor, "*batch vocab"],
    teacher: Float[Tensor, "*batch vocab"],
    *,
    temperature: float = 1.0,
) -> Float[Tensor, "*batch"]:
    """Return KL(teacher, student) of each token, both logits divided by a temperature.

    The factor temperature ** 2 keeps the gradients about as large as at 1. No
    gradient reaches the teacher. Source: Hinton et al. 2015, section 2.

    Raises:
        ValueError: if the temperature is not above 0.
    """
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    log_q = (student / temperature).log_softmax(dim=-1)
    log_p = (teacher.detach() / temperature).log_softmax(dim=-1)
    return temperature**2 * (log_p.exp() * (log_p - log_q)).sum(dim=-1)


_PACK: dict[int, Callable[[Tensor], Tensor]] = {8: lambda x: x, 4: pack_int4}
_UNPACK: dict[int, Callable[[Tensor], Tensor]] = {8: lambda x: x, 4: unpack_int4}


def _replace(
    model: nn.Module,
    kinds: tuple[type[nn.Module], ...],
    wrap: Callable[[Any], nn.Module],
    names: Collection[str] | None = None,
) -> int:
    """Replace layers of these kinds by ``wrap(layer)``; return how many.

    A layer in several places, as a tied embedding is, is wrapped once for all.
    """
    found = [
        (path, layer)
        for path, layer in model.named_modules(remove_duplicate=False)
        if path
        and isinstance(layer, kinds)
        and (names is None or path.rpartition(".")[2] in names)
    ]
    wrap_once = cache(wrap)
    for path, layer in found:
        parent, _, name = path.rpartition(".")
        setattr(model.get_submodule(parent), name, wrap_once(layer))
    return len(found)


def _check_rank(rank: int, d_in: int, d_out: int) -> None:
    if not 1 <= rank <= min(d_in, d_out):
        raise ValueError(
            "rank must be from 1 to the smaller width of the layer, got "
            f"rank={rank}, widths {d_in} and {d_out}"
        )


def _check_groups(weight: Tensor, bits: int, group_size: int) -> None:
    if bits not in _PACK:
        raise ValueError(f"bits must be one of {sorted(_PACK)}, got {bits}")
    if group_size < 1 or weight.numel() % group_size:
        raise ValueError(
            "group_size must divide the number of weights, got "
            f"group_size={group_size}, weight {tuple(weight.shape)}"
        )
