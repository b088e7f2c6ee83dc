"""What holds for losses and steps whatever the numbers are."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import coin_flips, double, law, normal
from tolerances import assert_near
from torch import nn
from torch.optim import SGD

from transformer_lib.training import parameter_groups, summed_cross_entropy, train

SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 12)


def words(seed, *shape, vocab):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocab, shape, generator=generator)


@law
@given(seed=SEEDS, rows=SIZES, length=SIZES, vocab=SIZES, smoothing=st.floats(0, 1))
def test_ignored_targets_may_as_well_not_be_there(seed, rows, length, vocab, smoothing):
    logits = normal(seed, rows, length, vocab, dtype=torch.float64)
    targets = words(seed, rows, length, vocab=vocab)
    hidden = coin_flips(seed, rows, length)
    total, n_tokens = summed_cross_entropy(
        logits, targets.masked_fill(hidden, -7), label_smoothing=smoothing, ignore=-7
    )
    want, n_wanted = summed_cross_entropy(
        logits[~hidden], targets[~hidden], label_smoothing=smoothing
    )
    assert_near(total, want)
    assert n_tokens == n_wanted == (~hidden).sum()


@law
@given(seed=SEEDS, lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_any_split_into_batches_gives_the_same_step(seed, lengths):
    vocab, width = 5, 3
    tokens, answers = words(seed, 2, sum(lengths), vocab=vocab)

    def loss(model, batch):
        return summed_cross_entropy(model(batch[0]), batch[1])

    def after(batches):
        model = nn.Sequential(nn.Embedding(vocab, width), nn.Linear(width, vocab))
        for i, parameter in enumerate(model.parameters()):
            parameter.data = normal(seed + i, *parameter.shape, dtype=torch.float64)
        optimizer = SGD(parameter_groups(model, 0.1), lr=1.0)
        options = {"optimizer": optimizer, "loss": loss, "max_norm": 0.1}
        (mean,) = train(model, batches, **options, accumulate=len(batches))
        return [double(mean), *(p.detach() for p in model.parameters())]

    parts = list(zip(tokens.split(lengths), answers.split(lengths), strict=True))
    for got, want in zip(after(parts), after([(tokens, answers)]), strict=True):
        assert_near(got, want)
