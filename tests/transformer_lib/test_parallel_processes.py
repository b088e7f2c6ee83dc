"""Two processes, started by torchrun, against one process that does it all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from models import draw_tokens, tiny
from safetensors.torch import load_file, save_file
from tolerances import assert_near
from torch.distributed.tensor import DTensor
from torch.optim import AdamW

from transformer_lib.decoder import Decoder
from transformer_lib.parallel import (
    Processes,
    data_parallel,
    fully_shard_model,
    gather_state_dict,
    mean_over_processes,
    processes,
    shard_batch,
)
from transformer_lib.training import language_model_loss, parameter_groups, train

TESTS = Path(__file__).parents[1]
KINDS = {"data parallel": data_parallel, "sharded": fully_shard_model}
ALONE = Processes(rank=0, size=1, device=torch.device("cpu"))
N_ROWS = [5, 1, 4, 3, 2, 6, 5, 5, 1, 3]
"""Rows of each batch: odd numbers give unequal shares, 1 leaves a process none."""


def batches():
    """Draw sequences whose padding makes the shares still more unequal in tokens."""
    for i, n_rows in enumerate(N_ROWS):
        tokens = draw_tokens(i, n_rows, 8)
        lengths = 2 + (torch.arange(n_rows) * 5 + i) % 7
        yield tokens.masked_fill(torch.arange(8) >= lengths[:, None], 0)


def decoder(seed):
    torch.manual_seed(seed)
    return Decoder(tiny(n_kv_heads=2)).double()


def trained(model, here, **options):
    """Take five steps; return all that one could see of them, and the weights."""
    seen, heard = [], []

    def loss(net, tokens):
        seen.append(tokens.tolist())
        return language_model_loss(net, tokens, ignore=0)

    train(
        model,
        (shard_batch(batch, here) for batch in batches()),
        optimizer=AdamW(parameter_groups(model, 0.1), lr=0.05),
        loss=mean_over_processes(loss),
        schedule=lambda step: 0.1 / step,
        accumulate=2,
        report=lambda *step: heard.append(step),
        **options,
    )
    return {"seen": seen, "heard": heard}, gather_state_dict(model)


MAX_NORM = 1.5
"""Some of the steps are longer, and some are not."""


def broken_in_one(here):
    """Return what a process says when the loss of the second one is not finite."""
    scale = torch.nan if here.rank == 1 else 1.0

    def loss(net, tokens):
        total, n_tokens = language_model_loss(net, tokens)
        return total * scale, n_tokens

    model = data_parallel(decoder(0))
    options = {
        "optimizer": AdamW(model.parameters()),
        "loss": mean_over_processes(loss),
    }
    try:
        train(model, (shard_batch(batch, here) for batch in batches()), **options)
    except ValueError as error:
        return str(error)


def work(folder):
    """Do what each process does; torchrun starts this file."""
    with processes() as here:
        told = {"size": here.size}
        for kind, wrap in KINDS.items():
            model = wrap(decoder(seed=here.rank))  # only the first one's may count
            told[kind], weights = trained(model, here, max_norm=MAX_NORM)
            told[kind]["gathered"] = len(weights)
            if weights:
                copies = {name: weight.clone() for name, weight in weights.items()}
                save_file(copies, folder / f"{kind}.safetensors")
        parts = [p.to_local() for p in model.parameters() if isinstance(p, DTensor)]
        told["numbers held"] = sum(part.numel() for part in parts)
        told["broken"] = broken_in_one(here)
        (folder / f"{here.rank}.json").write_text(json.dumps(told))


def crash(folder):
    """Fail in the second process while the first waits for it."""
    with processes() as here:
        if here.rank == 1:
            raise RuntimeError("the second process fails")
        trained(data_parallel(decoder(0)), here)
        (folder / "finished").touch()


def torchrun(what, folder):
    """Start two processes on this machine, away from any GPU."""
    run = "torch.distributed.run --standalone --nproc-per-node 2".split()
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    settings = {
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": paths,
        "PYTHONWARNINGS": "error",
    }
    return subprocess.run(
        [sys.executable, "-m", *run, __file__, what, str(folder)],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two_processes")
    done = torchrun("work", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


@pytest.fixture(scope="module")
def alone():
    return trained(decoder(seed=0), ALONE, max_norm=MAX_NORM)


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_end_where_one_ends(kind, folder, alone):
    _, want = alone
    got = load_file(folder / f"{kind}.safetensors")
    assert got.keys() == want.keys()
    for name, tensor in want.items():
        assert_near(got[name], tensor)
    start = decoder(seed=0).state_dict()
    assert not any(got[name].equal(tensor) for name, tensor in start.items())


@pytest.mark.parametrize("kind", KINDS)
def test_both_report_the_loss_and_the_gradient_of_all(kind, told, alone):
    first, second = (torch.tensor(one[kind]["heard"]).double() for one in told)
    assert first.equal(second)
    want = torch.tensor(alone[0]["heard"]).double()
    assert_near(first, want)
    assert 0 < (want[:, 2] > MAX_NORM).sum() < len(want) == len(N_ROWS) / 2


@pytest.mark.parametrize("kind", KINDS)
def test_each_sees_its_own_rows_and_no_others(kind, told, alone):
    shares = list(zip(*(one[kind]["seen"] for one in told), strict=True))
    assert [a + b for a, b in shares] == alone[0]["seen"]
    assert [len(b) for _, b in shares] == [n // 2 for n in N_ROWS]


def test_each_holds_its_half_of_the_rows_of_every_weight(told):
    for rank, one in enumerate(told):
        rows = [p.tensor_split(2)[rank] for p in decoder(0).parameters()]
        assert one["numbers held"] == sum(part.numel() for part in rows)


def test_only_the_first_one_gathers_the_weights(told):
    gathered = [[one[kind]["gathered"] for kind in KINDS] for one in told]
    names = len(decoder(0).state_dict())
    assert gathered == [[names, names], [0, 0]]


def test_what_is_not_finite_in_one_stops_both_at_the_same_step(told):
    for one in told:
        assert one["size"] == 2
        assert "loss and gradient must be finite, got loss=nan" in one["broken"]
        assert "at step 1;" in one["broken"]


def test_a_crash_in_one_ends_the_other(tmp_path):
    done = torchrun("crash", tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: the second process fails" in done.stderr
    assert not (tmp_path / "finished").exists()


if __name__ == "__main__":
    {"work": work, "crash": crash}[sys.argv[1]](Path(sys.argv[2]))
