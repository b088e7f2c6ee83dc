"""The shape annotations are enforced here, and they refuse only what is wrong."""

import pytest
import torch
from jaxtyping import TypeCheckError

from transformer_lib.attention import attention, attention_weights, fused_attention
from transformer_lib.masks import causal_mask, document_mask, padding_mask
from transformer_lib.positions import (
    AlibiPositions,
    SinusoidalPositions,
    alibi_slopes,
    apply_rotary,
    sinusoid,
)

P = torch.arange(5)
X = torch.zeros(5, 4)

REFUSED = {
    "key of another width": lambda: attention(X, torch.zeros(5, 6), X),
    "one value too few": lambda: attention(X, X, torch.zeros(4, 4)),
    "batches of another size": lambda: fused_attention(
        torch.zeros(2, 5, 4), torch.zeros(3, 5, 4), torch.zeros(2, 5, 4)
    ),
    "integer queries": lambda: attention(X.long(), X, X),
    "a query without a sequence": lambda: attention_weights(X[0], X),
    "integer mask": lambda: attention(X, X, X, torch.ones(5, 5).long()),
    "mask of another length": lambda: attention(X, X, X, torch.ones(5, 6).bool()),
    "unknown mask word": lambda: attention(X, X, X, "casual"),
    "list as mask": lambda: attention(X, X, X, [[True]]),
    "one position too many": lambda: apply_rotary(X, torch.arange(6)),
    "integer vectors": lambda: apply_rotary(X.long(), P),
    "fractions where rows are counted": lambda: SinusoidalPositions().embed(
        X, P.float()
    ),
    "text as width": lambda: sinusoid(P, "4"),
    "fractions as positions of a mask": lambda: causal_mask(P.float(), P),
    "batch on one side only": lambda: causal_mask(P.expand(2, 5), P),
    "fractions as lengths": lambda: padding_mask(P.float(), 5),
    "fractions as documents": lambda: document_mask(P, P / 2),
    "half a head": lambda: alibi_slopes(0.5),
    "scalar positions": lambda: AlibiPositions(2).bias(torch.tensor(1), P),
}


def test_a_wrong_shape_or_dtype_is_refused():
    for wrong, call in REFUSED.items():
        with pytest.raises(TypeCheckError):
            pytest.fail(f"{wrong} is accepted: {call()}")


EACH = torch.stack((P, P + 3))  # positions per sequence
ACCEPTED = [
    (lambda: sinusoid(P, 4), (5, 4)),
    (lambda: sinusoid(EACH, 4), (2, 5, 4)),
    (lambda: apply_rotary(torch.zeros(2, 3, 5, 4), P), (2, 3, 5, 4)),
    (lambda: apply_rotary(torch.zeros(2, 3, 5, 4), EACH[:, None]), (2, 3, 5, 4)),
    (lambda: SinusoidalPositions().embed(torch.zeros(2, 5, 4), P), (2, 5, 4)),
    (lambda: causal_mask(EACH, EACH), (2, 5, 5)),
    (lambda: AlibiPositions(3).bias(P[4:], P), (3, 1, 5)),
    (lambda: AlibiPositions(3).bias(EACH, EACH), (2, 3, 5, 5)),
    (lambda: padding_mask(torch.tensor([[1, 2], [3, 4]]), 5), (2, 2, 1, 5)),
    (lambda: padding_mask(torch.tensor([1], dtype=torch.int32), 5), (1, 1, 5)),
]
HEADS, MASKS = torch.zeros(2, 4, 3, 6), [(3, 1), (1, 3), (4, 1, 3), (2, 1, 1, 3)]
ACCEPTED += [
    (lambda mask=mask: attention(HEADS, HEADS, HEADS, mask), (2, 4, 3, 6))
    for shape in MASKS
    for mask in (torch.zeros(shape), torch.ones(shape).bool())
]


def test_positions_may_have_batch_axes_or_none_and_masks_any_that_broadcast():
    for call, shape in ACCEPTED:
        assert call().shape == shape
