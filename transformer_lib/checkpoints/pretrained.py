"""Folders as Hugging Face publishes them: a config and weights, whole or in shards."""

import json
import os
from pathlib import Path, PureWindowsPath
from typing import Any

import torch
from torch import Tensor

from transformer_lib.checkpoints.families import FAMILIES
from transformer_lib.checkpoints.files import (
    new_folder,
    read_safetensors,
    write_safetensors,
)
from transformer_lib.checkpoints.renaming import load, to_hf
from transformer_lib.decoder import Decoder

CONFIG, WEIGHTS, INDEX = (
    "config.json",
    "model.safetensors",
    "model.safetensors.index.json",
)


def from_pretrained(
    folder_or_name: str | os.PathLike[str], *, dtype: torch.dtype | None = None
) -> Decoder:
    """Load a published decoder from a local folder, or else by its name on the Hub.

    The weights keep the dtype of the file unless ``dtype`` is given; the model is in
    evaluation mode. A name needs the package huggingface_hub, and a network the first
    time.

    Raises:
        ValueError: if there is no such model, or it does not fit our blocks.
    """
    local = Path(folder_or_name)
    folder = local if local.exists() else _fetched(str(folder_or_name))
    config = read_json(folder / CONFIG)
    family = FAMILIES.get(str(config.get("model_type")))
    if family is None:
        raise ValueError(
            f"model_type must be one of {sorted(FAMILIES)}, "
            f"got {config.get('model_type')!r} in {folder / CONFIG}"
        )
    return load(family, _weights(folder), config, dtype=dtype)


def save_pretrained(
    decoder: Decoder, folder: str | os.PathLike[str], *, family: str
) -> None:
    """Write a new folder that Hugging Face's ``from_pretrained`` loads; whole or not.

    Raises:
        ValueError: if the family has no such model, or the folder is in use.
    """
    config, state = to_hf(decoder, family)
    dtype = str(decoder.embedding.weight.dtype).removeprefix("torch.")
    with new_folder(folder) as unfinished:
        content = json.dumps({**config, "torch_dtype": dtype}, indent=2)
        (unfinished / CONFIG).write_text(content, "utf-8")
        write_safetensors(unfinished / WEIGHTS, state)


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


def _fetched(name: str) -> Path:
    """Return the folder where a model of the Hub lies, fetched if it was not."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise ValueError(
            f"a model must lie in a local folder, got {name!r}, which is none; to "
            "fetch it by that name, pip install huggingface_hub"
        ) from error
    files = [CONFIG, "model*.safetensors", INDEX]
    try:
        return Path(snapshot_download(name, allow_patterns=files))
    except (OSError, ValueError) as error:
        raise ValueError(
            "a model must lie in a local folder, or be one that the Hub gives you, "
            f"got {name!r} ({error}); check the name, the network and your login"
        ) from error


def _weights(folder: Path) -> dict[str, Tensor]:
    """Return all tensors of a folder."""
    if (folder / WEIGHTS).exists():
        return read_safetensors(folder / WEIGHTS)
    if not (folder / INDEX).exists():
        raise ValueError(
            f"a model's folder must hold {WEIGHTS} or {INDEX}, got "
            f"{sorted(path.name for path in folder.iterdir())}; a .bin, .pt or .pth "
            "file is a pickle, which is a program: have transformers convert it, by "
            "its save_pretrained(folder)"
        )
    places = _places(folder)
    shards = {name: read_safetensors(folder / name) for name in set(places.values())}
    listed, found = (
        sorted(places.items()),
        sorted((tensor, name) for name, shard in shards.items() for tensor in shard),
    )
    if listed != found:
        raise ValueError(
            f"{INDEX} must list what its shards hold, got too much or too little: "
            f"{sorted(set(listed) ^ set(found))} in {folder}"
        )
    return {tensor: shards[name][tensor] for tensor, name in places.items()}


def _places(folder: Path) -> dict[str, str]:
    """Return in which file of the folder each tensor lies."""
    places: Any = read_json(folder / INDEX).get("weight_map")
    names = list(places.values()) if isinstance(places, dict) else [places]
    wrong = sorted({repr(name) for name in names if not _is_shard(folder, name)})
    if wrong:
        raise ValueError(
            f"{INDEX} must name files that lie in its folder, "
            f"got {', '.join(wrong)} in {folder}"
        )
    return places


def _is_shard(folder: Path, name: object) -> bool:
    """Say whether this is the bare name of a file that is there."""
    return (
        isinstance(name, str)
        # Windows' paths know both kinds of slashes, and drives
        and PureWindowsPath(name).name == name
        and (folder / name).is_file()
    )
