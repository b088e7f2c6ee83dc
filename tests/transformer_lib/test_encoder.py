"""encoder: an embedding and a stack, and a classifier that does not read padding."""

import pytest
import torch
from models import draw_tokens, model, tiny
from refusals import refused
from samples import without_hook
from tolerances import assert_near

from transformer_lib.encoder import Classifier, Encoder, each_token, mean_of_tokens
from transformer_lib.masks import padding_mask

BARE = without_hook("transformer_lib/encoder")
TOKENS, N_REAL = draw_tokens(0, 2, 5), torch.tensor([5, 2])
STATES = torch.tensor([[[1.0, 2.0], [3.0, 4.0], [8.0, 9.0]]] * 3)
NOT_PADDING = padding_mask(torch.tensor([3, 2, 0]), 3)[:, 0]


def test_an_encoder_is_an_embedding_and_a_stack():
    encoder = model(Encoder, tiny())
    assert encoder(TOKENS).equal(encoder.stack(encoder.embedding(TOKENS)))
    assert encoder.config == tiny()


def test_the_mean_is_of_the_real_tokens_and_each_token_stays():
    assert mean_of_tokens(STATES, None).tolist() == [[4.0, 5.0]] * 3
    assert mean_of_tokens(STATES, NOT_PADDING).tolist() == [[4, 5], [2, 3], [0, 0]]
    assert each_token(STATES, NOT_PADDING) is STATES


@pytest.mark.parametrize("pool", [mean_of_tokens, each_token])
def test_a_classifier_labels_texts_or_tokens_and_does_not_read_the_padding(pool):
    torch.manual_seed(0)
    classifier = Classifier(tiny(), 3, pool=pool).double().eval()
    alone = classifier(TOKENS[1:, :2])[0]
    assert alone.shape == ((3,) if pool is mean_of_tokens else (2, 3))
    together = classifier(TOKENS, N_REAL)[1]
    assert_near(together if pool is mean_of_tokens else together[:2], alone)
    assert not classifier(TOKENS)[1].equal(together)


def test_no_class_is_refused():
    with refused("n_classes must be at least 1, got 0"):
        BARE.Classifier(tiny(), 0)
