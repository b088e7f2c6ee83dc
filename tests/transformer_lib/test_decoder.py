"""decoder: what is shared, what is counted, and how it starts."""

import math

import pytest
import torch
import torch.nn.functional as F
from models import count, draw_tokens, tiny

from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder

TOKENS = draw_tokens(0, 2, 5)


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
