"""training.losses: values by hand, padding, extreme logits, every refusal."""

import math

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near
from torch import nn

from transformer_lib.training import (
    bits_per_byte,
    cross_entropy,
    language_model_loss,
    next_token_loss,
    sequence_to_sequence_loss,
    summed_cross_entropy,
    token_classification_loss,
)

BARE = without_hook("transformer_lib/training/losses")
SMOOTHING = pytest.mark.parametrize("label_smoothing", [0.0, 0.3])


def double(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


HALVES = double([0.5, 0.25, 0.25]).log()


def test_the_loss_is_minus_the_logarithm_of_the_target_s_probability():
    logits = torch.stack((HALVES, HALVES + 7))
    loss = cross_entropy(logits, torch.tensor([0, 1]))
    assert_near(loss, double((math.log(2) + math.log(4)) / 2))


def test_smoothing_spreads_mass_over_all_words():
    loss = cross_entropy(HALVES, torch.tensor(1), label_smoothing=0.3)
    wanted = [0.1, 0.7 + 0.1, 0.1]
    by_hand = -sum(w * float(h) for w, h in zip(wanted, HALVES, strict=True))
    assert_near(loss, double(by_hand))


def test_the_sum_comes_with_the_number_of_targets():
    targets = torch.tensor([[0, 9], [1, 2]])
    total, n_tokens = summed_cross_entropy(HALVES.expand(2, 2, 3), targets, ignore=9)
    assert_near(total, double(5 * math.log(2)))
    assert n_tokens.item() == 3


@SMOOTHING
def test_padding_neither_counts_nor_learns(label_smoothing):
    logits = normal(0, 5, 7).requires_grad_()
    targets = torch.tensor([3, -100, 0, -100, 6])
    loss = cross_entropy(logits, targets, label_smoothing=label_smoothing)
    seen = targets != -100
    alone = cross_entropy(logits[seen], targets[seen], label_smoothing=label_smoothing)
    assert_near(loss, alone)
    loss.backward()
    assert logits.grad[~seen].eq(0).all()
    assert logits.grad[seen].ne(0).all()


@SMOOTHING
def test_nothing_but_padding_costs_nothing(label_smoothing):
    logits = normal(0, 4, 7).requires_grad_()
    nothing = torch.full((4,), 2)
    loss = cross_entropy(logits, nothing, label_smoothing=label_smoothing, ignore=2)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.eq(0).all()


@SMOOTHING
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_huge_logits_give_finite_losses_and_gradients(label_smoothing, size):
    logits = (normal(0, 6, 50).sign() * size).requires_grad_()
    targets = torch.tensor([0, 1, 2, -100, 4, 5])
    loss = cross_entropy(logits, targets, label_smoothing=label_smoothing)
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()


def test_another_word_may_be_ruled_out_altogether():
    logits = torch.tensor([0.0, 0.0, -torch.inf], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor(0))
    loss.backward()
    assert_near(loss.detach(), torch.tensor(math.log(2)))
    assert logits.grad.tolist() == [-0.5, 0.5, 0.0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_widened_before_the_logarithm(dtype):
    logits, targets = normal(0, 64, 1000, dtype=dtype), torch.arange(64)
    loss = cross_entropy(logits, targets, label_smoothing=0.1)
    assert loss.dtype == torch.float32
    assert loss == cross_entropy(logits.float(), targets, label_smoothing=0.1)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32])
def test_targets_may_be_short_integers(dtype):
    targets = torch.tensor([0, 2], dtype=dtype)
    logits = normal(0, 2, 3)
    assert cross_entropy(logits, targets) == cross_entropy(logits, targets.long())


def test_each_token_is_judged_by_the_logits_before_it():
    tokens = torch.tensor([[3, 1, 4, 1]])
    right = 50.0 * nn.functional.one_hot(tokens.roll(-1), 5)
    assert next_token_loss(right, tokens) < 1e-6
    assert next_token_loss(50.0 * nn.functional.one_hot(tokens, 5), tokens) > 40
    last = right.clone()
    last[:, -1] += normal(0, 5)
    assert next_token_loss(last, tokens) == next_token_loss(right, tokens)


def test_a_model_is_judged_as_its_logits_are():
    model = nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6))
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0]])
    options = {"label_smoothing": 0.1, "ignore": 0}
    total, n_tokens = language_model_loss(model, tokens, **options)
    assert n_tokens.item() == 3
    assert_near(total / 3, next_token_loss(model(tokens), tokens, **options))


def test_the_last_token_is_never_shown_to_the_model():
    seen = []
    model = nn.Sequential(nn.Embedding(6, 6))
    model.register_forward_pre_hook(lambda _, args: seen.append(args[0].tolist()))
    language_model_loss(model, torch.tensor([[1, 2, 3]]))
    assert seen == [[[1, 2]]]


def test_bits_per_byte():
    assert math.isclose(bits_per_byte(math.log(256), n_tokens=7, n_bytes=7), 8.0)
    assert math.isclose(bits_per_byte(math.log(2), n_tokens=100, n_bytes=400), 0.25)
    assert math.isclose(bits_per_byte(math.log(2), n_tokens=3, n_bytes=1), 3.0)


REFUSED = {
    "one target too few, which gather would accept": (
        lambda: BARE.cross_entropy(torch.zeros(2, 6, 5), torch.zeros(2, 5).long()),
        r"each row of logits must have one target, got logits \(2, 6, 5\) and "
        r"targets \(2, 5\)",
    ),
    "too much smoothing": (
        lambda: BARE.cross_entropy(HALVES, torch.tensor(0), label_smoothing=1.5),
        r"label_smoothing must lie between 0 and 1, got 1\.5",
    ),
    "negative smoothing": (
        lambda: BARE.cross_entropy(HALVES, torch.tensor(0), label_smoothing=-0.1),
        r"label_smoothing must lie between 0 and 1, got -0\.1",
    ),
    "no bytes": (
        lambda: BARE.bits_per_byte(1.0, 3, 0),
        "n_bytes must be at least 1, got 0",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Echo(nn.Module):
    """Scores words by a table, and keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 3)
        self.asked = []

    def forward(self, source, *others, **named):
        self.asked.append((source, *others, *named.values()))
        return self.table(others[0] if named else source)


PAIRS = (
    torch.tensor([[1, 2, 0], [3, 0, 0]]),
    torch.tensor([2, 1]),
    torch.tensor([[1, 2, 2], [1, 2, 0]]),
    torch.tensor([3, 2]),
)


def test_a_target_is_predicted_from_the_source_and_what_stands_before_it():
    model = Echo()
    total, n_tokens = sequence_to_sequence_loss(
        model, PAIRS, label_smoothing=0.2, ignore=0
    )
    source, before, lengths = model.asked[0]
    assert source.equal(PAIRS[0])
    assert before.equal(PAIRS[2][:, :-1])
    assert lengths.equal(PAIRS[1])
    want = torch.nn.functional.cross_entropy(
        model.table(before).flatten(0, 1),
        PAIRS[2][:, 1:].flatten(),
        label_smoothing=0.2,
        ignore_index=0,
        reduction="sum",
    )
    assert_near(total, want)
    assert int(n_tokens) == 3


def test_labels_stand_at_the_places_of_the_source():
    model = Echo()
    total, n_tokens = token_classification_loss(
        model, (*PAIRS[:2], PAIRS[2] % 3, PAIRS[1]), ignore=0
    )
    source, lengths = model.asked[0]
    assert source.equal(PAIRS[0])
    assert lengths.equal(PAIRS[1])
    log_p = model.table(PAIRS[0]).log_softmax(-1)
    want = -(log_p[0, 0, 1] + log_p[0, 1, 2] + log_p[0, 2, 2])
    want = want - log_p[1, 0, 1] - log_p[1, 1, 2]
    assert_near(total, want)
    assert int(n_tokens) == 5


@pytest.mark.parametrize(
    ("loss", "batch"),
    [
        (language_model_loss, PAIRS[0]),
        (sequence_to_sequence_loss, PAIRS),
        (token_classification_loss, PAIRS),
    ],
)
def test_a_batch_goes_to_the_device_of_the_model(loss, batch):
    model = Echo().to("meta")
    total, n_tokens = loss(model, batch)
    found = [*model.asked[0], total, n_tokens]
    assert {tensor.device.type for tensor in found} == {"meta"}
