"""embeddings: rows, scores and refusals."""

import torch
from refusals import refused
from samples import normal, without_hook
from tolerances import assert_near

from transformer_lib.embeddings import Embedding

BARE = without_hook("transformer_lib/embeddings")


def numbered(scale=1.0):
    embedding = Embedding(3, 2, scale=scale)
    embedding.weight.data = torch.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    return embedding


def test_each_token_becomes_its_row_scaled_on_the_way_in_only():
    embedding = numbered(scale=10.0)
    assert embedding(torch.tensor([[2], [1]])).tolist() == [[[40, 50]], [[20, 30]]]
    assert embedding.logits(torch.tensor([[1.0, 2.0]])).tolist() == [[2.0, 8.0, 14.0]]
    only = Embedding(1, 1)
    assert only(torch.tensor([0])).equal(only.weight)
    assert only(torch.zeros(2, 0, dtype=torch.int64)).shape == (2, 0, 1)


def test_rows_start_so_that_either_end_has_variance_one():
    torch.manual_seed(0)
    embedding = Embedding(500, 64, scale=8.0)
    assert 0.95 < embedding(torch.arange(500)).var() < 1.05
    assert 0.95 < embedding.logits(normal(0, 100, 64)).var() < 1.05


def test_both_ends_train_the_same_rows():
    embedding = numbered()
    embedding.logits(embedding(torch.tensor([0]))).sum().backward()
    # the row of token 0 is read once and scored once, the others are scored
    assert_near(
        embedding.weight.grad, torch.tensor([[6.0, 10.0], [0.0, 1.0], [0.0, 1.0]])
    )


SIZES = "vocab_size and d_model must be at least 1, got "
RANGE = "tokens must be from 0 to vocab_size - 1 = 2, got "
REFUSED = {
    SIZES + "vocab_size=0, d_model=4": lambda: BARE.Embedding(0, 4),
    SIZES + "vocab_size=4, d_model=0": lambda: BARE.Embedding(4, 0),
    RANGE + "3": lambda: BARE.Embedding(3, 2)(torch.tensor([[0, 3]])),
    RANGE + "-1": lambda: BARE.Embedding(3, 2)(torch.tensor([-1, 1])),
}


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED.items():
        with refused(message):
            call()
