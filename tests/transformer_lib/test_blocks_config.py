"""blocks.config: what it fills in, JSON and back, every refusal."""

import dataclasses
import json
import re
from typing import get_args, get_type_hints

import pytest
from models import TINY, tiny
from samples import without_hook

from transformer_lib.blocks import FEED_FORWARDS, NORMS, POSITIONS, RESIDUALS, Config
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B
from transformer_lib.encoder_decoder import TRANSFORMER_BASE, TRANSFORMER_BIG

BARE = without_hook("transformer_lib/blocks/config")
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


@pytest.mark.parametrize("config", PRESETS)
def test_a_config_comes_back_from_json(config):
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize("field", TABLES)
def test_the_words_of_the_type_are_those_of_the_table(field):
    assert set(get_args(get_type_hints(Config)[field])) == set(TABLES[field])
    for word in TABLES[field]:
        assert getattr(tiny(**{field: word}), field) == word
    with pytest.raises(
        ValueError,
        match=re.escape(f"{field} must be one of {sorted(TABLES[field])}, got 'no'"),
    ):
        BARE.Config(**SIZES, **{field: "no"})


def test_nothing_changes_a_config():
    with pytest.raises(dataclasses.FrozenInstanceError):
        TINY.d_model = 32
    with pytest.raises(TypeError):
        NORMS["mine"] = NORMS["rms"]


@pytest.mark.parametrize(
    "wrong",
    [*({name: 0} for name in (*SIZES, "window", "d_head")), {"d_ff": -1, "max_len": 0}],
    ids=str,
)
def test_sizes_are_at_least_one(wrong):
    with pytest.raises(ValueError, match=f"sizes must be at least 1, got {wrong}"):
        BARE.Config(**{**SIZES, **wrong})


REFUSED = {
    "n_heads must divide d_model, got n_heads=3, d_model=16": {"n_heads": 3},
    "n_kv_heads must divide n_heads, got n_kv_heads=3, n_heads=4": {"n_kv_heads": 3},
    "rotary positions need an even width, got 3; change d_model or n_heads": {
        "d_head": 3
    },
    "sinusoidal positions need an even width, got 15; change d_model or n_heads": {
        "d_model": 15,
        "n_heads": 3,
        "positions": "sinusoidal",
    },
    "dropout must be from 0 to below 1, got 1.0": {"dropout": 1.0},
    "attention_dropout must be from 0 to below 1, got -0.1": {
        "attention_dropout": -0.1
    },
}


@pytest.mark.parametrize(("message", "changes"), REFUSED.items(), ids=REFUSED)
def test_what_does_not_fit_is_refused(message, changes):
    with pytest.raises(ValueError, match=message):
        BARE.Config(**{**SIZES, **changes})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({**SIZES, "d_modal": 3}, r"got unknown \['d_modal'\] and missing \[\]"),
        (
            {"vocab_size": 3, "d_model": 4, "n_layers": 1},
            r"got unknown \[\] and missing \['d_ff', 'max_len', 'n_heads'\]",
        ),
    ],
)
def test_a_config_has_exactly_its_own_fields(values, message):
    with pytest.raises(
        ValueError, match="a config has exactly its own fields, " + message
    ):
        BARE.Config.from_dict(values)


def test_odd_widths_are_right_where_nothing_comes_in_pairs():
    assert tiny(d_model=15, n_heads=3, positions="learned").head_width == 5
    assert tiny(d_head=3, positions="alibi").head_width == 3
