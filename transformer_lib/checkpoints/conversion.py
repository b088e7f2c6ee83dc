"""Configs and weights of Hugging Face's models, to ours and back.

What is known to change a result is refused.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import product
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer_lib.blocks import Config
from transformer_lib.checkpoints.families import (
    FAMILIES,
    GPT2,
    HEAD,
    LLAMA,
    Family,
    Step,
)
from transformer_lib.checkpoints.files import check_forms, fill
from transformer_lib.decoder import Decoder

State = Mapping[str, Tensor]
HEAD_WEIGHT = f"{HEAD}.weight"
_FLOATS = {field.name for field in fields(Config) if field.type is float}


def gpt2_config(config: object) -> Config:
    """Return our config for GPT-2's: an object, or a mapping such as config.json.

    Source: Radford et al. 2019, section 2.3.

    Raises:
        ValueError: if it lacks a number, or asks for what a `Decoder` does not do.
    """
    return read_config(GPT2, config)


def llama_config(config: object) -> Config:
    """Return our config for Llama's: an object, or a mapping such as config.json.

    Source: Touvron et al. 2023, section 2.2.

    Raises:
        ValueError: if it lacks a number, or asks for what a `Decoder` does not do.
    """
    return read_config(LLAMA, config)


def read_config(family: Family, config: object) -> Config:
    """Return our config for one of the family's."""
    given = _fields(config)
    _check_fixed(family, given)
    known = {**family.defaults, **given}
    missing = sorted(set(family.fields) - set(known))
    if missing:
        raise ValueError(
            f"a config of the family {family.name!r} must name "
            f"{sorted(family.fields)}, got none of {missing}"
        )
    renamed: dict[str, Any] = {
        ours: known[theirs] for theirs, ours in family.fields.items()
    }
    # JSON and Python write 0.0 as 0
    numbers: dict[str, Any] = {
        k: float(v) if k in _FLOATS else v for k, v in renamed.items()
    }
    return Config(**numbers, **family.read(known), **family.words)


def write_config(family: Family, config: Config) -> dict[str, Any]:
    """Return the family's config for ours, ready for JSON.

    Raises:
        ValueError: if the family has no such model.
    """
    written = {
        "model_type": family.name,
        "architectures": [family.architecture],
        **{theirs: getattr(config, ours) for theirs, ours in family.fields.items()},
        **{theirs: v for theirs, v in family.fixed.items() if v is not None},
        **family.write(config),
        # theirs would else stop at the tokens of the first published model
        "bos_token_id": None,
        "eos_token_id": None,
    }
    back, here = (
        replace(c, n_kv_heads=c.kv_heads, d_head=c.head_width).to_dict()
        for c in (read_config(family, written), config)
    )
    wrong = {name: here[name] for name in here if here[name] != back[name]}
    if wrong:
        raise ValueError(
            f"a model of the family {family.name!r} must have "
            f"{ {name: back[name] for name in wrong} }, got {wrong}"
        )
    return written


def _fields(config: object) -> dict[str, Any]:
    """Return what a mapping or an object says."""
    if isinstance(config, Mapping):
        return dict(config)
    return {"model_type": getattr(config, "model_type", None), **vars(config)}


def _check_fixed(family: Family, given: Mapping[str, Any]) -> None:
    """Refuse what would load without an error and then compute something else."""
    fixed = {"model_type": family.name, **family.fixed}
    wrong = {
        name: given[name]
        for name, value in fixed.items()
        if given.get(name, value) != value
        and (name, given[name]) != ("model_type", None)
    }
    if wrong:
        raise ValueError(
            f"a config of the family {family.name!r} must say "
            f"{ {name: fixed[name] for name in wrong} }, got {wrong}; "
            "a Decoder here computes nothing else"
        )


def load_gpt2(
    state: State, config: object, *, dtype: torch.dtype | None = None
) -> Decoder:
    """Build GPT-2 from its state dict and its config, both Hugging Face's.

    In evaluation mode, as dropout would blur what it says. Source: Radford et al.
    2019, section 2.3.

    Raises:
        ValueError: if they do not fit each other, or our blocks.
    """
    return load(GPT2, state, config, dtype=dtype)


def rename_gpt2(state: State, config: object) -> dict[str, Tensor]:
    """Return GPT-2's weights as `load_gpt2` fills them in: our names, our shapes.

    Its packed layer is cut into query, key and value. Weights of linear layers are
    transposed, as GPT-2 has x @ weight where ours have x @ weight.T. Source: Radford
    et al. 2019, section 2.3.

    Raises:
        ValueError: if a tensor is missing, unknown or misshapen.
    """
    return _renamed(GPT2, state, _hollow(GPT2, config))


def load_llama(
    state: State, config: object, *, dtype: torch.dtype | None = None
) -> Decoder:
    """Build a Llama from its state dict and its config, both Hugging Face's.

    In evaluation mode. Source: Touvron et al. 2023, section 2.2.

    Raises:
        ValueError: if they do not fit each other, or our blocks.
    """
    return load(LLAMA, state, config, dtype=dtype)


def to_hf(decoder: Decoder, family: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return config and state dict as Hugging Face's class for the family has them.

    Raises:
        ValueError: if the family is unknown, or has no such model.
    """
    kind = FAMILIES.get(family)
    if kind is None:
        raise ValueError(f"family must be one of {sorted(FAMILIES)}, got {family!r}")
    config, rows = write_config(kind, decoder.config), _rows(kind, decoder, kind.prefix)
    if decoder.config.tied:
        del rows[HEAD_WEIGHT]
    return config, {name: row.joined().clone() for name, row in rows.items()}


def load(
    family: Family, state: State, config: object, *, dtype: torch.dtype | None = None
) -> Decoder:
    """Build a decoder of the family; the tensors are copied."""
    decoder = _hollow(family, config)
    fill(decoder, _renamed(family, state, decoder), dtype=dtype)
    return decoder.eval()


def _hollow(family: Family, config: object) -> Decoder:
    """Return a decoder with shapes, but without numbers."""
    # no memory and no random numbers for weights that are replaced at once
    with torch.device("meta"):
        return Decoder(read_config(family, config))


def _renamed(family: Family, state: State, decoder: Decoder) -> dict[str, Tensor]:
    """Return the tensors by the decoder's names."""
    kept = {k: tensor for k, tensor in state.items() if not family.ignored.fullmatch(k)}
    prefix = family.prefix if any(k.startswith(family.prefix) for k in kept) else ""
    rows = _rows(family, decoder, prefix)
    if decoder.config.tied and HEAD_WEIGHT not in kept:
        del rows[HEAD_WEIGHT]
    check_forms(kept, {name: row.joined() for name, row in rows.items()})
    ours: dict[str, Tensor] = {}
    for name, row in rows.items():
        ours |= row.split(kept[name])
    return ours


class _Row(NamedTuple):
    """What one tensor of theirs is of ours."""

    step: Step
    tensors: list[Tensor]
    names: list[str]

    def joined(self) -> Tensor:
        return self.step.join(self.tensors)

    def split(self, theirs: Tensor) -> dict[str, Tensor]:
        parts = self.step.split(theirs, len(self.names))
        return dict(zip(self.names, parts, strict=True))


def _rows(family: Family, decoder: Decoder, prefix: str) -> dict[str, _Row]:
    """Write the family's table out, for each layer and each tensor that we have."""
    own = decoder.state_dict()
    rows = {}
    for module, (step, *ours) in family.modules.items():
        start = "" if module == HEAD else prefix
        layers = range(decoder.config.n_layers if "{}" in module else 1)
        for layer, kind in product(layers, ("weight", "bias")):
            names = [f"{name}.{kind}".format(layer) for name in ours]
            if names[0] in own:
                theirs = f"{start}{module}.{kind}".format(layer)
                rows[theirs] = _Row(step, [own[name] for name in names], names)
    return rows
