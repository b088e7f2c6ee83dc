"""The book's models for a page: their numbers as bytes, and how to read them.

A packed model is the length of its header (4 bytes, little-endian), the header (JSON,
filled up with spaces), and the numbers, each tensor from a multiple of 4 bytes on.
`engine/packed.mjs` reads it.
"""

import base64
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book import pretrained
from transformer_lib.cache import quantize
from transformer_lib.checkpoints.files import once
from transformer_lib.checkpoints.folders import KINDS
from transformer_lib.tokens import Tokenizer

FORMAT = "transformer_lib page, version 1"
PART = 96_000
"""Bytes that travel at once: a reader sees the model come, part by part."""

Arrays = Mapping[str, np.ndarray]
Store = Callable[[Tensor], Arrays]


def as_float32(tensor: Float[Tensor, "..."]) -> Arrays:
    """Keep the numbers as they are."""
    return {"values": tensor.numpy().astype("<f4")}


def as_int8(tensor: Float[Tensor, "..."]) -> Arrays:
    """Round each row of a matrix to 255 steps of its own; a vector stays as it is."""
    if tensor.ndim != 2:
        return as_float32(tensor)
    values, scale = quantize(tensor)
    return {"values": values.numpy(), "scale": scale.numpy().astype("<f4")}


def dequantized(model: nn.Module) -> nn.Module:
    """Return a copy with the numbers that a page computes with, after `as_int8`."""
    copy = deepcopy(model)
    for tensor in (parameter.detach() for parameter in once(copy).values()):
        stored = as_int8(tensor)
        tensor.copy_(torch.from_numpy(stored["values"] * stored.get("scale", 1.0)))
    return copy


@cache
def as_in_page(name: str) -> tuple[Any, Tokenizer]:
    """Load one of the book's models of texts once, with the numbers of a page.

    In float64: four digits of what it says are then the same on every machine.
    """
    found = pretrained.load(name)
    assert found.tokenizer is not None
    return dequantized(found.model).double(), found.tokenizer


STORES: Mapping[str, Store] = MappingProxyType({"manual-lm": as_int8})
"""How the shipped models are stored; what is not named here, as float32."""

INT8_BITS = 1.8535
"""Bits per byte of manual-lm in int8; a test measures them again."""


@cache
def pack(name: str) -> bytes:
    """Return one of the book's models as a page reads it: the same bytes each time.

    Raises:
        ValueError: if there is no such model.
    """
    shipped = pretrained.load(name)
    return pack_model(
        shipped.model,
        shipped.tokenizer,
        name=name,
        store=STORES.get(name, as_float32),
        about={"metrics": shipped.metrics, "accuracy": _accuracy(name, shipped)},
    )


def pack_model(
    model: nn.Module,
    tokenizer: Tokenizer | None = None,
    *,
    name: str = "",
    store: Store = as_float32,
    about: Mapping[str, Any] | None = None,
) -> bytes:
    """Pack any model of the book.

    Raises:
        ValueError: if it is of another kind.
    """
    kind = type(model).__name__
    if kind not in KINDS:
        raise ValueError(f"a model to pack must be one of {sorted(KINDS)}, got {kind}")
    config, arguments = KINDS[kind].describe(model)
    body = bytearray()
    tensors = {key: _put(body, one, store) for key, one in once(model).items()}
    header = {
        "format": FORMAT,
        "name": name,
        "kind": kind,
        "config": config.to_dict(),
        "arguments": arguments,
        "tokenizer": None if tokenizer is None else _tokenizer(tokenizer),
        "about": dict(about or {}),
        "tensors": tensors,
        "size": len(body),
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + bytes(body)


def _put(body: bytearray, tensor: Tensor, store: Store) -> dict[str, Any]:
    """Append a tensor; tell its shape, its type, and where each array begins."""
    arrays = store(tensor.detach())
    kind = arrays["values"].dtype.name
    places: dict[str, Any] = {"shape": list(tensor.shape), "type": kind}
    for what, array in arrays.items():
        places[what] = len(body)
        body.extend(array.tobytes())
        body.extend(bytes(-len(body) % 4))
    return places


def _accuracy(name: str, shipped: pretrained.Pretrained) -> dict[str, Any] | None:
    """Tell what rounding costs, where numbers are rounded."""
    if STORES.get(name) is not as_int8:
        return None
    (measure, exact), *_ = shipped.metrics.items()
    return {"measure": measure, "float32": round(exact, 4), "int8": INT8_BITS}


def _tokenizer(tokenizer: Tokenizer) -> dict[str, Any]:
    """Tell all that encoding needs; browsers know other versions of Unicode."""
    return {
        "merges": tokenizer.merges,
        "special_tokens": tokenizer.special_tokens,
        "alphabet": tokenizer.alphabet,
        "letters": _ranges("L"),
        "numbers": _ranges("N"),
    }


@cache
def _ranges(category: str) -> list[list[int]]:
    """Return the first and last character of each run that this Python puts there."""
    there = [unicodedata.category(chr(code))[0] == category for code in range(0x110000)]
    edges = [code for code in range(1, 0x110000) if there[code] != there[code - 1]]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [[first, end - 1] for first, end in pairs]


def parts(packed: bytes) -> list[bytes]:
    """Cut a packed model into what travels at once."""
    return [packed[first : first + PART] for first in range(0, len(packed), PART)]


def scripts(name: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts of classic scripts that bring a model to a page.

    A page from disk may neither fetch nor import.
    """
    pieces = parts(pack(name))
    for number, piece in enumerate(pieces):
        value = json.dumps([len(pieces), base64.b64encode(piece).decode()])
        yield (
            f"{name}-{number}.js",
            f'(globalThis.TransformerWeights??={{}})["{name}-{number}"]={value};\n',
        )


class ServesWeights:
    """Lets a page ask for a model: ``class Translator(ServesWeights, Figure)``.

    The numbers travel as messages, and are no part of the figure's state.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(serve)  # type: ignore[attr-defined]


def serve(widget: Any, content: Any, buffers: Any) -> None:
    """Answer ``{"ask": "weights", "model": name}`` with the parts of that model."""
    if not isinstance(content, dict) or content.get("ask") != "weights":
        return
    name = str(content.get("model"))
    try:
        pieces = parts(pack(name))
    except ValueError as error:
        return widget.send({"weights": name, "problem": str(error)})
    for part, piece in enumerate(pieces):
        widget.send({"weights": name, "part": part, "of": len(pieces)}, buffers=[piece])
