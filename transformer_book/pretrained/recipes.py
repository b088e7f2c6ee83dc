"""Recipes: everything that decides how one of the book's models comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B
from transformer_lib.encoder_decoder import TRANSFORMER_BASE, TRANSFORMER_BIG

NUMBER_TRANSLATOR = Config(
    vocab_size=384,
    d_model=64,
    n_layers=2,
    n_heads=4,
    d_ff=128,
    max_len=64,
    norm="layer",
    feed_forward="relu",
    positions="sinusoidal",
    bias=True,
    scale_embeddings=True,
)
"""The paper's model in small, with the norm before each layer."""

MANUAL_LM = Config(
    vocab_size=512,
    d_model=128,
    n_layers=4,
    n_heads=4,
    n_kv_heads=2,
    d_ff=352,
    max_len=256,
    scale_embeddings=True,  # starts worse, and after 400 steps it is ahead
    dropout=0.1,
)
"""A Llama in small: RMSNorm, SwiGLU, rotary positions, grouped heads."""

MANUAL_GPT = replace(
    MANUAL_LM,
    n_kv_heads=None,
    d_ff=428,
    norm="layer",
    feed_forward="gelu",
    positions="learned",
    bias=True,
)
"""A GPT-2 in small, of the same number of parameters: what `MANUAL_LM` must beat."""

REVERSER = replace(NUMBER_TRANSLATOR, vocab_size=64, max_len=16)
"""The same blocks, for an encoder alone."""

INDUCTION = Config(
    vocab_size=64,
    d_model=64,
    n_layers=2,
    n_heads=4,
    d_ff=64,
    max_len=64,
    scale_embeddings=True,
)
"""Two layers: the fewest in which one head can read what another one wrote."""

PRESETS: Mapping[str, Config] = MappingProxyType(
    {
        "base": TRANSFORMER_BASE,
        "big": TRANSFORMER_BIG,
        "gpt2-small": GPT2_SMALL,
        "llama-3.2-1b": LLAMA_3_2_1B,
        "number-translator": NUMBER_TRANSLATOR,
        "manual-lm": MANUAL_LM,
        "manual-gpt": MANUAL_GPT,
        "reverser": REVERSER,
        "induction-1": replace(INDUCTION, n_layers=1),
        "induction-2": INDUCTION,
    }
)
"""Architectures by their names."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train one model: what, on which task, with which numbers.

    ``batch_size`` counts sequences; ``peak`` is the highest learning rate, reached
    after ``warmup`` steps.
    """

    task: str
    preset: str
    steps: int
    batch_size: int = 128
    peak: float = 2e-3
    warmup: int = 100
    weight_decay: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.warmup < self.steps or min(self.batch_size, self.peak) <= 0:
            raise ValueError(
                "a recipe needs 0 <= warmup < steps, batch_size and peak above 0, "
                f"got {self}"
            )


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "number-translator": Recipe(
            task="numbers", preset="number-translator", steps=2000
        ),
        "manual-lm": Recipe(
            task="manual", preset="manual-lm", steps=2000, batch_size=16, warmup=100
        ),
        "reverser": Recipe(task="reversal", preset="reverser", steps=1000),
        "induction-1": Recipe(
            task="repeats", preset="induction-1", steps=2000, batch_size=64, peak=3e-3
        ),
        "induction-2": Recipe(
            task="repeats", preset="induction-2", steps=2000, batch_size=64, peak=3e-3
        ),
    }
)
"""The book's own models: what was trained, and how."""
