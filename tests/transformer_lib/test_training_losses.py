"""training.losses: as PyTorch's and Hugging Face's, and sane where those end."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from models import draw_tokens
from refusals import refused
from samples import coin_flips, double, law, normal, without_hook
from tolerances import assert_near
from torch import nn
from torch.optim import SGD
from transformers.loss.loss_utils import ForCausalLMLoss

from transformer_lib.training import (
    bits_per_byte,
    cross_entropy,
    language_model_loss,
    next_token_loss,
    parameter_groups,
    sequence_to_sequence_loss,
    summed_cross_entropy,
    token_classification_loss,
    train,
)

BARE = without_hook("transformer_lib/training/losses")
SMOOTHING = pytest.mark.parametrize("label_smoothing", [0.0, 0.3])
VOCAB = 17
TARGETS = torch.tensor([[3, 0, 16, 5], [0, 0, 2, 3], [9, 1, 0, 3]])


@pytest.mark.parametrize(
    ("dtype", "label_smoothing"),
    [(torch.float64, 0.0), (torch.float32, 0.1), (torch.float32, 1.0)],
)
@pytest.mark.parametrize("ignore", [-100, 0, 3])
def test_the_loss_is_pytorch_s_in_value_and_gradient(dtype, label_smoothing, ignore):
    ours = (3 * normal(0, 3, 4, VOCAB, dtype=dtype)).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    got = cross_entropy(ours, TARGETS, label_smoothing=label_smoothing, ignore=ignore)
    want = F.cross_entropy(
        theirs.flatten(0, 1),
        TARGETS.flatten(),
        label_smoothing=label_smoothing,
        ignore_index=ignore,
    )
    assert_near(got, want)
    got.backward()
    want.backward()
    assert_near(ours.grad, theirs.grad)


def test_the_shift_is_that_of_hugging_face():
    logits = normal(1, 3, 4, VOCAB)
    for ignore in (-100, 3):
        got = next_token_loss(logits, TARGETS, ignore=ignore)
        want = ForCausalLMLoss(logits, TARGETS, VOCAB, ignore_index=ignore)
        assert_near(got, want)


@SMOOTHING
def test_nothing_but_padding_costs_nothing(label_smoothing):
    logits = normal(0, 4, 7).requires_grad_()
    nothing = torch.full((4,), 2)
    loss = cross_entropy(logits, nothing, label_smoothing=label_smoothing, ignore=2)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.eq(0).all()


@SMOOTHING
def test_huge_logits_give_finite_losses_and_gradients(label_smoothing):
    targets = torch.tensor([0, 1, 2, -100, 4, 5])
    for size in (1e4, 1e30):
        logits = (normal(0, 6, 50).sign() * size).requires_grad_()
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


def test_half_precision_is_widened_before_the_logarithm():
    for dtype in (torch.bfloat16, torch.float16):
        logits, targets = normal(0, 64, 1000, dtype=dtype), torch.arange(64)
        loss = cross_entropy(logits, targets, label_smoothing=0.1)
        assert loss.dtype == torch.float32
        assert loss == cross_entropy(logits.float(), targets, label_smoothing=0.1)


def test_targets_may_be_short_integers():
    logits, targets = normal(0, 2, 3), torch.tensor([0, 2])
    for dtype in (torch.int8, torch.int16, torch.int32):
        got = cross_entropy(logits, targets.to(dtype))
        assert got == cross_entropy(logits, targets)


def test_a_model_is_judged_as_its_logits_are_and_never_sees_the_last_token():
    model, seen = nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6)), []
    model.register_forward_pre_hook(lambda _, args: seen.append(args[0].tolist()))
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0]])
    options = {"label_smoothing": 0.1, "ignore": 0}
    total, n_tokens = language_model_loss(model, tokens, **options)
    assert seen == [tokens[:, :-1].tolist()]
    assert n_tokens.item() == 3
    assert_near(total / 3, next_token_loss(model(tokens), tokens, **options))


def test_bits_per_byte():
    assert math.isclose(bits_per_byte(math.log(256), n_tokens=7, n_bytes=7), 8.0)
    assert math.isclose(bits_per_byte(math.log(2), n_tokens=100, n_bytes=400), 0.25)
    with refused("n_bytes must be at least 1, got 0"):
        BARE.bits_per_byte(1.0, 3, 0)


def test_what_does_not_fit_is_refused():
    rows = r"each row of logits must have one target, got logits \(2, 6, 5\) and "
    with refused(rows + r"targets \(2, 5\)"):  # gather would accept it
        BARE.cross_entropy(torch.zeros(2, 6, 5), torch.zeros(2, 5).long())
    for share in (1.5, -0.1):
        with refused(f"label_smoothing must lie between 0 and 1, got {share}"):
            BARE.cross_entropy(torch.zeros(3), torch.tensor(0), label_smoothing=share)


class Echo(nn.Module):
    """Scores words by a table, and keeps what it was asked."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 3)
        self.asked = []

    def forward(self, source, *others, **named):
        self.asked = [source, *others, *named.values()]
        return self.table(others[0] if named else source)


SOURCE, TARGET = torch.tensor([[[1, 2, 0], [3, 0, 0]], [[1, 2, 2], [1, 2, 0]]])
PAIRS = (SOURCE, torch.tensor([2, 1]), TARGET, torch.tensor([3, 2]))


def test_a_target_is_predicted_from_the_source_and_what_stands_before_it():
    model, options = Echo(), {"label_smoothing": 0.2, "ignore": 0}
    total, n_tokens = sequence_to_sequence_loss(model, PAIRS, **options)
    before = TARGET[:, :-1]
    assert list(map(torch.equal, model.asked, (SOURCE, before, PAIRS[1]))) == 3 * [True]
    want, _ = summed_cross_entropy(model.table(before), TARGET[:, 1:], **options)
    assert_near(total, want)
    assert int(n_tokens) == 3


def test_labels_stand_at_the_places_of_the_source():
    model = Echo()
    total, n_tokens = token_classification_loss(model, PAIRS, ignore=0)
    assert list(map(torch.equal, model.asked, (SOURCE, PAIRS[1]))) == 2 * [True]
    want, _ = summed_cross_entropy(model.table(SOURCE), TARGET, ignore=0)
    assert_near(total, want)
    assert int(n_tokens) == 5


def test_a_batch_goes_to_the_device_of_the_model():
    model = Echo().to("meta")
    for loss, batch in (
        (language_model_loss, SOURCE),
        (sequence_to_sequence_loss, PAIRS),
        (token_classification_loss, PAIRS),
    ):
        found = [*loss(model, batch), *model.asked]
        assert {tensor.device.type for tensor in found} == {"meta"}


SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 12)


@law
@given(seed=SEEDS, rows=SIZES, length=SIZES, vocab=SIZES, smoothing=st.floats(0, 1))
def test_ignored_targets_may_as_well_not_be_there(seed, rows, length, vocab, smoothing):
    logits = normal(seed, rows, length, vocab, dtype=torch.float64)
    targets = draw_tokens(seed, rows, length, vocab=vocab)
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
    tokens, answers = draw_tokens(seed, 2, sum(lengths), vocab=vocab)

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
