"""training.losses: as PyTorch's and Hugging Face's, and sane where those end."""

import math

import pytest
import torch
import torch.nn.functional as F
from refusals import refused
from samples import normal, without_hook
from tolerances import assert_near, assert_same
from torch import nn
from transformers.loss.loss_utils import ForCausalLMLoss

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
VOCAB = 17
TARGETS = torch.tensor([[3, 0, 16, 5], [0, 0, 2, 3], [9, 1, 0, 3]])


@pytest.mark.parametrize(
    ("dtype", "label_smoothing"),
    [(torch.float64, 0.0), (torch.float32, 0.1), (torch.float32, 1.0)],
)
@pytest.mark.parametrize("ignore", [-100, 0, 3])
def test_the_loss_is_pytorch_s_in_value_and_gradient(dtype, label_smoothing, ignore):
    options = {"label_smoothing": label_smoothing}

    def theirs(logits):
        logits, targets = logits.flatten(0, 1), TARGETS.flatten()
        return F.cross_entropy(logits, targets, ignore_index=ignore, **options)

    def ours(logits):
        targets = TARGETS.to(torch.int16)  # short ones will do
        return cross_entropy(logits, targets, ignore=ignore, **options)

    assert_same(ours, theirs, 3 * normal(0, 3, 4, VOCAB, dtype=dtype))


def test_the_shift_is_that_of_hugging_face():
    logits = normal(1, 3, 4, VOCAB)
    for ignore in (-100, 3):
        got = next_token_loss(logits, TARGETS, ignore=ignore)
        want = ForCausalLMLoss(logits, TARGETS, VOCAB, ignore_index=ignore)
        assert_near(got, want)


def test_nothing_but_padding_costs_nothing():
    logits = normal(0, 4, 7).requires_grad_()
    nothing = torch.full((4,), 2)
    loss = cross_entropy(logits, nothing, label_smoothing=0.3, ignore=2)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.eq(0).all()


def test_another_word_may_be_ruled_out_altogether():
    logits = torch.tensor([0.0, 0.0, -torch.inf], requires_grad=True)
    loss = cross_entropy(logits, torch.tensor(0))
    loss.backward()
    assert_near(loss.detach(), torch.tensor(math.log(2)))
    assert logits.grad.tolist() == [-0.5, 0.5, 0.0]
    unlikely = torch.tensor([0.0, 1e30])
    assert cross_entropy(unlikely, torch.tensor(0)) == unlikely[1]


def test_half_precision_is_widened_before_the_logarithm():
    for dtype in (torch.bfloat16, torch.float16):
        logits, targets = normal(0, 64, 1000, dtype=dtype), torch.arange(64)
        loss = cross_entropy(logits, targets, label_smoothing=0.1)
        assert loss.dtype == torch.float32
        assert loss == cross_entropy(logits.float(), targets, label_smoothing=0.1)


def test_a_model_is_judged_as_its_logits_are_and_never_sees_the_last_token():
    model, seen = nn.Sequential(nn.Embedding(6, 4), nn.Linear(4, 6)), []
    model.register_forward_pre_hook(lambda _, args: seen.append(args[0].tolist()))
    tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 0, 0]])
    options = {"label_smoothing": 0.1, "ignore": 0}
    total, n_tokens = language_model_loss(model, tokens, **options)
    assert seen == [tokens[:, :-1].tolist()]
    assert n_tokens.item() == 3
    assert_near(total / 3, next_token_loss(model(tokens), tokens, **options))


def test_bits_per_byte_and_what_does_not_fit():
    assert math.isclose(bits_per_byte(math.log(256), n_tokens=7, n_bytes=7), 8.0)
    assert math.isclose(bits_per_byte(math.log(2), n_tokens=100, n_bytes=400), 0.25)
    with refused("n_bytes must be at least 1, got 0"):
        BARE.bits_per_byte(1.0, 3, 0)
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
