"""Multi-head attention: the same attention in several small spaces at once."""

from typing import Literal, Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lib.attention import Attend, fused_attention
from transformer_lib.positions import Rotation

KeysValues = tuple[Tensor, Tensor]
"""Keys and values, each (batch, n_kv_heads, kv_len, d_head)."""

HeadsMask = Bool[Tensor, "..."] | Float[Tensor, "..."] | Literal["causal"]
"""A `Mask` for all sequences and heads (q_len, kv_len), or for each (batch, n_heads,
q_len, kv_len); sizes of 1 stand for all. A `Stack` takes (batch, q_len, kv_len), too.
"""


@runtime_checkable
class KVCache(Protocol):
    """Keeps the keys and values of one layer; ``length`` tokens went in so far.

    One that does not keep all says in ``dropped`` how many of the oldest are gone. One
    that returns all its ``max_len`` columns says in ``filled``, a tensor, how many of
    them count.
    """

    length: int

    def update(self, key: Tensor, value: Tensor) -> KeysValues:
        """Append those of new tokens; return those of all tokens that are kept."""


def split_heads(
    x: Float[Tensor, "*batch seq width"], n_heads: int
) -> Float[Tensor, "*batch {n_heads} seq d_head"]:
    """Cut each token's vector into n_heads pieces and put the heads before seq.

    Source: Vaswani et al. 2017, section 3.2.2.

    Raises:
        ValueError: if the heads do not divide the width.
    """
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(
            f"n_heads must divide the width, got n_heads={n_heads}, width={x.shape[-1]}"
        )
    d_head = x.shape[-1] // n_heads
    return x.reshape(*x.shape[:-1], n_heads, d_head).transpose(-3, -2)


def merge_heads(
    x: Float[Tensor, "*batch n_heads seq d_head"],
) -> Float[Tensor, "*batch seq width"]:
    """Put the pieces of each token's vector side by side again.

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Project, split into heads, attend in each, merge, project.

    With fewer ``n_kv_heads`` than ``n_heads``, each serves a group of query heads
    (GQA; Ainslie et al. 2023, section 2.2), and one serves all (MQA; Shazeer 2019,
    section 3). ``attend`` is the kernel: any `Attend`. Source: Vaswani et al. 2017,
    section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        d_head: int | None = None,
        bias: bool = False,
        dropout: float = 0.0,
        attend: Attend = fused_attention,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_heads(d_model, n_heads, n_kv_heads, d_head)
        d_head = d_model // n_heads if d_head is None else d_head
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_head
        self.dropout, self.attend = dropout, attend
        self.query = nn.Linear(d_model, n_heads * d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.out = nn.Linear(n_heads * d_head, d_model, bias=bias)
        for linear in (self.query, self.key, self.value, self.out):
            nn.init.xavier_uniform_(linear.weight)

    def forward(
        self,
        x: Float[Tensor, "batch q_len d_model"],
        context: Float[Tensor, "batch kv_len d_model"] | KeysValues | None = None,
        *,
        mask: HeadsMask | None = None,
        rotate: Rotation | None = None,
        cache: KVCache | None = None,
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Let x attend to the context: another sequence, its keys and values, or x.

        Raises:
            ValueError: if a mask has three axes.
        """
        _check_axes(mask)
        query = split_heads(self.query(x), self.n_heads)
        if isinstance(context, tuple):
            key, value = context
        else:
            key, value = self.keys_values(x if context is None else context)
        if rotate is not None:
            query, key = rotate(query), rotate(key)
        if cache is not None:
            key, value = cache.update(key, value)
        dropout = self.dropout if self.training else 0.0
        return self.out(
            merge_heads(self.attend(query, key, value, mask, dropout=dropout))
        )

    def keys_values(self, context: Float[Tensor, "batch kv_len d_model"]) -> KeysValues:
        """Return what queries attend to; compute it once where the context stays."""
        key = split_heads(self.key(context), self.n_kv_heads)
        return key, split_heads(self.value(context), self.n_kv_heads)


def check_heads(
    d_model: int, n_heads: int, n_kv_heads: int, d_head: int | None
) -> None:
    """Refuse heads that cannot be split or grouped evenly, or have no width.

    Raises:
        ValueError: if a number does not divide what it must divide, or is below 1.
    """
    if d_head is not None and d_head < 1:
        raise ValueError(f"d_head must be at least 1, got {d_head}")
    if n_heads < 1 or (d_head is None and d_model % n_heads):
        raise ValueError(
            f"n_heads must divide d_model, got n_heads={n_heads}, d_model={d_model}"
        )
    if n_kv_heads < 1 or n_heads % n_kv_heads:
        raise ValueError(
            "n_kv_heads must divide n_heads, got "
            f"n_kv_heads={n_kv_heads}, n_heads={n_heads}"
        )


def _check_axes(mask: HeadsMask | None) -> None:
    """Refuse a mask whose sequences would be taken for heads."""
    if isinstance(mask, Tensor) and mask.ndim == 3:
        raise ValueError(
            "a mask must have the axes (q_len, kv_len) or (batch, n_heads, q_len, "
            f"kv_len), got {tuple(mask.shape)}; give it an axis for the heads: "
            "mask[:, None]"
        )
