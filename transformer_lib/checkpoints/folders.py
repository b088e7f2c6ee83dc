"""Folders of a config and weights: Hugging Face's, whole or in shards, and our own."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path, PureWindowsPath
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transformer_lib.blocks import Config
from transformer_lib.checkpoints.conversion import load, to_hf
from transformer_lib.checkpoints.families import FAMILIES
from transformer_lib.checkpoints.files import (
    fill,
    new_folder,
    once,
    read_json,
    read_safetensors,
    write_safetensors,
)
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import (
    Classifier,
    Encoder,
    each_token,
    mean_of_tokens,
)
from transformer_lib.encoder_decoder import EncoderDecoder

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
    files = _shard_of_each(folder)
    shards = {name: read_safetensors(folder / name) for name in set(files.values())}
    listed, found = (
        sorted(files.items()),
        sorted((tensor, name) for name, shard in shards.items() for tensor in shard),
    )
    if listed != found:
        raise ValueError(
            f"{INDEX} must list what its shards hold, got too much or too little: "
            f"{sorted(set(listed) ^ set(found))} in {folder}"
        )
    return {tensor: shards[name][tensor] for tensor, name in files.items()}


def _shard_of_each(folder: Path) -> dict[str, str]:
    """Return the file of the folder that holds each tensor."""
    files: Any = read_json(folder / INDEX).get("weight_map")
    names = list(files.values()) if isinstance(files, dict) else [files]
    wrong = sorted({repr(name) for name in names if not _is_shard(folder, name)})
    if wrong:
        raise ValueError(
            f"{INDEX} must name files that lie in its folder, "
            f"got {', '.join(wrong)} in {folder}"
        )
    return files


def _is_shard(folder: Path, name: object) -> bool:
    """Say whether this is the bare name of a file that is there."""
    return (
        isinstance(name, str)
        # Windows' paths know both kinds of slashes, and drives
        and PureWindowsPath(name).name == name
        and (folder / name).is_file()
    )


FORMAT = "transformer_lib model, version 1"
FIELDS = ("format", "kind", "config", "arguments", "metadata")
POOLS = MappingProxyType({pool.__name__: pool for pool in (mean_of_tokens, each_token)})


def save_model(
    model: nn.Module,
    folder: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a model of this library to a new folder, whole or not at all.

    ``metadata`` is yours: anything that JSON can say. The attention function is not
    saved, as it changes no result.

    Raises:
        ValueError: if the model is of another kind, or the folder is in use.
    """
    kind = type(model).__name__
    if kind not in KINDS:
        raise ValueError(f"a model to save must be one of {sorted(KINDS)}, got {kind}")
    config, arguments = KINDS[kind].describe(model)
    values = (FORMAT, kind, config.to_dict(), arguments, dict(metadata or {}))
    with new_folder(folder) as unfinished:
        content = json.dumps(dict(zip(FIELDS, values, strict=True)), indent=2)
        (unfinished / CONFIG).write_text(content, "utf-8")
        write_safetensors(unfinished / WEIGHTS, once(model))


def load_model(folder: str | os.PathLike[str]) -> tuple[nn.Module, dict[str, Any]]:
    """Return the model that `save_model` wrote, in evaluation mode, and its metadata.

    Raises:
        ValueError: if the folder holds no such model, or parts of one.
    """
    path = Path(folder)
    saved = read_json(path / CONFIG)
    if sorted(saved) != sorted(FIELDS) or saved["format"] != FORMAT:
        raise ValueError(
            f"a saved model must hold {FIELDS} in the format {FORMAT!r}, got "
            f"{sorted(saved)} in the format {saved.get('format')!r}; from_pretrained "
            "reads what others published"
        )
    kind = KINDS.get(str(saved["kind"]))
    if kind is None:
        raise ValueError(
            f"the kind of a saved model must be one of {sorted(KINDS)}, "
            f"got {saved['kind']!r}"
        )
    model = _built(kind, saved["config"], saved["arguments"])
    fill(model, read_safetensors(path / WEIGHTS))
    return model.eval(), saved["metadata"]


class _Kind(NamedTuple):
    """What must be known of a model besides its weights, and how to build it again."""

    describe: Callable[[Any], tuple[Config, dict[str, Any]]]
    build: Callable[..., nn.Module]


def _built(kind: _Kind, config: Any, arguments: Any) -> nn.Module:
    """Build the model with any weights; draw none of the caller's random numbers."""
    try:
        with torch.random.fork_rng(devices=[]):
            return kind.build(Config.from_dict(config), **arguments)
    except TypeError as error:
        raise ValueError(
            "a saved model must accept its config and arguments, got "
            f"{config} and {arguments} ({error}); save the model again"
        ) from error


def _describe_classifier(model: Classifier) -> tuple[Config, dict[str, Any]]:
    word = getattr(model.pool, "__name__", "")
    if POOLS.get(word) is not model.pool:
        raise ValueError(
            f"the pool of a classifier to save must be one of {sorted(POOLS)}, "
            f"got {model.pool}"
        )
    return model.encoder.config, {"n_classes": model.head.out_features, "pool": word}


def _build_classifier(config: Config, n_classes: int, pool: str) -> Classifier:
    if pool not in POOLS:
        raise ValueError(
            f"the pool of a saved classifier must be one of {sorted(POOLS)}, "
            f"got {pool!r}"
        )
    return Classifier(config, n_classes, pool=POOLS[pool])


KINDS = MappingProxyType(
    {
        "Encoder": _Kind(lambda model: (model.config, {}), Encoder),
        "Decoder": _Kind(lambda model: (model.config, {}), Decoder),
        "EncoderDecoder": _Kind(lambda model: (model.config, {}), EncoderDecoder),
        "Classifier": _Kind(_describe_classifier, _build_classifier),
    }
)
