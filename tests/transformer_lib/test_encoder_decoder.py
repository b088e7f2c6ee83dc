"""encoder_decoder: what is shared, who looks where, and the presets."""

import pytest
import torch
from models import count, draw_tokens, model, tiny

from transformer_lib.attention import attention
from transformer_lib.blocks import Block
from transformer_lib.encoder_decoder import (
    TRANSFORMER_BASE,
    TRANSFORMER_BIG,
    CrossBlock,
    EncoderDecoder,
)

SOURCE, TARGET = draw_tokens(0, 2, 6), draw_tokens(1, 2, 4)
ENDS = ("embedding", "target_embedding", "unembedding")


def by_the_paper(d_model, d_ff, n_layers=6, vocab_size=37_056):
    """Count by hand: 4 matrices an attention, 2 a feed-forward layer, 2 a norm."""
    attention_ = 4 * (d_model * d_model + d_model)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norm = 2 * d_model
    encoder = attention_ + feed_forward + 2 * norm
    decoder = 2 * attention_ + feed_forward + 3 * norm
    return vocab_size * d_model + n_layers * (encoder + decoder)


@pytest.mark.parametrize(
    ("config", "sizes", "millions"),
    [
        (TRANSFORMER_BASE, {"d_model": 512, "d_ff": 2048}, 63),
        (TRANSFORMER_BIG, {"d_model": 1024, "d_ff": 4096}, 214),
    ],
    ids=["base", "big"],
)
def test_presets_have_the_paper_s_sizes(config, sizes, millions):
    with torch.device("meta"):
        parameters = count(EncoderDecoder(config))
    assert parameters == by_the_paper(**sizes)
    assert round(parameters / 1e6) == millions


def test_the_big_model_differs_from_the_base_one_where_table_3_says():
    base, big = TRANSFORMER_BASE.to_dict(), TRANSFORMER_BIG.to_dict()
    changed = {name: big[name] for name in base if base[name] != big[name]}
    assert changed == {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3}


def test_tied_ends_are_one_storage():
    tied, untied = EncoderDecoder(tiny()), EncoderDecoder(tiny(tied=False))
    assert len({tied.get_submodule(end).weight.data_ptr() for end in ENDS}) == 1
    assert len({untied.get_submodule(end).weight.data_ptr() for end in ENDS}) == 3
    assert count(untied) == count(tied) + 2 * 13 * 16
    assert [untied.get_submodule(end).scale for end in ENDS] == [4.0, 4.0, 1.0]


def test_only_the_decoder_looks_across():
    translator = EncoderDecoder(tiny(), attend=attention)
    assert translator.config == tiny()
    assert {type(block) for block in translator.encoder.blocks} == {Block}
    assert {type(block) for block in translator.decoder.blocks} == {CrossBlock}
    for block in translator.decoder.blocks:
        assert block.attention.layer.attend is attention
        assert block.cross.layer.attend is attention


def test_source_and_target_have_rows_of_their_own_when_untied():
    translator = model(EncoderDecoder, tiny(tied=False))
    before = translator(SOURCE, TARGET)
    for end in ENDS:
        weight = translator.get_submodule(end).weight
        weight.mul_(2)
        assert not torch.allclose(translator(SOURCE, TARGET), before), end
        weight.div_(2)
    assert translator(SOURCE, TARGET).equal(before)


def test_every_logit_depends_on_every_source_token():
    translator = model(EncoderDecoder, tiny(window=2))
    before = translator(SOURCE, TARGET)
    for place in range(6):
        others = SOURCE.clone()
        others[:, place] = (others[:, place] + 1) % 13
        assert (translator(others, TARGET) != before).any(dim=-1).all()
