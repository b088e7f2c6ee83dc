"""Files of numbers and names, and models that take their weights from them."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from transformer_lib.training.snapshots import misfits, tensor_names


def read_safetensors(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file, by their names.

    Raises:
        ValueError: if the file is no whole safetensors file; nothing in it is run.
    """
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise ValueError(
            f"weights must come from a whole safetensors file, got {str(path)!r} "
            f"({error}); fetch it again, or convert it where it was made"
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """Return the object that a JSON file holds.

    Raises:
        ValueError: if it is missing, or no JSON object.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"a model's folder must hold {path.name} in JSON, got {error!r} for {path}"
        ) from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold a JSON object, got {content!r}")
    return content


def write_safetensors(
    path: str | os.PathLike[str], state: Mapping[str, Tensor]
) -> None:
    """Write tensors to a safetensors file."""
    # copies, as safetensors refuses tensors that share memory
    copies = {name: _copy(tensor, None) for name, tensor in state.items()}
    save_file(copies, path, {"format": "pt"})


def fill(
    model: nn.Module, state: Mapping[str, Tensor], *, dtype: torch.dtype | None = None
) -> None:
    """Give a model copies of the tensors, all of them or none.

    The tensors choose device and dtype, unless ``dtype`` does. The parameters are new
    ones: make the optimizer afterwards. A tensor with several names needs one.

    Raises:
        ValueError: if names or shapes differ; the model is then as it was.
    """
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"the dtype of weights must be a floating one, got {dtype}")
    shared = tensor_names(model)
    wanted = {
        name: tensor
        for tensor, names in shared.items()
        for name in ([name for name in names if name in state] or names[:1])
    }
    check_forms(state, wanted)
    filled: dict[str, Tensor] = {}
    for tensor, names in shared.items():
        copy = _copy(_only(state, names), dtype)
        # one Parameter for all names, or equal ones would be tied no longer
        kept = nn.Parameter(copy) if isinstance(tensor, nn.Parameter) else copy
        filled |= dict.fromkeys(names, kept)
    model.load_state_dict(filled, assign=True)


def once(model: nn.Module) -> dict[str, Tensor]:
    """Return the state dict without second names, as a file needs each tensor once."""
    return {names[0]: tensor for tensor, names in tensor_names(model).items()}


def check_forms(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Refuse tensors for all that is missing, extra or misshapen at once."""
    have, want = (
        {name: _form(tensor) for name, tensor in tensors.items()}
        for tensors in (found, wanted)
    )
    if wrong := misfits(have, want):
        raise ValueError(f"weights must fit the model's config, got: {wrong}")


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a folder to write to, which gets its name only when all went well.

    Raises:
        ValueError: if something is there already.
    """
    folder = Path(path).absolute()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"a model must be saved into a new or empty folder, got {str(path)!r}; "
            "choose another one, or delete what is there"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".", dir=folder.parent) as beside:
        unfinished = Path(beside) / "model"
        unfinished.mkdir()
        yield unfinished
        unfinished.replace(folder)


def _only(state: Mapping[str, Tensor], names: list[str]) -> Tensor:
    """Return the one tensor that is given under any of the names."""
    given = {name: state[name] for name in names if name in state}
    first, *others = given.values()
    if not all(torch.equal(first, other) for other in others):
        raise ValueError(
            "tensors that the model ties must be equal, got different "
            f"{' and '.join(given)}; if that is meant, untie them in the config"
        )
    return first


def _form(tensor: Tensor) -> str:
    """Describe a tensor so that two that may stand for each other read the same."""
    kind = "" if tensor.is_floating_point() else f" of {tensor.dtype}"
    return f"{tuple(tensor.shape)}{kind}"


def _copy(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Return a copy in memory of its own, in the dtype if it is a weight."""
    dtype = dtype if tensor.is_floating_point() else None
    copy = tensor.detach().to(dtype or tensor.dtype, copy=True)
    return copy.contiguous()
