"""blocks: equal to torch.nn's; what a config says, and every refusal."""

import json
import math
import re
from functools import partial
from typing import get_args, get_type_hints

import pytest
import torch
import torch.nn.functional as F
from models import TINY, tiny
from refusals import refused
from samples import normal, without_hook
from tolerances import assert_near, assert_same
from torch import nn
from torch.func import functional_call

from transformer_lib.attention import attention
from transformer_lib.blocks import (
    FEED_FORWARDS,
    NORMS,
    POSITIONS,
    RESIDUALS,
    BatchNorm,
    Config,
    FeedForward,
    LayerNorm,
    PostNorm,
    PreNorm,
    RMSNorm,
    Stack,
    SwiGLU,
    attention_layer,
    layer_norm,
    norm_layer,
    residual_layer,
    rms_norm,
)
from transformer_lib.cache import LayerCache, new_cache
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B
from transformer_lib.encoder_decoder import (
    TRANSFORMER_BASE,
    TRANSFORMER_BIG,
    CrossBlock,
)

BARE_CONFIG = without_hook("transformer_lib/blocks/config")
SIZES = {"vocab_size": 13, "d_model": 16, "n_layers": 2, "n_heads": 4}
SIZES |= {"d_ff": 20, "max_len": 9}
PRESETS = [TINY, GPT2_SMALL, LLAMA_3_2_1B, TRANSFORMER_BASE, TRANSFORMER_BIG]
TABLES = {
    "norm": NORMS,
    "feed_forward": FEED_FORWARDS,
    "residual": RESIDUALS,
    "positions": POSITIONS,
}


def test_heads_are_what_is_given_or_what_follows():
    assert (TINY.kv_heads, TINY.head_width) == (4, 4)
    given = tiny(n_kv_heads=2, d_head=6)
    assert (given.kv_heads, given.head_width) == (2, 6)
    assert tiny(n_heads=3, d_head=6).head_width == 6
    # odd widths are right where nothing comes in pairs
    assert tiny(d_model=15, n_heads=3, positions="learned").head_width == 5
    assert tiny(d_head=3, positions="alibi").head_width == 3


def test_a_config_comes_back_from_json():
    for config in PRESETS:
        assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_the_words_of_the_type_are_those_of_the_table():
    for field, table in TABLES.items():
        assert set(get_args(get_type_hints(Config)[field])) == set(table)
        for word in table:
            assert getattr(tiny(**{field: word}), field) == word
        with pytest.raises(TypeError):
            table["mine"] = table[word]
        with refused(re.escape(f"{field} must be one of {sorted(table)}, got 'no'")):
            BARE_CONFIG.Config(**SIZES, **{field: "no"})


OWN = "a config has exactly its own fields, got unknown "
EVEN, ODD = "positions need an even width", {"d_model": 15, "n_heads": 3}
RANGE = "dropout must be from 0 to below 1, got"
REFUSED = {
    "n_heads must divide d_model, got n_heads=3, d_model=16": {"n_heads": 3},
    "n_kv_heads must divide n_heads, got n_kv_heads=3, n_heads=4": {"n_kv_heads": 3},
    f"rotary {EVEN}, got 3; change d_model or n_heads": {"d_head": 3},
    f"sinusoidal {EVEN}, got 15; ": {**ODD, "positions": "sinusoidal"},
    f"^{RANGE} 1.0": {"dropout": 1.0},
    f"attention_{RANGE} -0.1": {"attention_dropout": -0.1},
    rf"{OWN}\['d_modal'\] and missing \[\]": {"d_modal": 3},
    rf"{OWN}\[\] and missing \['d_ff', 'n_heads'\]": {"d_ff": None, "n_heads": None},
}
TOO_SMALL = [*({name: 0} for name in (*SIZES, "window", "d_head"))]
TOO_SMALL += [{"d_ff": -1, "max_len": 0}]
REFUSED |= {f"sizes must be at least 1, got {wrong}": wrong for wrong in TOO_SMALL}


def test_what_does_not_fit_is_refused():
    for message, changes in REFUSED.items():
        fields = {k: v for k, v in {**SIZES, **changes}.items() if v is not None}
        with refused(message):
            BARE_CONFIG.Config.from_dict(fields)


NORM_KINDS = {
    "layer": (LayerNorm, layer_norm, F.layer_norm, {"weight", "bias"}),
    "layer without shift": (LayerNorm, layer_norm, F.layer_norm, {"weight"}),
    "rms": (RMSNorm, rms_norm, F.rms_norm, {"weight"}),
}


@pytest.mark.parametrize(
    ("size", "dtype"),
    [(1e-3, torch.float64), (1.0, torch.float32), (1e2, torch.float32)],
)
@pytest.mark.parametrize("name", NORM_KINDS)
def test_norms_and_their_definitions_equal_pytorch_s(name, size, dtype):
    kind, definition, reference, names = NORM_KINDS[name]
    layer = kind(6, eps=1e-2, bias="bias" in names).to(dtype)
    start = dict(layer.named_parameters())
    assert start.keys() == names

    def ours(x, *weights):
        return functional_call(layer, dict(zip(start, weights, strict=True)), x)

    def theirs(x, *weights):
        return reference(x, (6,), *weights, eps=1e-2)

    x = size * (1 + normal(0, 2, 3, 6, dtype=dtype))
    weights = [normal(seed, 6, dtype=dtype) for seed, _ in enumerate(names, 1)]
    defined = partial(definition, eps=1e-2)
    assert_same(ours, theirs, x, *weights)
    assert_same(defined, theirs, x, *weights)
    assert_same(defined, theirs, x)
    assert_near(layer(x), theirs(x))  # scales start with 1, shifts with 0
    assert layer.bfloat16()(x.bfloat16()).dtype == torch.bfloat16


def test_layer_norm_may_shift_without_a_scale():
    x, shift = normal(0, 2, 4), normal(1, 4)
    assert_near(layer_norm(x, bias=shift), layer_norm(x) + shift)
    assert_near(layer_norm(x), F.layer_norm(x, (4,), eps=1e-5))
    assert_near(rms_norm(x), F.rms_norm(x, (4,), eps=1e-5))


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(training):
    theirs = nn.BatchNorm1d(6, eps=1e-2).double()
    for seed, statistics in enumerate(theirs.state_dict().values()):
        if statistics.ndim:
            statistics.copy_(normal(seed, 6).abs())
    ours = BatchNorm(6, eps=1e-2).double().train(training)
    ours.features.load_state_dict(theirs.state_dict())
    theirs.train(training)
    # one row per token, as PyTorch's takes them
    x = normal(9, 2, 3, 6, dtype=torch.float64)
    assert_same(ours, lambda x: theirs(x.flatten(0, 1)).view_as(x), x)
    assert_near(ours.features.running_var, theirs.running_var)


def test_shifts_come_with_every_matrix_or_with_none():
    for word, matrices in (("relu", 2), ("swiglu", 3)):
        for bias in (True, False):
            layer = FEED_FORWARDS[word](tiny(bias=bias))
            names = [name for name, _ in layer.named_parameters()]
            assert sum(name.endswith("weight") for name in names) == matrices
            assert sum(name.endswith("bias") for name in names) == matrices * bias


def test_matrices_start_as_glorot_and_bengio_say():
    limit = math.sqrt(6 / (4 + 60))
    for layer in (FeedForward(4, 60, F.relu), SwiGLU(4, 60)):
        for name, weight in layer.named_parameters():
            assert 0.95 * limit < weight.abs().max() <= limit, name


BARE_STACK = without_hook("transformer_lib/blocks/stack")
STREAM = normal(0, 2, 5, 16)


def test_only_pre_norm_needs_a_norm_at_the_end():
    for word, *kinds in (("pre", PreNorm, RMSNorm), ("post", PostNorm, nn.Identity)):
        stack = Stack(tiny(residual=word))
        assert len(stack.blocks) == 2
        layers = stack.blocks[0].attention, stack.blocks[1].feed_forward
        assert [*map(type, (*layers, stack.norm))] == [kinds[0], *kinds]


def test_layers_are_what_the_config_says():
    heads = {"n_kv_heads": 2, "d_head": 6, "bias": True, "window": 3}
    layer = attention_layer(tiny(**heads, attention_dropout=0.5), attention)
    assert (layer.n_heads, layer.n_kv_heads, layer.d_head) == (4, 2, 6)
    assert layer.dropout == 0.5
    assert layer.attend is attention  # whoever looks elsewhere has no window
    assert layer.out.bias is not None
    norm = norm_layer(tiny(norm="layer", norm_eps=0.25))
    assert isinstance(norm, LayerNorm)
    assert (norm.eps, norm.bias) == (0.25, None)
    assert norm_layer(tiny(norm="layer", bias=True)).bias is not None
    assert residual_layer(tiny(dropout=0.3), nn.Identity()).dropout == 0.3


def passing(**changes):
    return Stack(tiny(**changes), block=lambda config, attend: Pass())


def test_dropout_acts_on_the_embeddings_in_training_only():
    stack = passing(dropout=0.5, positions="none", residual="post")
    torch.manual_seed(0)
    dropped = stack(STREAM) == 0
    assert 0.3 < dropped.float().mean() < 0.7
    assert stack.eval()(STREAM).equal(STREAM)


class Pass(nn.Module):
    """A block that notes what it is told."""

    def forward(self, x, *more, **told):
        self.told = told
        return x


def told(kind="none", x=STREAM, **words):
    stack = passing(positions=kind)
    stack(x, **words)
    return stack.blocks[1].told


def test_a_mask_per_sequence_gets_an_axis_for_the_heads():
    reached = {(5, 5): (5, 5), (2, 1, 5): (2, 1, 1, 5), (2, 4, 5, 5): (2, 4, 5, 5)}
    for shape, want in reached.items():
        assert told(mask=torch.ones(shape).bool())["mask"].shape == want


def test_a_mask_loses_the_keys_that_a_window_dropped():
    cache = new_cache(tiny(window=3), 2, 8)
    for store in cache:
        store.update(torch.zeros(2, 4, 6, 4), torch.zeros(2, 4, 6, 4))
    each, one_for_all = torch.arange(7)[None] % 3 > 0, torch.ones(1, 1).bool()
    for mask, want in ((each, each[:, 4:]), (one_for_all, one_for_all)):
        stack = passing(window=3)
        stack(STREAM[:, :1], mask=mask, cache=cache)
        assert stack.blocks[1].told["mask"].equal(want)


SEES = torch.tensor([[True, True], [False, True]])
# slopes are 2^-2, 2^-4, 2^-6 and 2^-8
DISTANCE = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
BIAS = -torch.tensor([0.25, 0.0625, 2.0**-6, 2.0**-8])[:, None, None] * DISTANCE
HIDES = torch.tensor([[0.0, 0.0], [-torch.inf, 0.0]])


def test_a_bias_of_positions_joins_every_mask():
    for mask, want in (
        (None, BIAS),
        ("causal", BIAS + HIDES.T),
        (SEES, BIAS + HIDES),
        (SEES.expand(2, 2, 2), BIAS + HIDES),  # per sequence
        (SEES.expand(2, 4, 2, 2), BIAS + HIDES),  # per head
        (torch.full((2, 2), 3.0), BIAS + 3),
    ):
        said = told("alibi", STREAM[:, :2], mask=mask)["mask"]
        assert said.ndim == 4
        assert_near(said.expand(2, 4, 2, 2), want.expand(2, 4, 2, 2))


def test_a_cache_of_another_depth_is_refused():
    with refused("a cache has one store per layer, got 1 for 2 layers"):
        BARE_STACK.Stack(tiny())(STREAM, cache=[LayerCache(2, 4, 8, 4)])


@pytest.mark.parametrize("order", [PreNorm, PostNorm])
def test_dropout_drops_what_the_layer_adds_and_never_the_stream(order):
    torch.manual_seed(0)
    layer, x = order(nn.Identity(), nn.Identity(), 0.25), torch.ones(1, 40, 50)
    dropped = layer(x)
    kept = dropped > 1
    assert dropped[~kept].eq(1).all()
    assert_near(dropped[kept], torch.full_like(dropped[kept], 1 + 1 / 0.75))
    assert 0.70 < kept.float().mean() < 0.80
    assert layer.eval()(x).equal(2 * x)


D_MODEL, N_HEADS, LENGTH, SOURCE = 16, 4, 5, 7
HIDDEN = torch.tensor([[False] * SOURCE, [False] * 4 + [True] * 3])
X, STATES = (
    normal(seed, 2, length, D_MODEL, dtype=torch.float64)
    for seed, length in enumerate((LENGTH, SOURCE))
)
OURS = {
    "self_attn": "attention.layer",
    "multihead_attn": "cross.layer",
    "linear1": "feed_forward.layer.up",
    "linear2": "feed_forward.layer.down",
}


def drawn(module):
    """Draw every parameter, so that no shift is 0 and no scale is 1."""
    torch.manual_seed(0)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    return module.double()


def attention_weights(theirs):
    """Return what ``nn.MultiheadAttention`` packs into one, under our four names."""
    state = {}
    for kind in ("weight", "bias"):
        packed = getattr(theirs, f"in_proj_{kind}").chunk(3)
        for name, part in zip(("query", "key", "value"), packed, strict=True):
            state[f"{name}.{kind}"] = part
        state[f"out.{kind}"] = getattr(theirs.out_proj, kind)
    return state


def layer_weights(theirs):
    """Return the weights of PyTorch's decoder layer, under our names."""
    layers = ("attention", "cross", "feed_forward")
    names = OURS | {f"norm{i}": f"{layer}.norm" for i, layer in enumerate(layers, 1)}
    state = {}
    for name, part in theirs.named_children():
        if name in names:
            is_packed = isinstance(part, nn.MultiheadAttention)
            weights = attention_weights(part) if is_packed else part.state_dict()
            state |= {f"{names[name]}.{key}": x for key, x in weights.items()}
    return state


@pytest.mark.parametrize("residual", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_decoder_layer_is_pytorch_s(residual, activation):
    sizes = {"dim_feedforward": 20, "dropout": 0.0, "layer_norm_eps": 1e-3}
    words = {"activation": activation, "norm_first": residual == "pre"}
    kind = nn.TransformerDecoderLayer
    theirs = drawn(kind(D_MODEL, N_HEADS, **sizes, **words, batch_first=True))
    words = {"norm": "layer", "feed_forward": activation, "residual": residual}
    config = tiny(**words, positions="none", bias=True, norm_eps=1e-3)
    ours = CrossBlock(config).double()
    ours.load_state_dict(layer_weights(theirs))
    later = torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)
    assert_same(
        lambda x, states: ours(x, states, ~HIDDEN[:, None, None], mask="causal"),
        lambda x, states: theirs(
            x, states, tgt_mask=later, memory_key_padding_mask=HIDDEN
        ),
        X,
        STATES,
    )
