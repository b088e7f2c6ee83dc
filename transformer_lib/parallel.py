"""Parallel: several processes train one model, by torch.distributed.

Started with ``torchrun --nproc-per-node N script.py``, the script runs N times at
once; each process takes its share of every batch, and all take the same steps. Give
each its own random numbers if the model has dropout: ``torch.manual_seed(rank)``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from transformer_lib.blocks import Stack
from transformer_lib.training import Loss

_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK")
Batch = TypeVar("Batch", bound=Tensor | tuple[Any, ...])


@dataclass(frozen=True, kw_only=True, slots=True)
class Processes:
    """Which of how many processes this one is, counted from 0, and where it computes.

    Raises:
        ValueError: if there is no such process.
    """

    rank: int
    size: int
    device: torch.device

    def __post_init__(self) -> None:
        if not 0 <= self.rank < self.size:
            raise ValueError(
                "a rank must be from 0 to size - 1, "
                f"got rank={self.rank}, size={self.size}"
            )


@contextmanager
def processes() -> Iterator[Processes]:
    """Join the processes that torchrun started, and leave them at the end.

    Each takes one GPU (by NCCL), or all the CPU (by gloo) where there is no GPU.
    Without torchrun this process is the only one, and nothing is set up.

    Raises:
        ValueError: if torchrun's variables are incomplete, or no GPU is left.
    """
    found = {name: os.environ[name] for name in _NAMES if name in os.environ}
    _check_environment(found)
    if not found:
        kind = "cuda" if torch.cuda.is_available() else "cpu"
        yield Processes(rank=0, size=1, device=torch.device(kind))
        return
    rank, size, local_rank = (int(found[name]) for name in _NAMES)
    device = _device(local_rank)
    here = Processes(rank=rank, size=size, device=device)
    dist.init_process_group({"cuda": "nccl", "cpu": "gloo"}[device.type])
    try:
        yield here
    finally:
        dist.destroy_process_group()


def shard_batch(batch: Batch, here: Processes) -> Batch:
    """Return this process's rows of a batch: a tensor, or a tuple of tensors.

    Rows that cannot be dealt out evenly go to the first processes; with fewer rows
    than processes, the last get none.

    Raises:
        ValueError: if the batch holds anything else, or unequal numbers of rows.
    """
    parts = batch if isinstance(batch, tuple) else (batch,)
    _check_rows(parts)
    own = [part.tensor_split(here.size)[here.rank] for part in parts]
    if not isinstance(batch, tuple):
        return cast(Batch, own[0])
    # a NamedTuple makes itself from a list by _make
    return cast(Batch, getattr(batch, "_make", tuple)(own))


def mean_over_processes(loss: Loss) -> Loss:
    """Return the loss over all processes' shares, which all report and step by.

    `data_parallel` and `fully_shard_model` average gradients over processes, and
    `train` divides by the number of tokens. So this multiplies each process's
    gradient by ``size`` and returns the sums over all processes: even with unequal
    shares, each step equals a single process's step. A single process gets its loss
    unchanged.
    """

    def sums(model: nn.Module, batch: Any) -> tuple[Tensor, Tensor | int]:
        total, n_tokens = loss(model, batch)
        if not dist.is_initialized():
            return total, n_tokens
        # one message for both; float64 counts exactly
        both = torch.zeros(2, dtype=torch.float64, device=total.device)
        both[0], both[1] = total.detach(), n_tokens
        dist.all_reduce(both)
        gradient = (total - total.detach()) * dist.get_world_size()  # its value is 0
        return both[0].to(total.dtype) + gradient, both[1].long()

    return sums


def data_parallel(model: nn.Module) -> DistributedDataParallel:
    """Let each process hold the whole model, as the first one has it.

    Gradients are averaged while the backward pass still runs. Train what is returned;
    save the model itself, which has the same weights. Source: Li et al. 2020,
    section 3.2.

    Raises:
        ValueError: outside `processes`, or without torchrun.
    """
    _check_joined("data_parallel")
    return DistributedDataParallel(model)


def fully_shard_model(model: nn.Module) -> nn.Module:
    """Shard the first process's weights over all processes.

    A block's weights are gathered before it computes, and freed afterward. The
    model is changed in place: make the optimizer afterward, and call only the
    model itself. Source: Zhao et al. 2023, section 3.2.

    Raises:
        ValueError: outside `processes`, or without torchrun.
    """
    from torch.distributed.fsdp import fully_shard  # slow, so only where it is used

    _check_joined("fully_shard_model")
    for tensor in model.state_dict().values():
        dist.broadcast(tensor, src=0)
    blocks = [b for s in model.modules() if isinstance(s, Stack) for b in s.blocks]
    for module in (*blocks, model):
        fully_shard(module)
    return model


def gather_state_dict(model: nn.Module) -> dict[str, Tensor]:
    """Gather the state of a model, `fully_shard_model` or not, in the first process.

    All processes must call it; the others get an empty dictionary.
    """
    from torch.distributed.checkpoint import state_dict as gather

    options = gather.StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights = gather.get_model_state_dict(model, options=options)
    return cast(dict[str, Tensor], weights)


def _device(local_rank: int) -> torch.device:
    """Return this process's own GPU, or the CPU where there is none."""
    n_gpus = torch.cuda.device_count()
    if n_gpus == 0:
        return torch.device("cpu")
    if local_rank >= n_gpus:
        raise ValueError(
            f"each process needs a GPU of its own, got LOCAL_RANK={local_rank} and "
            f"{n_gpus} GPUs; start at most {n_gpus}, or set CUDA_VISIBLE_DEVICES=''"
        )
    torch.cuda.set_device(local_rank)
    return torch.device("cuda", local_rank)


def _check_environment(found: dict[str, str]) -> None:
    """Refuse what torchrun would not have set."""
    if (found and len(found) < len(_NAMES)) or not all(
        map(str.isdigit, found.values())
    ):
        raise ValueError(
            f"{', '.join(_NAMES)} must all be integers, or none be set, "
            f"got {found}; start with torchrun --nproc-per-node N"
        )


def _check_rows(parts: tuple[Any, ...]) -> None:
    shapes = [tuple(x.shape) if isinstance(x, Tensor) else type(x) for x in parts]
    rows = {shape[:1] if isinstance(shape, tuple) else () for shape in shapes}
    if len(rows) != 1 or () in rows:
        raise ValueError(
            "a batch must be a tensor or a tuple of tensors with one number of rows, "
            f"got {shapes}"
        )


def _check_joined(name: str) -> None:
    if not dist.is_initialized():
        raise ValueError(
            f"{name} needs several processes, got only one; start with "
            "torchrun, and call it inside `with processes():`"
        )
