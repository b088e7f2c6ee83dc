"""The numbers and words that say what a transformer is made of."""

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, Literal, get_args, get_origin

from transformer_lib.multihead import check_heads
from transformer_lib.positions import RotaryScaling


@dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """What a stack of blocks is made of; encoder, decoder and both together share it.

    ``n_kv_heads`` is n_heads unless given, ``d_head`` is d_model / n_heads unless
    given. ``max_len`` is the length of the learned table of positions, and what
    generation may fill. ``scale_embeddings`` makes embeddings about as large as the
    sines that are added to them. ``dropout`` is on embeddings and before each sum.
    """

    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    d_ff: int
    max_len: int
    n_kv_heads: int | None = None
    d_head: int | None = None
    norm: Literal["layer", "rms", "batch"] = "rms"
    norm_eps: float = 1e-5
    feed_forward: Literal["relu", "gelu", "gelu_tanh", "swiglu"] = "swiglu"
    residual: Literal["pre", "post"] = "pre"
    positions: Literal["none", "sinusoidal", "learned", "rotary", "alibi"] = "rotary"
    rotary_base: float = 10_000.0
    rotary_scaling: RotaryScaling | None = None
    window: int | None = None
    bias: bool = False
    tied: bool = True
    scale_embeddings: bool = False
    dropout: float = 0.0
    attention_dropout: float = 0.0

    def __post_init__(self) -> None:
        _check_sizes(self)
        _check_words(self)
        check_heads(self.d_model, self.n_heads, self.kv_heads, self.d_head)
        _check_even(self)
        for name in ("dropout", "attention_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be from 0 to below 1, got {getattr(self, name)}"
                )

    @property
    def kv_heads(self) -> int:
        """Number of key and value heads."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def head_width(self) -> int:
        """Width of one head."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Config":
        """Build the config that `to_dict` described.

        Raises:
            ValueError: if a name is unknown or a required one is missing.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        required = {field.name for field in fields(cls) if field.default is MISSING}
        missing = sorted(required - set(values))
        if unknown or missing:
            raise ValueError(
                f"a config has exactly its own fields, got unknown {unknown} and "
                f"missing {missing}"
            )
        scaling = values.get("rotary_scaling")
        if isinstance(scaling, Mapping):
            values = {**values, "rotary_scaling": RotaryScaling(**scaling)}
        return cls(**values)


def _check_sizes(config: Config) -> None:
    """Refuse sizes below 1."""
    names = "vocab_size d_model n_layers n_heads d_ff max_len d_head window".split()
    sizes = {name: getattr(config, name) for name in names}
    wrong = {
        name: size for name, size in sizes.items() if size is not None and size < 1
    }
    if wrong:
        raise ValueError(f"sizes must be at least 1, got {wrong}")


def _check_words(config: Config) -> None:
    """Refuse words that are none of those in a field's annotation."""
    for field in fields(config):
        words, word = get_args(field.type), getattr(config, field.name)
        if get_origin(field.type) is Literal and word not in words:
            raise ValueError(
                f"{field.name} must be one of {sorted(words)}, got {word!r}"
            )


def _check_even(config: Config) -> None:
    """Refuse odd widths where positions are pairs of numbers."""
    widths = {"sinusoidal": config.d_model, "rotary": config.head_width}
    width = widths.get(config.positions, 2)
    if width % 2:
        raise ValueError(
            f"{config.positions} positions need an even width, got {width}; "
            "change d_model or n_heads"
        )
