"""blocks.config: what it fills in, JSON and back, every refusal."""

import dataclasses
import json
from typing import get_args, get_type_hints

import pytest
from models import TINY, tiny
from samples import without_hook

from transformer_lib.blocks import FEED_FORWARDS, NORMS, POSITIONS, RESIDUALS, Config
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B
from transformer_lib.encoder_decoder import TRANSFORMER_BASE, TRANSFORMER_BIG

BARE = without_hook("transformer_lib/blocks/config")
SIZES = {
    "vocab_size": 13,
    "d_model": 16,
    "n_layers": 2,
    "n_heads": 4,
    "d_ff": 20,
    "max_len": 9,
}
PRESETS = [TINY, GPT2_SMALL, LLAMA_3_2_1B, TRANSFORMER_BASE, TRANSFORMER_BIG]


def test_heads_are_what_is_given_or_what_follows():
    assert (TINY.kv_heads, TINY.head_width) == (4, 4)
    given = tiny(n_kv_heads=2, d_head=6)
    assert (given.kv_heads, given.head_width) == (2, 6)
    assert tiny(n_heads=3, d_head=6).head_width == 6


@pytest.mark.parametrize("config", PRESETS)
def test_a_config_comes_back_from_json(config):
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("field", "table"),
    [
        ("norm", NORMS),
        ("feed_forward", FEED_FORWARDS),
        ("residual", RESIDUALS),
        ("positions", POSITIONS),
    ],
)
def test_the_words_of_the_type_are_those_of_the_table(field, table):
    assert set(get_args(get_type_hints(Config)[field])) == set(table)
    for word in table:
        assert getattr(tiny(**{field: word}), field) == word


def test_nothing_changes_a_config():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TINY.d_model = 32
    with pytest.raises(TypeError):
        NORMS["mine"] = NORMS["rms"]


def bare(**changes):
    return lambda: BARE.Config(**{**SIZES, **changes})


REFUSED = {
    **{
        f"no {name}": (
            bare(**{name: 0}),
            f"sizes must be at least 1, got {{'{name}': 0}}",
        )
        for name in (*SIZES, "window", "d_head")
    },
    "several sizes": (
        bare(d_ff=-1, max_len=0),
        "sizes must be at least 1, got {'d_ff': -1, 'max_len': 0}",
    ),
    "uneven heads": (
        bare(n_heads=3),
        "n_heads must divide d_model, got n_heads=3, d_model=16",
    ),
    "uneven groups": (
        bare(n_kv_heads=3),
        "n_kv_heads must divide n_heads, got n_kv_heads=3, n_heads=4",
    ),
    "another norm": (
        bare(norm="group"),
        r"norm must be one of \['batch', 'layer', 'rms'\], got 'group'",
    ),
    "another feed-forward layer": (
        bare(feed_forward="tanh"),
        r"feed_forward must be one of \['gelu', 'gelu_tanh', 'relu', 'swiglu'\], "
        "got 'tanh'",
    ),
    "another order": (
        bare(residual="sandwich"),
        r"residual must be one of \['post', 'pre'\], got 'sandwich'",
    ),
    "other positions": (
        bare(positions="relative"),
        r"positions must be one of \['alibi', .*\], got 'relative'",
    ),
    "odd heads to turn": (
        bare(d_head=3),
        "rotary positions need an even width, got 3; change d_model or n_heads",
    ),
    "odd width to add waves to": (
        bare(d_model=15, n_heads=3, positions="sinusoidal"),
        "sinusoidal positions need an even width, got 15; change d_model or n_heads",
    ),
    "all dropped": (
        bare(dropout=1.0),
        "dropout must be from 0 to below 1, got 1.0",
    ),
    "less than nothing dropped": (
        bare(attention_dropout=-0.1),
        "attention_dropout must be from 0 to below 1, got -0.1",
    ),
    "a strange field": (
        lambda: BARE.Config.from_dict({**SIZES, "d_modal": 3}),
        r"a config has exactly its own fields, got unknown \['d_modal'\] and "
        r"missing \[\]",
    ),
    "a field too few": (
        lambda: BARE.Config.from_dict({"vocab_size": 3, "d_model": 4, "n_layers": 1}),
        r"got unknown \[\] and missing \['d_ff', 'max_len', 'n_heads'\]",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_odd_widths_are_right_where_nothing_comes_in_pairs():
    assert tiny(d_model=15, n_heads=3, positions="learned").head_width == 5
    assert tiny(d_head=3, positions="alibi").head_width == 3
