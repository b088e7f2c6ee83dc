"""The book's own models: any architecture of the tower in one folder."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import nn

from transformer_lib.blocks import Config
from transformer_lib.checkpoints.files import (
    fill,
    new_folder,
    once,
    read_safetensors,
    write_safetensors,
)
from transformer_lib.checkpoints.pretrained import CONFIG, WEIGHTS, read_json
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import (
    Classifier,
    Encoder,
    each_token,
    mean_of_tokens,
)
from transformer_lib.encoder_decoder import EncoderDecoder

FORMAT = "transformer_lib model, version 1"
FIELDS = ("format", "kind", "config", "arguments", "metadata")
POOLS = MappingProxyType({pool.__name__: pool for pool in (mean_of_tokens, each_token)})


def save_model(
    model: nn.Module,
    folder: str | os.PathLike[str],
    *,
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Write a model of the tower to a new folder, whole or not at all.

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
    """Build the model with any weights; the reader's random numbers stay theirs."""
    try:
        with torch.random.fork_rng(devices=[]):
            return kind.build(Config.from_dict(config), **arguments)
    except TypeError as error:
        raise ValueError(
            "config and arguments of a saved model must be such as it takes, got "
            f"{config} and {arguments} ({error})"
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
