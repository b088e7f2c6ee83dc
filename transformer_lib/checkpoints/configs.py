"""From their config to ours and back: nothing that changes a result is overlooked."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from transformer_lib.blocks import Config
from transformer_lib.checkpoints.families import GPT2, LLAMA
from transformer_lib.checkpoints.family import Family

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
