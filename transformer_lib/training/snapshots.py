"""Snapshots: stop a training run, go on later, and get the same numbers."""

import json
import os
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from transformer_lib.tokens.files import write_whole

Kinds = dict[str, list[str]]
"""What the optimizer remembers of each parameter, by the parameter's name."""


def save_snapshot(
    path: str | os.PathLike[str],
    *,
    model: nn.Module,
    optimizer: Optimizer,
    step: int,
    generator: torch.Generator | None = None,
) -> None:
    """Write all that the next step depends on; if that fails, the old file stays.

    That is the weights, the optimizer's moments, the step, the states of PyTorch's
    random numbers and of a ``generator`` of your own. Settings such as the learning
    rate are not kept: they come with the optimizer given to `load_snapshot`.

    Raises:
        ValueError: if the optimizer moves what is not in the model, or remembers
            what is not shaped as its parameter.
    """
    moved = _moved(model, optimizer)
    kinds = {name: sorted(optimizer.state.get(p, {})) for name, p in moved.items()}
    tensors = _model_tensors(model) | _random_states(model, generator)
    for name, parameter in moved.items():
        for kind in kinds[name]:
            tensors[_key(name, kind)] = optimizer.state[parameter][kind]
    _check_forms(_forms(tensors), _forms(_wanted(model, optimizer, generator, kinds)))
    # copies, as safetensors refuses tensors that share memory
    copies = {
        key: tensor.detach().to("cpu", copy=True).contiguous()
        for key, tensor in tensors.items()
    }
    note = {"step": step, "optimizer": type(optimizer).__name__, "kinds": kinds}
    write_whole(Path(path), save(copies, {"snapshot": json.dumps(note)}))


def load_snapshot(
    path: str | os.PathLike[str],
    *,
    model: nn.Module,
    optimizer: Optimizer,
    generator: torch.Generator | None = None,
) -> int:
    """Put a snapshot back, in place, and return its step: ``start`` of `train`.

    The run goes on as if it had never stopped, if the batches do. On another kind of
    device it goes on too, but with other random numbers.

    Raises:
        ValueError: if the file is no whole snapshot, or does not fit; model and
            optimizer are then as they were.
    """
    step, name, kinds, saved = _read(Path(path))
    wanted = _wanted(model, optimizer, generator, kinds)
    _check_forms(
        _forms(saved) | {"optimizer": name},
        _forms(wanted) | {"optimizer": type(optimizer).__name__},
    )
    for key, source in _generators(model, generator).items():
        if key in saved:
            source.set_state(saved[key])
    state = {
        index: {kind: saved[_key(name, kind)] for kind in kinds[name]}
        for index, name in enumerate(_moved(model, optimizer))
        if kinds[name]
    }
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    with torch.no_grad():
        for key, tensor in _model_tensors(model).items():
            tensor.copy_(saved[key])
    return step


def _key(name: str, kind: str) -> str:
    return f"optimizer.{name}.{kind}"


def _moved(model: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's parameters in its order, by their names in the model."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    shards = [name for p, name in names.items() if hasattr(p, "full_tensor")]
    if shards:
        raise ValueError(
            "a snapshot holds whole weights, not shards of a model on several "
            f"processes, got shards of {shards}; see gather_state_dict of parallel"
        )
    moved = [p for group in optimizer.param_groups for p in group["params"]]
    strangers = [tuple(p.shape) for p in moved if p not in names]
    if strangers:
        raise ValueError(
            "the optimizer may update only parameters of the model, "
            f"got others of shapes {strangers}"
        )
    return {names[parameter]: parameter for parameter in moved}


def tensor_names(model: nn.Module) -> dict[Tensor, list[str]]:
    """Return all names of each parameter and buffer."""
    names: dict[Tensor, list[str]] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        names.setdefault(tensor, []).append(name)
    return names


def _model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return parameters and buffers; one that has two names only under its first."""
    return {f"model.{first}": t for t, (first, *_) in tensor_names(model).items()}


def _generators(
    model: nn.Module, own: torch.Generator | None
) -> dict[str, torch.Generator]:
    """Return every source of random numbers that the next step may ask."""
    used = {p.device.index for p in model.parameters() if p.device.type == "cuda"}
    shared = {f"random.cuda:{i}": torch.cuda.default_generators[i] for i in used}
    named = {"random.cpu": torch.default_generator, **shared}
    return named if own is None else {**named, "random.generator": own}


def _random_states(model: nn.Module, own: torch.Generator | None) -> dict[str, Tensor]:
    return {key: g.get_state() for key, g in _generators(model, own).items()}


def _wanted(
    model: nn.Module,
    optimizer: Optimizer,
    generator: torch.Generator | None,
    kinds: Kinds,
) -> dict[str, Tensor]:
    """Return what a snapshot must hold, as tensors of the right shapes and types."""
    number = torch.zeros(())
    return {
        **_model_tensors(model),
        **_random_states(model, generator),
        **{
            _key(name, kind): number if kind == "step" else parameter
            for name, parameter in _moved(model, optimizer).items()
            for kind in kinds.get(name, ["state"])
        },
    }


def _forms(tensors: dict[str, Tensor]) -> dict[str, str]:
    """Describe tensors so that two that may stand for each other read the same.

    The optimizer chooses the types of its state itself, and another kind of device
    has no use for CUDA's random numbers.
    """
    return {
        key: f"{tuple(x.shape)}{'' if key.startswith('optimizer.') else f' {x.dtype}'}"
        for key, x in tensors.items()
        if not key.startswith("random.cuda")
    }


def misfits(found: dict[str, str], wanted: dict[str, str]) -> str:
    """Say all that is missing, extra or of another form, at once."""
    return "; ".join(
        f"{key} is {found.get(key, 'missing')} instead of {wanted.get(key, 'nothing')}"
        for key in {**wanted, **found}
        if found.get(key) != wanted.get(key)
    )


def _check_forms(found: dict[str, str], wanted: dict[str, str]) -> None:
    """Refuse a snapshot for all its misfits at once."""
    if wrong := misfits(found, wanted):
        raise ValueError(
            f"a snapshot must fit model, optimizer and generator, got: {wrong}"
        )


def _read(path: Path) -> tuple[int, str, Kinds, dict[str, Tensor]]:
    """Read a snapshot: the step, the optimizer's class, and all tensors."""
    try:
        with safe_open(path, framework="pt") as file:
            note = json.loads(file.metadata()["snapshot"])
            keys = file.keys()
            # copies, as what comes from the file may still lie in it
            tensors = {key: file.get_tensor(key).clone() for key in keys}
        return note["step"], note["optimizer"], note["kinds"], tensors
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            "a snapshot must be a whole file of save_snapshot, "
            f"got {str(path)!r} ({error!r})"
        ) from error
