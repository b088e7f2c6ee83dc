"""Equal to PyTorch's and Hugging Face's losses, schedules and steps."""

import pytest
import torch
import torch.nn.functional as F
from samples import normal
from tolerances import assert_near
from torch import nn
from torch.optim import SGD, AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from transformers import get_cosine_schedule_with_warmup
from transformers.loss.loss_utils import ForCausalLMLoss

from transformer_lib.training import (
    cross_entropy,
    next_token_loss,
    parameter_groups,
    train,
    warmup_cosine,
)

VOCAB = 17
TARGETS = torch.tensor([[3, 0, 16, 5], [0, 0, 2, 3], [9, 1, 0, 3]])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 0.7, 1.0])
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


@pytest.mark.parametrize("ignore", [-100, 3])
def test_the_shift_is_that_of_hugging_face(ignore):
    logits = normal(1, 3, 4, VOCAB)
    got = next_token_loss(logits, TARGETS, ignore=ignore)
    want = ForCausalLMLoss(logits, TARGETS, VOCAB, ignore_index=ignore)
    assert_near(got, want)


def rates(scheduler, n):
    """Return the rates of updates 0, 1, 2, ..."""
    found = []
    for _ in range(n):
        found += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    return torch.tensor(found, dtype=torch.float64)


def ours(n, **numbers):
    found = [warmup_cosine(step, **numbers) for step in range(n)]
    return torch.tensor(found, dtype=torch.float64)


def some_optimizer(lr):
    return SGD([nn.Parameter(torch.zeros(1))], lr=lr)


@pytest.mark.parametrize(("warmup", "total"), [(5, 20), (0, 7), (1, 2)])
def test_the_cosine_is_that_of_hugging_face(warmup, total):
    theirs = get_cosine_schedule_with_warmup(some_optimizer(0.3), warmup, total)
    want = rates(theirs, total + 1)
    assert_near(ours(total + 1, peak=0.3, warmup=warmup, total=total), want)


def test_the_cosine_with_a_floor_is_that_of_pytorch():
    optimizer = some_optimizer(0.3)
    rise = LinearLR(optimizer, start_factor=1e-12, total_iters=5)
    fall = CosineAnnealingLR(optimizer, T_max=15, eta_min=0.1)
    theirs = SequentialLR(optimizer, [rise, fall], milestones=[5])
    numbers = {"peak": 0.3, "warmup": 5, "total": 20, "floor": 0.1}
    assert_near(ours(21, **numbers), rates(theirs, 21))


def bigram():
    model = nn.Sequential(
        nn.Embedding(VOCAB, 8), nn.LayerNorm(8), nn.Linear(8, VOCAB)
    ).double()
    for i, parameter in enumerate(model.parameters()):
        parameter.data = normal(i, *parameter.shape, dtype=torch.float64)
    return model


def test_ten_steps_are_those_of_a_loop_written_out_in_pytorch():
    batches = [torch.arange(i, i + 12).reshape(2, 6) % VOCAB for i in range(20)]
    model, twin = bigram(), bigram()
    losses = train(
        model,
        batches,
        optimizer=AdamW(parameter_groups(model, 0.1)),
        schedule=lambda step: 0.01 * step,
        accumulate=2,
        max_norm=0.5,
    )
    decaying, rest = [twin[0].weight, twin[2].weight], [*twin[1].parameters()]
    optimizer = AdamW(
        [
            {"params": decaying, "weight_decay": 0.1},
            {"params": [*rest, twin[2].bias], "weight_decay": 0.0},
        ]
    )
    for step, loss in enumerate(losses):
        both = torch.cat(batches[2 * step : 2 * step + 2])
        want = F.cross_entropy(twin(both[:, :-1]).flatten(0, 1), both[:, 1:].flatten())
        assert_near(torch.tensor(loss, dtype=torch.float64), want.detach())
        optimizer.zero_grad()
        want.backward()
        nn.utils.clip_grad_norm_(twin.parameters(), 0.5)
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (step + 1)
        optimizer.step()
    assert len(losses) == 10
    for got, want in zip(model.parameters(), twin.parameters(), strict=True):
        assert_near(got.detach(), want.detach())
