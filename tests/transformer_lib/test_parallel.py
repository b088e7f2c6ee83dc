"""parallel: one process alone, and two against one that does it all."""

import json
import os
import sys
import warnings
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest
import torch
import torch.distributed as dist
from commands import run_python
from models import TINY, draw_tokens, tiny
from refusals import refused
from safetensors.torch import load_file, save_file
from samples import DEVICES, normal, without_hook
from tolerances import assert_near
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.optim import SGD, AdamW

from transformer_book import train as command
from transformer_book.pretrained import evaluation, load_folder
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.parallel import (
    Processes,
    data_parallel,
    fully_shard_model,
    gather_state_dict,
    mean_over_processes,
    processes,
    shard_batch,
)
from transformer_lib.training import (
    language_model_loss,
    parameter_groups,
    save_snapshot,
    train,
)

BARE = without_hook("transformer_lib/parallel")
TOKENS = draw_tokens(0, 3, 9)


def place(rank, size):
    return Processes(rank=rank, size=size, device=torch.device("cpu"))


NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")


@pytest.fixture
def _one_by_torchrun(monkeypatch):
    """Set what torchrun sets for a single process on a machine without a GPU."""
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    for name, value in zip((*NAMES, "MASTER_PORT"), "0100", strict=True):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MASTER_ADDR", "localhost")


@pytest.fixture
def _alone(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_alone")
def test_without_torchrun_there_is_one_process_and_nothing_to_set_up(monkeypatch):
    for kind in ("cpu", "cuda"):
        monkeypatch.setattr(torch.cuda, "is_available", lambda k=kind: k == "cuda")
        with processes() as here:
            # a value, which nothing changes
            assert here in {Processes(rank=0, size=1, device=torch.device(kind))}
            assert not dist.is_initialized()
    for wrap in (data_parallel, fully_shard_model):
        with refused(f"{wrap.__name__} needs several processes, got only one"):
            wrap(nn.Linear(2, 2))


@pytest.mark.usefixtures("_one_by_torchrun")
def test_by_torchrun_the_processes_can_talk_until_the_end_even_an_error():
    with processes() as here:
        assert here == place(0, 1)
        assert dist.get_backend() == "gloo"
    assert not dist.is_initialized()
    with pytest.raises(ZeroDivisionError), processes():
        1 / dist.get_rank()
    assert not dist.is_initialized()


INTEGERS = "RANK, WORLD_SIZE, LOCAL_RANK must all be integers, or none be set, got"
RANKS = [
    ({"RANK": "1"}, f"{INTEGERS} {{'RANK': '1'}}; start with torchrun --nproc-per-n"),
    ({"LOCAL_RANK": "0"}, INTEGERS),
    ({"WORLD_SIZE": "two"}, f"{INTEGERS} .*'WORLD_SIZE': 'two'"),
    ({"RANK": "2", "WORLD_SIZE": "2"}, "from 0 to size - 1, got rank=2, size=2"),
]
"""What is set, one after the other."""


@pytest.mark.usefixtures("_alone")
def test_what_torchrun_would_not_set_is_refused(monkeypatch):
    for values, message in RANKS:
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        with refused(message), processes():
            pass
        assert not dist.is_initialized()


@pytest.mark.usefixtures("_one_by_torchrun")
def test_each_process_takes_its_own_gpu_or_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    taken, spoken = [], []
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(dist, "init_process_group", spoken.append)
    monkeypatch.setattr(dist, "destroy_process_group", lambda: spoken.append("end"))
    monkeypatch.setenv("LOCAL_RANK", "1")
    with processes() as here:
        assert here.device == torch.device("cuda", 1)
    assert (taken, spoken) == ([1], ["nccl", "end"])
    monkeypatch.setenv("LOCAL_RANK", "2")
    with refused("a GPU of its own, got LOCAL_RANK=2 and 2 GPUs"), processes():
        pass


class Example(NamedTuple):
    text: Tensor
    label: Tensor


def test_the_parts_of_a_batch_are_cut_at_the_same_row():
    for kind in (lambda *parts: parts, Example):
        batch = kind(torch.arange(10).reshape(5, 2), torch.arange(5) + 90)
        first, last = (shard_batch(batch, place(rank, 2)) for rank in (0, 1))
        assert type(first) is type(last) is type(batch)
        assert first[0].equal(batch[0][:3])
        assert first[1].tolist() == [90, 91, 92]
        assert last[0].equal(batch[0][3:])
        assert last[1].tolist() == [93, 94]


def test_what_has_no_rows_to_share_is_refused():
    message = "a batch must be a tensor or a tuple of tensors with one number of rows"
    for batch, shapes in (
        ((torch.ones(4, 2), torch.ones(3)), r"\[\(4, 2\), \(3,\)\]"),
        (torch.tensor(3), r"\[\(\)\]"),
        ((torch.ones(4), "four"), r"\[\(4,\), <class 'str'>\]"),
        ((), r"\[\]"),
        ([torch.ones(4)], r"\[<class 'list'>\]"),
    ):
        with refused(f"{message}, got {shapes}"):
            BARE.shard_batch(batch, place(0, 2))


def test_alone_the_loss_is_the_loss():
    net = Decoder(TINY)
    total, n_tokens = mean_over_processes(language_model_loss)(net, TOKENS)
    want, n_wanted = language_model_loss(net, TOKENS)
    assert total.equal(want)
    assert n_tokens == n_wanted == 24
    total.backward()
    assert net.embedding.weight.grad.abs().sum() > 0


def test_the_processes_talk_where_the_loss_lies(monkeypatch):
    heard = []
    monkeypatch.setattr(dist, "is_initialized", lambda: True)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(dist, "all_reduce", heard.append)
    scale = torch.ones((), device="meta", requires_grad=True)
    total, n_tokens = mean_over_processes(lambda *_: (scale * 3, 7))(nn.Identity(), 0)
    assert [x.device.type for x in (*heard, total, n_tokens)] == ["meta"] * 3


@pytest.mark.parametrize("device", DEVICES)
def test_the_whole_weights_of_a_whole_model_are_its_own_in_main_memory(device):
    net = Decoder(TINY).to(device)
    got = gather_state_dict(net)
    assert got.keys() == net.state_dict().keys()
    assert all(got[name].equal(x.cpu()) for name, x in net.state_dict().items())


STACKS = {Decoder: ["stack"], EncoderDecoder: ["encoder", "decoder"]}


@pytest.mark.parametrize("kind", STACKS)
@pytest.mark.usefixtures("_one_by_torchrun")
def test_every_block_is_sharded_by_itself(kind):
    blocks = [f"{stack}.blocks.{i}" for stack in STACKS[kind] for i in (0, 1)]
    # where PyTorch shards by itself
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    inputs = [TOKENS.to(device)] * len(STACKS[kind])
    net = kind(TINY).double().to(device)
    want = net(*inputs)
    with processes():
        net = fully_shard_model(net)
        assert all(isinstance(p, DTensor) for p in net.parameters())
        parts = [name for name, m in net.named_modules() if hasattr(m, "unshard")]
        assert_near(net(*inputs), want)
    assert parts == ["", *blocks]


@pytest.mark.usefixtures("_one_by_torchrun")
def test_a_snapshot_of_shards_is_refused(tmp_path):
    message = r"a snapshot holds whole weights, .*, got shards of \['embedding.weight',"
    with processes():
        net = fully_shard_model(Decoder(TINY))
        kept = {"model": net, "optimizer": SGD(net.parameters(), lr=0.1)}
        with refused(message):
            save_snapshot(tmp_path / "file", **kept, step=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("_one_by_torchrun")
def test_a_loss_without_a_graph_or_with_a_plain_count_will_do():
    scale = normal(0, 1).requires_grad_()
    loss = mean_over_processes(lambda model, batch: (scale.sum() * batch, 7))
    with processes():
        total, n_tokens = loss(nn.Identity(), 3.0)
    total.backward()
    assert total.equal(scale.sum() * 3)
    assert scale.grad.item() == 3
    assert n_tokens.equal(torch.tensor(7))


TESTS = Path(__file__).parents[1]
KINDS = {"data parallel": data_parallel, "sharded": fully_shard_model}
ALONE = place(0, 1)
N_ROWS = [5, 1, 4, 3, 2, 6, 5, 5, 1, 3]
"""Rows of each batch: odd numbers give unequal shares, 1 leaves a process none."""


def batches():
    """Draw sequences whose padding makes the shares still more unequal in tokens."""
    for i, n_rows in enumerate(N_ROWS):
        lengths = 2 + (torch.arange(n_rows)[:, None] * 5 + i) % 7
        yield draw_tokens(i, n_rows, 8).masked_fill(torch.arange(8) >= lengths, 0)


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


COMMAND = "--task reversal --model reverser --batch-size 8 --warmup 2 --steps 8".split()
MAX_NORM = 1.5
"""Some of the steps are longer, and some are not."""


def broken_in_one(here):
    """Return what a process says when the loss of the second one is not finite."""
    scale = torch.nan if here.rank == 1 else 1.0

    def loss(net, tokens):
        total, n_tokens = language_model_loss(net, tokens)
        return total * scale, n_tokens

    model = data_parallel(decoder(0))
    options = {"optimizer": SGD(model.parameters()), "loss": mean_over_processes(loss)}
    try:
        train(model, (shard_batch(batch, here) for batch in batches()), **options)
    except ValueError as error:
        return str(error)


def train_by_command(folder, here, strategy):
    """Train by the command line in the processes at hand, with a short exam."""
    few = partial(evaluation.reversal, count=100)
    with (
        patch.object(command, "processes", lambda: nullcontext(here)),
        patch.object(evaluation, "reversal", few),
    ):
        command.main([*COMMAND, "--strategy", strategy, "--out", str(folder)])


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
        with warnings.catch_warnings(action="default"):  # FSDP warns of a view
            for strategy in command.STRATEGIES:
                train_by_command(folder / strategy, here, strategy)
        (folder / f"{here.rank}.json").write_text(json.dumps(told))
        dist.barrier()
        if here.rank == 1:
            raise RuntimeError("the second process fails")
        trained(data_parallel(decoder(0)), here)  # waits for the other one
        (folder / "finished").touch()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Let two processes work on this machine, away from any GPU."""
    folder = tmp_path_factory.mktemp("two_processes")
    run = "torch.distributed.run --standalone --nproc-per-node 2".split()
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    settings = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    settings |= {"PYTHONPATH": paths, "PYTHONWARNINGS": "error"}
    command = ["-m", *run, __file__, folder]
    done = run_python(*command, env=os.environ | settings, timeout=120)
    assert "RuntimeError: the second process fails" in done.stderr, done.stderr
    assert done.returncode == 1
    assert not (folder / "finished").exists()  # the crash ended the other one, too
    return folder


@pytest.fixture(scope="module")
def told(folder):
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


@pytest.fixture(scope="module")
def alone():
    return trained(decoder(seed=0), ALONE, max_norm=MAX_NORM)


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_report_and_end_as_one_with_rows_of_their_own(
    kind, folder, told, alone
):
    said, want = alone
    shares = list(zip(*(one[kind]["seen"] for one in told), strict=True))
    assert [a + b for a, b in shares] == said["seen"]
    assert [len(b) for _, b in shares] == [n // 2 for n in N_ROWS]
    first, second = (torch.tensor(one[kind]["heard"]).double() for one in told)
    assert first.equal(second)
    heard = torch.tensor(said["heard"]).double()
    assert_near(first, heard)
    assert 0 < (heard[:, 2] > MAX_NORM).sum() < len(heard) == len(N_ROWS) / 2
    got = load_file(folder / f"{kind}.safetensors")
    assert got.keys() == want.keys()
    for name, tensor in want.items():
        assert_near(got[name], tensor)


def test_the_command_line_trains_in_two_processes_as_in_one(folder, tmp_path):
    train_by_command(tmp_path / "one", ALONE, "data-parallel")
    want = load_folder(tmp_path / "one").about["final loss"]
    for strategy in command.STRATEGIES:
        got = load_folder(folder / strategy).about["final loss"]
        assert abs(got - want) < 1e-6, strategy


def test_each_holds_half_of_every_weight_and_the_first_one_gathers_them(told):
    for rank, one in enumerate(told):
        rows = [p.tensor_split(2)[rank] for p in decoder(0).parameters()]
        assert one["numbers held"] == sum(part.numel() for part in rows)
    gathered = [[one[kind]["gathered"] for kind in KINDS] for one in told]
    names = len(decoder(0).state_dict())
    assert gathered == [[names, names], [0, 0]]


def test_what_is_not_finite_in_one_stops_both_at_the_same_step(told):
    for one in told:
        assert one["size"] == 2
        assert "loss and gradient must be finite, got loss=nan" in one["broken"]
        assert "at step 1;" in one["broken"]


if __name__ == "__main__":
    work(Path(sys.argv[1]))
