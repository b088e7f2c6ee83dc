"""multihead: heads, what reaches the kernel, every refusal."""

import math

import torch
from refusals import refused
from samples import normal, without_hook

from transformer_lib.attention import attention, fused_attention
from transformer_lib.multihead import MultiHeadAttention, merge_heads, split_heads

BARE = without_hook("transformer_lib/multihead")
BARE_ATTENTION = without_hook("transformer_lib/attention").attention


def test_heads_are_pieces_side_by_side():
    for batch in ((), (2,), (2, 3)):
        x = normal(0, *batch, 5, 12)
        heads = split_heads(x, 4)
        assert heads.shape == (*batch, 4, 5, 3)
        for head in range(4):
            assert heads[..., head, :, :].equal(x[..., 3 * head : 3 * head + 3])
        assert merge_heads(heads).equal(x)


def test_key_heads_may_be_fewer_and_all_heads_have_a_width_of_their_own():
    layer = MultiHeadAttention(12, 6, 2)
    assert layer.attend is fused_attention
    shapes = {name: tuple(x.shape) for name, x in layer.named_parameters()}
    assert shapes == {
        "query.weight": (12, 12),
        "key.weight": (4, 12),
        "value.weight": (4, 12),
        "out.weight": (12, 12),
    }
    wide = MultiHeadAttention(6, 4, 2, d_head=5, bias=True)
    assert wide.query.weight.shape == (20, 6)
    assert wide.key.bias.shape == (10,)
    assert wide.out.weight.shape == (6, 20)
    for layer in (wide, MultiHeadAttention(6, 4, d_head=1)):
        assert layer(normal(0, 2, 3, 6)).shape == (2, 3, 6)


def test_matrices_start_as_glorot_and_bengio_say():
    torch.manual_seed(0)
    weight = MultiHeadAttention(100, 4, 1, bias=True).key.weight
    limit = math.sqrt(6 / (100 + 25))
    assert 0.98 * limit < weight.abs().max() <= limit


class Recorder:
    """An `Attend` that notes what it is asked."""

    def __call__(self, query, key, value, mask=None, *, dropout=0.0):
        self.asked = {"query": query, "key": key, "mask": mask, "dropout": dropout}
        return attention(query, key, value, mask)


def asked(mask=None, *, training=False):
    recorder = Recorder()
    layer = MultiHeadAttention(4, 2, dropout=0.25, attend=recorder).train(training)
    layer(normal(0, 3, 5, 4), mask=mask)
    return recorder.asked


def test_a_mask_reaches_the_kernel_as_it_is_and_dropout_in_training_only():
    assert asked(training=True)["dropout"] == 0.25
    assert asked(training=False)["dropout"] == 0.0
    masks = [torch.ones(s).bool() for s in ((5, 5), (3, 1, 1, 5), (3, 2, 5, 5))]
    for mask in (*masks, "causal", None):
        assert asked(mask)["mask"] is mask


X, LAYER = torch.zeros(2, 3, 4), BARE.MultiHeadAttention
WIDTH = "n_heads must divide the width, got n_heads={}, width=4"
D_MODEL = "n_heads must divide d_model, got n_heads={}, d_model=30"
KV_HEADS = "n_kv_heads must divide n_heads, got n_kv_heads={}, n_heads=4"
REFUSED = {
    **{WIDTH.format(n): lambda n=n: BARE.split_heads(X, n) for n in (3, 0)},
    **{D_MODEL.format(n): lambda n=n: LAYER(30, n) for n in (4, 0)},
    **{KV_HEADS.format(n): lambda n=n: LAYER(12, 4, n) for n in (3, 0)},
    "d_head must be at least 1, got 0": lambda: LAYER(12, 4, d_head=0),
    r"\(q_len, kv_len\) or .*, got \(2, 3, 3\); .* mask\[:, None\]": (
        lambda: LAYER(4, 2)(X, mask=torch.zeros(2, 3, 3))
    ),
    r"a mask must broadcast to .* = \(2, 2, 3, 3\), got \(3, 5\)": (
        lambda: LAYER(4, 2, attend=BARE_ATTENTION)(X, mask=torch.zeros(3, 5))
    ),
}


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED.items():
        with refused(message):
            call()
