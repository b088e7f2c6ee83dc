"""What holds for losses, steps and schedules whatever the numbers are."""

import math

import torch
from hypothesis import given
from hypothesis import strategies as st
from samples import coin_flips, law, normal
from tolerances import TOLERANCE, assert_near
from torch import nn
from torch.optim import SGD

from transformer_lib.training import (
    cross_entropy,
    noam,
    parameter_groups,
    summed_cross_entropy,
    train,
    warmup_cosine,
)

SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 12)
SMOOTHING = st.floats(0, 1)
ROUNDING = TOLERANCE[torch.float64]


def double(number):
    return torch.tensor(number, dtype=torch.float64)


def words(seed, *shape, vocab):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(vocab, shape, generator=generator)


@law
@given(seed=SEEDS, n=SIZES, vocab=SIZES, smoothing=SMOOTHING, height=st.floats(-99, 99))
def test_who_knows_nothing_loses_ln_v(seed, n, vocab, smoothing, height):
    logits = torch.full((n, vocab), height, dtype=torch.float64)
    targets = words(seed, n, vocab=vocab)
    loss = cross_entropy(logits, targets, label_smoothing=smoothing)
    assert_near(loss, double(math.log(vocab)))


@law
@given(seed=SEEDS, n=SIZES, vocab=SIZES, smoothing=SMOOTHING)
def test_the_gradient_is_what_is_said_minus_what_is_wanted(seed, n, vocab, smoothing):
    logits = normal(seed, n, vocab, dtype=torch.float64).requires_grad_()
    targets = words(seed, n, vocab=vocab)
    total, _ = summed_cross_entropy(logits, targets, label_smoothing=smoothing)
    total.backward()
    wanted = torch.full((n, vocab), smoothing / vocab, dtype=torch.float64)
    wanted[torch.arange(n), targets] += 1 - smoothing
    assert_near(logits.grad, logits.detach().softmax(-1) - wanted)
    assert_near(logits.grad.sum(-1), torch.zeros(n, dtype=torch.float64))


@law
@given(seed=SEEDS, rows=SIZES, length=SIZES, vocab=SIZES, smoothing=SMOOTHING)
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
    tokens = words(seed, sum(lengths), vocab=vocab)
    answers = words(seed + 1, sum(lengths), vocab=vocab)

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


WARMUPS = st.integers(1, 50)


@law
@given(d_model=st.integers(1, 4096), warmup=WARMUPS, step=st.integers(1, 300))
def test_noam_peaks_at_the_end_of_its_warmup(d_model, warmup, step):
    def rate(at):
        return noam(at, d_model=d_model, warmup=warmup)

    peak = (d_model * warmup) ** -0.5
    assert math.isclose(rate(warmup), peak)
    assert 0 < rate(step) <= peak * (1 + ROUNDING)
    assert (rate(step + 1) > rate(step)) == (step < warmup)
    assert abs(rate(step) - rate(step - 1)) <= peak / warmup * (1 + ROUNDING)


@law
@given(
    peak=st.floats(1e-6, 10),
    share=st.floats(0, 1),
    warmup=st.integers(0, 50),
    rest=st.integers(1, 200),
    step=st.integers(1, 300),
)
def test_warmup_cosine_has_no_jump_and_one_peak(peak, share, warmup, rest, step):
    floor, total = peak * share, warmup + rest

    def rate(at):
        return warmup_cosine(at, peak=peak, warmup=warmup, total=total, floor=floor)

    assert rate(warmup) == max(map(rate, range(total + 5))) or share == 1
    assert math.isclose(rate(warmup), peak)
    assert rate(total) == rate(total + step) == floor
    steepest = max(peak / max(warmup, 1), (peak - floor) * math.pi / 2 / rest)
    assert abs(rate(step) - rate(step - 1)) <= steepest + peak * ROUNDING
    assert (rate(step) > rate(step - 1)) == (step <= warmup)
