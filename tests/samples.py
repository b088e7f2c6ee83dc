"""Random tensors, and the library as its users import it: without the shape hook."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
import torch
from hypothesis import settings
from torch import Tensor

ROOT = Path(__file__).parent.parent

law = settings(deadline=None, max_examples=25, derandomize=True, database=None)
"""Each law is tried on the same 25 draws in every run."""

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(
                not torch.cuda.is_available(), reason="no GPU: CPU only"
            ),
        ],
    ),
]


def normal(
    seed: int, *shape: int, dtype: torch.dtype = torch.float32, device: str = "cpu"
) -> Tensor:
    """Draw on the CPU, so that every device and dtype starts from the same numbers."""
    drawn = torch.randn(shape, generator=seeded(seed), dtype=torch.float64)
    return drawn.to(device, dtype)


def seeded(seed: int = 0) -> torch.Generator:
    """Return a source of random numbers that draws the same in every run."""
    return torch.Generator().manual_seed(seed)


def double(numbers: Sequence[float] | float) -> Tensor:
    """Return Python's numbers as a tensor that holds all their digits."""
    return torch.tensor(numbers, dtype=torch.float64)


def coin_flips(seed: int, *shape: int) -> Tensor:
    """Return True and False with equal chances."""
    return torch.rand(*shape, generator=seeded(seed)) < 0.5


def without_hook(name: str) -> ModuleType:
    """Load a module by its path, under a name that the shape hook leaves alone.

    Readers run without the hook: a wrong shape must reach the library's own words.
    """
    spec = importlib.util.spec_from_file_location(
        f"bare_{name.replace('/', '_')}", ROOT / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
