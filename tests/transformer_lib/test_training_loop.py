"""training.loop: what a step does, its rate, and what is refused."""

import io
import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from samples import double, law, normal, without_hook
from tolerances import assert_near
from torch import nn
from torch.optim import SGD, AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from tqdm import tqdm
from transformers import get_cosine_schedule_with_warmup

from transformer_lib.training import (
    language_model_loss,
    noam,
    parameter_groups,
    train,
    warmup_cosine,
)

BARE = without_hook("transformer_lib/training/loop")
VOCAB = 11
ROWS = [torch.arange(5 * n).reshape(n, 5) for n in (2, 1, 3, 2, 4, 1)]
BATCHES = [rows * i % VOCAB for i, rows in enumerate(ROWS, 1)]


def bigram(dtype=torch.float64):
    model = nn.Sequential(nn.Embedding(VOCAB, 8), nn.LayerNorm(8), nn.Linear(8, VOCAB))
    for i, parameter in enumerate(model.parameters()):
        parameter.data = normal(i, *parameter.shape, dtype=dtype)
    return model


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()]).clone()


def sgd(model):
    return SGD(model.parameters(), lr=1.0)


@pytest.mark.parametrize(
    ("schedule", "max_norm"), [(lambda step: 0.01 * step, 0.5), (None, math.inf)]
)
def test_steps_are_those_of_a_loop_written_out_in_pytorch(schedule, max_norm):
    model, twin, heard = bigram(), bigram(), []
    model(BATCHES[5]).sum().backward()  # gradients from before do not count
    batches = [*3 * BATCHES, BATCHES[0]]  # the last step takes what is left
    losses = train(
        model,
        batches,
        optimizer=AdamW(parameter_groups(model, 0.1), lr=0.125),
        schedule=schedule,
        accumulate=2,
        max_norm=max_norm,
        report=lambda *told: heard.append((*told, weights(model))),
        start=7,
    )
    decaying, rest = [twin[0].weight, twin[2].weight], [*twin[1].parameters()]
    optimizer = AdamW(
        [
            {"params": decaying, "weight_decay": 0.1},
            {"params": [*rest, twin[2].bias], "weight_decay": 0.0},
        ],
        lr=0.125,
    )
    for i, (step, loss, norm, after) in enumerate(heard):
        both = torch.cat(batches[2 * i : 2 * i + 2])
        want = F.cross_entropy(twin(both[:, :-1]).flatten(0, 1), both[:, 1:].flatten())
        optimizer.zero_grad()
        want.backward()
        want_norm = nn.utils.clip_grad_norm_(twin.parameters(), max_norm)
        for group in optimizer.param_groups:
            group["lr"] = schedule(8 + i) if schedule else group["lr"]
        optimizer.step()
        assert step == 8 + i
        assert_near(double([loss, norm]), torch.stack([want, want_norm]).detach())
        assert_near(after, weights(twin))
    assert losses == [loss for _, loss, _, _ in heard]
    assert [type(loss) for loss in losses] == [float] * 10
    assert max(norm for _, _, norm, _ in heard) > 0.5


def breaks_at(step, value):
    """Return a loss that adds `value(model)` in one of its calls."""
    calls = []

    def loss(model, batch):
        calls.append(batch)
        total, n_tokens = language_model_loss(model, batch)
        return total + (value(model) if len(calls) == step else 0.0), n_tokens

    return loss


BROKEN = {
    "loss is NaN": (lambda model: torch.nan, "loss=nan, norm .*"),
    "loss is infinite": (lambda model: torch.inf, "loss=inf, norm .*"),
    "gradient is infinite": (
        lambda model: (model[0].weight[0, 0] * 0).sqrt(),
        r"loss=\d.*, norm of the gradient=(nan|inf)",
    ),
}


@pytest.mark.parametrize(("value", "got"), BROKEN.values(), ids=BROKEN)
def test_what_is_not_finite_never_reaches_the_weights(value, got):
    model, twin = bigram(), bigram()
    ours, theirs = (AdamW(parameter_groups(net, 0.1)) for net in (model, twin))
    advice = "the weights are as before it: lower the learning rate, or check the"
    message = f"loss and gradient must be finite, got {got} at step 3; {advice} step's"
    with refused(message):
        train(model, BATCHES, optimizer=ours, loss=breaks_at(3, value))
    train(twin, BATCHES[:2], optimizer=theirs)
    assert weights(model).equal(weights(twin))
    for parameter, other in zip(model.parameters(), twin.parameters(), strict=True):
        for kind, moment in ours.state[parameter].items():
            assert moment.equal(theirs.state[other][kind])


def test_without_a_batch_or_a_token_nothing_changes():
    model, padding = bigram(), torch.zeros(2, 4, dtype=torch.long)
    loss = partial(language_model_loss, ignore=0)
    assert train(model, [], optimizer=sgd(model)) == []
    assert train(model, [padding], optimizer=sgd(model), loss=loss) == [0.0]
    assert weights(model).equal(weights(bigram()))


def test_each_step_trains_and_the_end_is_ready_for_use_even_an_error():
    model, modes = bigram().eval(), []
    model[1].register_forward_pre_hook(lambda part, _: modes.append(part.training))
    train(model, BATCHES[:3], optimizer=sgd(model), report=lambda *_: model.eval())
    assert modes == [True] * 3
    assert not any(part.training for part in model.modules())
    with pytest.raises(ZeroDivisionError):
        train(model, BATCHES, optimizer=sgd(model), report=lambda *_: 1 / 0)
    assert not any(part.training for part in model.modules())


def test_autocast_holds_in_every_batch_and_the_weights_stay_wide():
    model, dtypes = bigram(dtype=torch.float32), []
    model.register_forward_hook(lambda *args: dtypes.append(args[-1].dtype))
    autocast = torch.autocast("cpu", dtype=torch.bfloat16)
    options = {"optimizer": sgd(model), "autocast": autocast}
    losses = train(model, BATCHES[:4], accumulate=2, **options)
    assert dtypes == [torch.bfloat16] * 4
    assert weights(model).dtype == torch.float32
    assert all(map(math.isfinite, losses))


def test_the_caller_s_progress_bar_counts_batches():
    screen, model = io.StringIO(), bigram()
    bar = partial(tqdm, file=screen)
    train(model, BATCHES, optimizer=sgd(model), accumulate=4, progress=bar)
    assert "6/6" in screen.getvalue()


def test_no_batch_is_drawn_before_its_step():
    drawn, seen, model = [], [], bigram()
    stream = (drawn.append(batch) or batch for batch in BATCHES)
    options = {"optimizer": sgd(model), "accumulate": 2}
    train(model, stream, **options, report=lambda *_: seen.append(len(drawn)))
    assert seen == [2, 4, 6]


def test_only_what_the_optimizer_moves_is_clipped_and_moved():
    model, twin = bigram(), bigram()
    twin[2].requires_grad_(False)
    norms = []
    for net in (model, twin):
        optimizer = SGD(net[0].parameters(), lr=1.0)
        train(net, BATCHES, optimizer=optimizer, report=lambda *r: norms.append(r))
    assert norms[:6] == norms[6:]
    assert weights(model).equal(weights(twin))
    assert model[2].weight.equal(bigram()[2].weight)


def test_tied_parameters_are_moved_once_and_frozen_ones_never():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 4), nn.Linear(4, 5))
    model[2].weight = model[0].weight
    model[1].requires_grad_(False)
    names = {p: name for name, p in model.named_parameters()}
    groups = [group["params"] for group in parameter_groups(model, 0.1)]
    assert [[names[p] for p in group] for group in groups] == [["0.weight"], ["2.bias"]]
    AdamW(parameter_groups(nn.LayerNorm(3), 0.1))  # of vectors alone


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: CPU only")
def test_the_loop_follows_the_model_to_the_gpu():
    model, twin = bigram(), bigram().cuda()
    here = train(model, BATCHES, optimizer=sgd(model), accumulate=2)
    there = train(twin, BATCHES, optimizer=sgd(twin), accumulate=2)
    assert_near(double(there), double(here))
    assert_near(weights(twin).cpu(), weights(model))


HALF = {"peak": 1.0, "warmup": 10, "total": 30, "floor": 0.2}


def some_optimizer():
    return SGD([nn.Parameter(torch.zeros(1))], lr=0.3)


def assert_same_rates(scheduler, n, **numbers):
    """Compare the rates of updates 0, 1, 2, ... with those of PyTorch's scheduler."""
    want = []
    for _ in range(n):
        want += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    got = [warmup_cosine(step, peak=0.3, **numbers) for step in range(n)]
    assert_near(double(got), double(want))


def test_the_cosine_is_that_of_hugging_face_and_with_a_floor_of_pytorch():
    for warmup, total in ((5, 20), (0, 7), (1, 2)):
        theirs = get_cosine_schedule_with_warmup(some_optimizer(), warmup, total)
        assert_same_rates(theirs, total + 1, warmup=warmup, total=total)
    optimizer = some_optimizer()
    rise = LinearLR(optimizer, start_factor=1e-12, total_iters=5)
    fall = CosineAnnealingLR(optimizer, T_max=15, eta_min=0.1)
    theirs = SequentialLR(optimizer, [rise, fall], milestones=[5])
    assert_same_rates(theirs, 21, warmup=5, total=20, floor=0.1)
    assert warmup_cosine(99, **HALF) == HALF["floor"]


@law
@given(
    d_model=st.integers(1, 4096),
    warmup=st.integers(1, 4000),
    step=st.integers(0, 12_000),
)
def test_noam_rises_in_a_line_and_falls_as_the_root_of_the_step(d_model, warmup, step):
    rise, fall = step / warmup, math.sqrt(warmup / max(step, 1))
    rate = noam(step, d_model=d_model, warmup=warmup)
    assert math.isclose(rate, min(rise, fall) / math.sqrt(d_model * warmup))


def test_what_does_not_fit_is_refused():
    options = {"model": bigram(), "batches": BATCHES, "optimizer": some_optimizer()}
    with refused("accumulate must be at least 1 batch, got 0"):
        BARE.train(**options, accumulate=0)
    for norm in (0.0, math.nan):
        with refused(rf"max_norm must be above 0, got {norm}; math\.inf clips nothing"):
            BARE.train(**options, max_norm=norm)
    with refused(r"weight_decay must not be negative, got -0\.1"):
        parameter_groups(bigram(), -0.1)
    with refused("step must not be negative, got -1"):
        BARE.noam(-1, d_model=8, warmup=4)
    with refused("step must not be negative, got -2"):
        BARE.warmup_cosine(-2, **HALF)
    for sizes in ({"d_model": 8, "warmup": 0}, {"d_model": 0, "warmup": 4}):
        got = "d_model={d_model}, warmup={warmup}".format(**sizes)
        with refused(f"d_model and warmup must be at least 1, got {got}"):
            BARE.noam(1, **sizes)
    order = "warmup must not be negative and must end before total, got "
    for warmup in (30, -1):
        with refused(f"{order}warmup={warmup}, total=30"):
            BARE.warmup_cosine(1, **HALF | {"warmup": warmup})
    for floor in (2.0, -0.1):
        with refused(f"floor must lie between 0 and peak, got floor={floor}, peak=1.0"):
            BARE.warmup_cosine(1, **HALF | {"floor": floor})
