"""encoder_decoder: as Hugging Face's, who looks where, what is shared."""

import pytest
import torch
from models import count, draw_tokens, model, tiny
from samples import normal
from tolerances import assert_near
from transformers import MarianConfig, MarianMTModel

from transformer_lib.attention import attention
from transformer_lib.blocks import Block
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder
from transformer_lib.encoder_decoder import (
    TRANSFORMER_BASE,
    TRANSFORMER_BIG,
    CrossBlock,
    EncoderDecoder,
)
from transformer_lib.masks import padding_mask

LENGTHS = torch.tensor([6, 4, 1])
REAL = padding_mask(LENGTHS, 6)
SOURCE, TARGET = draw_tokens(1, 3, 6), draw_tokens(2, 3, 5)
ENDS = ("embedding", "target_embedding", "unembedding")


def by_the_paper(d_model, d_ff, n_layers=6, vocab_size=37_056):
    """Count by hand: 4 matrices an attention, 2 a feed-forward layer, 2 a norm."""
    attention_ = 4 * (d_model * d_model + d_model)
    feed_forward = 2 * d_model * d_ff + d_ff + d_model
    norm = 2 * d_model
    encoder = attention_ + feed_forward + 2 * norm
    decoder = 2 * attention_ + feed_forward + 3 * norm
    return vocab_size * d_model + n_layers * (encoder + decoder)


def test_presets_are_those_of_table_3():
    for config, sizes, millions in (
        (TRANSFORMER_BASE, {"d_model": 512, "d_ff": 2048}, 63),
        (TRANSFORMER_BIG, {"d_model": 1024, "d_ff": 4096}, 214),
    ):
        with torch.device("meta"):
            parameters = count(EncoderDecoder(config))
        assert parameters == by_the_paper(**sizes)
        assert round(parameters / 1e6) == millions
    base, big = TRANSFORMER_BASE.to_dict(), TRANSFORMER_BIG.to_dict()
    changed = {name: big[name] for name in base if base[name] != big[name]}
    assert changed == {"d_model": 1024, "n_heads": 16, "d_ff": 4096, "dropout": 0.3}


def test_tied_ends_are_one_storage():
    tied, untied = EncoderDecoder(tiny()), EncoderDecoder(tiny(tied=False))
    assert len({tied.get_submodule(end).weight.data_ptr() for end in ENDS}) == 1
    assert len({untied.get_submodule(end).weight.data_ptr() for end in ENDS}) == 3
    assert count(untied) == count(tied) + 2 * 13 * 16
    assert [untied.get_submodule(end).scale for end in ENDS] == [4.0, 4.0, 1.0]


def test_the_kernel_is_a_value_and_only_the_decoder_looks_across():
    for kind in (Encoder, Decoder):
        built = kind(tiny(), attend=attention)
        kernels = [block.attention.layer.attend for block in built.stack.blocks]
        assert kernels == [attention, attention]
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


MARIAN = {
    "model.shared": "embedding",
    "model.decoder.embed_tokens": "target_embedding",
    "lm_head": "unembedding",
    "model.": "",
    "embed_positions": "positions.table",
    "layers": "blocks",
    "self_attn_layer_norm": "attention.norm",
    "encoder_attn_layer_norm": "cross.norm",
    "final_layer_norm": "feed_forward.norm",
    "self_attn": "attention.layer",
    "encoder_attn": "cross.layer",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "out_proj": "out",
    "fc1": "feed_forward.layer.up",
    "fc2": "feed_forward.layer.down",
}
ELSEWHERE = {"encoder.embed_tokens.weight", "final_logits_bias"}
"""The shared matrix once more, and a shift of the logits that starts at 0."""


def drawn(module):
    """Draw all weights wide enough for every one to matter, norms about 1."""
    for seed, (name, parameter) in enumerate(module.named_parameters()):
        center = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
        parameter.data = center + 0.4 * normal(seed, *parameter.shape)
    return module.double().eval().requires_grad_(requires_grad=False)


def renamed(state):
    """Return the weights under our names; each entry of the table is used."""
    for theirs, ours in MARIAN.items():
        assert any(theirs in name for name in state), theirs
        state = {name.replace(theirs, ours, 1): x for name, x in state.items()}
    return {name: x for name, x in state.items() if name not in ELSEWHERE}


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_marian_at_once_and_token_by_token(activation):
    sides = ("encoder", "decoder")
    sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 20}
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=13,
            d_model=16,
            max_position_embeddings=40,
            scale_embedding=True,
            activation_function=activation,
            pad_token_id=12,
            eos_token_id=0,
            decoder_start_token_id=12,
            **{f"{side}_{name}": n for side in sides for name, n in sizes.items()},
        )
    )
    drawn(theirs)
    # their sinusoids stand in another order, so ours are learned
    words = {"norm": "layer", "residual": "post", "positions": "learned"}
    ours = EncoderDecoder(tiny(**words, bias=True, feed_forward=activation)).double()
    ours.load_state_dict(renamed(theirs.state_dict()))
    want = theirs(
        SOURCE, attention_mask=REAL[:, 0].long(), decoder_input_ids=TARGET
    ).logits
    assert_near(ours(SOURCE, TARGET, source_lengths=LENGTHS), want)
    cache = new_cache(ours.config, 3, 5, dtype=torch.float64)
    memory = ours.cross_keys_values(ours.encode(SOURCE, REAL))
    got = [
        ours.decode(token, memory, memory_mask=REAL, cache=cache)
        for token in TARGET.split(1, dim=1)
    ]
    assert_near(torch.cat(got, dim=1), want)
