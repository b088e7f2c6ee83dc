"""training.loop: what one step does, what it refuses, what the caller hears."""

import io
import math
import subprocess
import sys
from functools import partial

import pytest
import torch
from samples import normal, without_hook
from tolerances import assert_near
from torch import nn
from torch.optim import SGD, AdamW
from tqdm import tqdm

from transformer_lib.training import (
    language_model_loss,
    next_token_loss,
    parameter_groups,
    train,
)

BARE = without_hook("transformer_lib/training/loop")
VOCAB = 11
BATCHES = [torch.arange(5 * i, 5 * i + 10).reshape(2, 5) % VOCAB for i in range(6)]


def bigram(seed=0, dropout=0.0, dtype=torch.float64):
    model = nn.Sequential(
        nn.Embedding(VOCAB, 8), nn.Dropout(dropout), nn.Linear(8, VOCAB)
    )
    for i, parameter in enumerate(model.parameters()):
        parameter.data = normal(seed + i, *parameter.shape, dtype=dtype)
    return model


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()]).clone()


def double(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def sgd(model, lr=1.0):
    return SGD(model.parameters(), lr=lr)


def test_a_bigram_learns_what_follows_what():
    model = bigram(dtype=torch.float32)
    optimizer = AdamW(parameter_groups(model, 0.0), lr=0.1)
    losses = train(model, 20 * BATCHES, optimizer=optimizer)
    assert len(losses) == 120
    assert losses[0] > 2
    assert losses[-1] < 0.05
    assert [type(loss) for loss in losses] == [float] * 120


def test_a_step_is_one_step_of_the_optimizer_down_the_mean_loss():
    model, twin = bigram(), bigram()
    (loss,) = train(model, BATCHES[:1], optimizer=sgd(model), max_norm=math.inf)
    mean = next_token_loss(twin(BATCHES[0]), BATCHES[0])
    mean.backward()
    assert math.isclose(loss, mean.item())
    for parameter in twin.parameters():
        parameter.data -= parameter.grad
    assert_near(weights(model), weights(twin))


def test_batches_of_any_size_add_up_to_one_batch():
    padded = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0], [8, 0, 0, 0, 0]])
    loss = partial(language_model_loss, ignore=0, label_smoothing=0.1)
    model, twin = bigram(), bigram()
    whole = train(model, [padded], optimizer=sgd(model), loss=loss)
    parts = train(twin, padded.split(1), optimizer=sgd(twin), loss=loss, accumulate=3)
    assert math.isclose(whole[0], parts[0])
    assert_near(weights(twin), weights(model))
    assert not weights(model).equal(weights(bigram()))


def test_the_last_step_takes_what_is_left():
    model, twin = bigram(), bigram()
    losses = train(model, BATCHES[:5], optimizer=sgd(model), accumulate=2)
    joined = [torch.cat(BATCHES[i : i + 2]) for i in (0, 2)] + [BATCHES[4]]
    assert_near(double(losses), double(train(twin, joined, optimizer=sgd(twin))))
    assert_near(weights(model), weights(twin))


def test_the_gradient_of_the_mean_is_clipped_and_heard_of_before():
    heard = []
    model, free = bigram(), bigram()
    for net, limit in ((model, 0.25), (free, math.inf)):
        train(
            net,
            BATCHES[:1],
            optimizer=sgd(net),
            max_norm=limit,
            report=lambda *heard_now: heard.append(heard_now),
        )
    start = weights(bigram())
    (_, _, norm), same = heard
    assert same == heard[0]
    free_move, move = weights(free) - start, weights(model) - start
    assert math.isclose(free_move.norm(), norm)
    assert norm > 0.25
    assert_near(move, free_move * 0.25 / (norm + 1e-6))  # PyTorch's guard against 0


def test_gradients_from_before_do_not_count():
    model, twin = bigram(), bigram()
    next_token_loss(model(BATCHES[5]), BATCHES[5]).backward()
    train(model, BATCHES[:1], optimizer=sgd(model))
    train(twin, BATCHES[:1], optimizer=sgd(twin))
    assert weights(model).equal(weights(twin))


def test_the_report_hears_every_step_after_it_was_taken():
    model, heard, before = bigram(), [], [weights(bigram())]

    def report(step, loss, norm):
        assert norm > 0
        assert not weights(model).equal(before[-1])
        before.append(weights(model))
        heard.append((step, loss))

    losses = train(model, BATCHES[:3], optimizer=sgd(model), report=report, start=7)
    assert heard == list(zip([8, 9, 10], losses, strict=True))


def test_the_schedule_sets_the_rate_of_every_group_before_the_step():
    model, rates = bigram(), []
    optimizer = SGD(parameter_groups(model, 0.0), lr=123.0)

    def report(*_):
        rates.append([group["lr"] for group in optimizer.param_groups])

    def first_step_only(step):
        return {1: 0.5, 2: 0.0, 3: 0.0}[step]

    optimizer_options = {"optimizer": optimizer, "schedule": first_step_only}
    train(model, BATCHES[:3], **optimizer_options, report=report)
    assert rates == [[0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]
    twin = bigram()
    train(twin, BATCHES[:1], optimizer=sgd(twin, lr=0.5))
    assert weights(model).equal(weights(twin))


def test_without_a_schedule_the_optimizer_keeps_its_rate():
    model = bigram()
    optimizer = sgd(model, lr=0.125)
    train(model, BATCHES, optimizer=optimizer)
    assert optimizer.param_groups[0]["lr"] == 0.125


def breaks_at(step, value):
    """Return a loss that adds `value(model)` in one of its calls."""
    calls = []

    def loss(model, batch):
        calls.append(batch)
        total, n_tokens = language_model_loss(model, batch)
        return total + (value(model) if len(calls) == step else 0.0), n_tokens

    return loss


BROKEN = {
    "loss is NaN": (lambda model: torch.nan, "got loss=nan, norm .* at step 3;"),
    "loss is infinite": (lambda model: torch.inf, "got loss=inf, norm .* at step 3;"),
    "gradient is infinite": (
        lambda model: (model[0].weight[0, 0] * 0).sqrt(),
        r"got loss=\d.*, norm of the gradient=(nan|inf) at step 3;",
    ),
}


@pytest.mark.parametrize(("value", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_not_finite_never_reaches_the_weights(value, message):
    model, twin = bigram(), bigram()
    ours, theirs = (AdamW(parameter_groups(net, 0.1)) for net in (model, twin))
    advice = " the weights are as before it: lower the learning rate, or look at the"
    with pytest.raises(
        ValueError, match=f"loss and gradient must be finite, {message}{advice} step's"
    ):
        train(model, BATCHES, optimizer=ours, loss=breaks_at(3, value))
    train(twin, BATCHES[:2], optimizer=theirs)
    assert weights(model).equal(weights(twin))
    for parameter, other in zip(model.parameters(), twin.parameters(), strict=True):
        for kind, moment in ours.state[parameter].items():
            assert moment.equal(theirs.state[other][kind])


def test_a_step_without_a_token_changes_nothing():
    model = bigram()
    padding = torch.zeros(2, 4, dtype=torch.long)
    loss = partial(language_model_loss, ignore=0)
    assert train(model, [padding], optimizer=sgd(model), loss=loss) == [0.0]
    assert weights(model).equal(weights(bigram()))


def test_each_step_trains_and_the_end_is_ready_for_use():
    model, modes = bigram().eval(), []
    model.register_forward_pre_hook(lambda net, _: modes.append(net.training))
    train(model, BATCHES[:3], optimizer=sgd(model), report=lambda *_: model.eval())
    assert modes == [True] * 3
    assert not model.training


def test_without_batches_there_is_no_step():
    model = bigram()
    assert train(model, [], optimizer=sgd(model)) == []
    assert weights(model).equal(weights(bigram()))


def test_the_model_is_in_eval_mode_however_training_ends():
    model = bigram()
    with pytest.raises(ZeroDivisionError):
        train(model, BATCHES, optimizer=sgd(model), report=lambda *_: 1 / 0)
    assert not model.training
    assert not model[1].training


def test_dropout_is_on():
    model, twin = bigram(dropout=0.5), bigram()
    torch.manual_seed(0)
    dropped = train(model, BATCHES[:1], optimizer=sgd(model))
    assert dropped != train(twin, BATCHES[:1], optimizer=sgd(twin))


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
    screen = io.StringIO()
    model = bigram()
    bar = partial(tqdm, file=screen)
    train(model, BATCHES, optimizer=sgd(model), accumulate=4, progress=bar)
    assert "6/6" in screen.getvalue()


def test_the_library_needs_no_tqdm():
    code = "import sys; sys.modules['tqdm'] = None; import transformer_lib.training"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_batch_is_drawn_before_its_step():
    drawn, seen = [], []

    def stream():
        for batch in BATCHES:
            drawn.append(batch)
            yield batch

    model = bigram()
    options = {"optimizer": sgd(model), "accumulate": 2}
    train(model, stream(), **options, report=lambda *_: seen.append(len(drawn)))
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


def names(model, group):
    named = {p: name for name, p in model.named_parameters()}
    return [named[p] for p in group["params"]]


def test_matrices_and_embeddings_decay_biases_and_gains_do_not():
    model = nn.Sequential(nn.Embedding(5, 4), nn.LayerNorm(4), nn.Linear(4, 5))
    decaying, rest = parameter_groups(model, 0.1)
    assert names(model, decaying) == ["0.weight", "2.weight"]
    assert names(model, rest) == ["1.weight", "1.bias", "2.bias"]
    assert (decaying["weight_decay"], rest["weight_decay"]) == (0.1, 0.0)


def test_tied_parameters_are_moved_once_and_frozen_ones_never():
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 4), nn.Linear(4, 5))
    model[2].weight = model[0].weight
    model[1].requires_grad_(False)
    decaying, rest = parameter_groups(model, 0.1)
    assert names(model, decaying) == ["0.weight"]
    assert names(model, rest) == ["2.bias"]


def test_a_model_of_vectors_alone_can_be_trained():
    groups = parameter_groups(nn.LayerNorm(3), 0.1)
    assert [len(group["params"]) for group in AdamW(groups).param_groups] == [0, 2]


REFUSED = {
    "no batch a step": (
        {"accumulate": 0},
        "accumulate must be at least 1 batch, got 0",
    ),
    "nothing left of the gradient": (
        {"max_norm": 0.0},
        r"max_norm must be above 0, got 0\.0; math\.inf clips nothing",
    ),
    "NaN as length": ({"max_norm": math.nan}, "max_norm must be above 0, got nan"),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED)
def test_a_setting_out_of_range_is_refused(options, message):
    model = bigram()
    with pytest.raises(ValueError, match=message):
        BARE.train(model, BATCHES, optimizer=sgd(model), **options)


def test_negative_decay_is_refused():
    with pytest.raises(
        ValueError, match=r"weight_decay must not be negative, got -0\.1"
    ):
        parameter_groups(bigram(), -0.1)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: CPU only")
def test_the_loop_follows_the_model_to_the_gpu():
    model, twin = bigram(), bigram().cuda()
    here = train(model, BATCHES, optimizer=sgd(model), accumulate=2)
    there = train(twin, BATCHES, optimizer=sgd(twin), accumulate=2)
    assert_near(double(there), double(here))
    assert_near(weights(twin).cpu(), weights(model))
