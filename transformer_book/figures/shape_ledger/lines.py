"""The lines of a decoder's forward pass: shapes, parameters, FLOPs and bytes.

The decoder is `transformer_lib.decoder.Decoder` in GPT-2's form. FLOPs are those of
matrix products, two for each multiply-add, as PyTorch's own counter has them; bytes
are those of each result in float32, and of token numbers in int64.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

SMALL = 4
"""Tokens and heads that the picture of the reshape shows at most."""


class Line(NamedTuple):
    """One line: what it makes and costs, in one block."""

    name: str
    part: str
    blocks: int
    shape: tuple[int, ...]
    params: int = 0
    flops: int = 0
    copies: int = 1
    width: int = 4  # bytes of a number; 0 for a view

    @property
    def n_bytes(self) -> int:
        """Bytes of the result."""
        return self.width * self.copies * prod(self.shape)


def lines(state: Mapping[str, Any]) -> list[Line]:
    """Walk through the forward pass, a line at a time."""
    b, t, d = (state[name] for name in ("batch", "length", "d_model"))
    n, v = state["n_layers"], state["vocab_size"]
    last = 0 if state["tied"] else v * d
    return [
        Line("tokens", "embed", 1, (b, t), width=8),
        Line("embedding", "embed", 1, (b, t, d), v * d),
        Line("x + positions", "embed", 1, (b, t, d), state["max_len"] * d),
        *_attention(b, t, d, state["n_heads"], n),
        *_feed_forward(b, t, d, state["d_ff"] or 4 * d, n),
        Line("norm(x)", "end", 1, (b, t, d), 2 * d),
        Line("logits", "end", 1, (b, t, v), last, 2 * b * t * d * v),
    ]


def _attention(b: int, t: int, d: int, h: int, n: int) -> list[Line]:
    part, x, heads, scores = "attention", (b, t, d), (b, h, t, d // h), (b, h, t, t)
    square, products = 2 * b * t * d * d, 2 * b * t * t * d
    weights = d * d + d
    return [
        Line("norm(x)", part, n, x, 2 * d),
        Line("query, key, value", part, n, x, 3 * weights, 3 * square, 3),
        Line("split_heads", part, n, heads, copies=3, width=0),
        Line("query @ key.mT", part, n, scores, 0, products),
        Line("softmax(scores)", part, n, scores),
        Line("weights @ value", part, n, heads, 0, products),
        Line("merge_heads", part, n, x),
        Line("out", part, n, x, weights, square),
        Line("x + attention", part, n, x),
    ]


def _feed_forward(b: int, t: int, d: int, f: int, n: int) -> list[Line]:
    part, x, wide = "ff", (b, t, d), (b, t, f)
    return [
        Line("norm(x)", part, n, x, 2 * d),
        Line("up", part, n, wide, d * f + f, 2 * b * t * d * f),
        Line("gelu", part, n, wide),
        Line("down", part, n, x, d * f + d, 2 * b * t * d * f),
        Line("x + feed_forward", part, n, x),
    ]


def own_places(length: int, n_heads: int) -> int:
    """Count the places in all heads that hold their own token after a wrong reshape.

    Without the transpose, position t of head j gets piece number j * length + t of
    the flat tensor, which belongs to token (j * length + t) // n_heads.
    """
    step = n_heads - 1
    return sum(
        (t + 1) * step // length - -(-t * step // length) + 1 for t in range(length)
    )


def sources(length: int, n_heads: int, wrong: bool) -> list[list[int]]:
    """Return which token each position of each head gets its piece from."""
    return [
        [(j * length + t) // n_heads if wrong else t for t in range(length)]
        for j in range(n_heads)
    ]
