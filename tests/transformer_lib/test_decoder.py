"""decoder: what is shared, what is counted, and how it starts."""

import math

import pytest
import torch
import torch.nn.functional as F
from models import draw_tokens, model, tiny
from tolerances import assert_near

from transformer_lib.attention import attention
from transformer_lib.cache import new_cache
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder
from transformer_lib.masks import causal_mask

TOKENS = draw_tokens(0, 2, 5)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("config", "parameters"),
    [(GPT2_SMALL, 124_439_808), (LLAMA_3_2_1B, 1_235_814_400)],
    ids=["GPT-2 small", "Llama 3.2 1B"],
)
def test_presets_have_as_many_parameters_as_the_originals(config, parameters):
    with torch.device("meta"):
        assert count(Decoder(config)) == parameters


def test_tied_ends_are_one_storage():
    decoder = Decoder(tiny())
    assert decoder.unembedding.weight.data_ptr() == decoder.embedding.weight.data_ptr()
    assert count(Decoder(tiny(tied=False))) == count(decoder) + 13 * 16


def test_logits_are_the_states_scored_against_the_rows():
    decoder = model(Decoder, tiny())
    states = decoder.states(TOKENS)
    assert_near(decoder(TOKENS), states @ decoder.embedding.weight.T)
    assert states.shape == (2, 5, 16)


def test_untied_rows_score_by_themselves():
    decoder = model(Decoder, tiny(tied=False))
    want = decoder.states(TOKENS) @ decoder.unembedding.weight.T
    assert_near(decoder(TOKENS), want)
    assert decoder.unembedding.scale == 1.0


def test_the_default_mask_is_causal_and_another_one_replaces_it():
    decoder, places = model(Decoder, tiny()), torch.arange(5)
    assert_near(decoder(TOKENS, mask=causal_mask(places, places)), decoder(TOKENS))
    everything = torch.ones(5, 5, dtype=torch.bool)
    assert not torch.allclose(decoder(TOKENS, mask=everything), decoder(TOKENS))


def test_the_kernel_is_a_value():
    decoder = Decoder(tiny(), attend=attention)
    assert {block.attention.layer.attend for block in decoder.stack.blocks} == {
        attention
    }


def test_states_go_through_the_cache_too():
    decoder = model(Decoder, tiny())
    cache = new_cache(tiny(), 2, 5, dtype=torch.float64)
    parts = [decoder.states(part, cache=cache) for part in TOKENS.split(2, dim=1)]
    assert_near(torch.cat(parts, dim=1), decoder.states(TOKENS))


@pytest.mark.parametrize("where", ["dropout", "attention_dropout"])
def test_dropout_acts_in_training_and_not_in_evaluation(where):
    torch.manual_seed(0)
    decoder = Decoder(tiny(**{where: 0.5}))
    assert not decoder(TOKENS).equal(decoder(TOKENS))
    decoder.eval()
    assert decoder(TOKENS).equal(decoder(TOKENS))


@pytest.mark.parametrize("tied", [True, False])
def test_an_untrained_decoder_is_as_good_as_a_guess(tied):
    torch.manual_seed(0)
    sizes = {"vocab_size": 100, "d_model": 64, "d_ff": 256}
    decoder = Decoder(tiny(**sizes, tied=tied, scale_embeddings=False))
    tokens = torch.randint(0, 100, (16, 32))
    logits = decoder(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    # logits of variance 1 cost half a nat
    assert math.log(100) < loss < math.log(100) + 1
