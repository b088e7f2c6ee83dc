"""Softmax as written and softmax as it should be computed, for SoftmaxMask."""

from typing import Any

import numpy as np

_LARGEST = 3.4028234663852886e38  # of float32
_SMALLEST = 2.0**-150  # at or below half its tiniest number, float32 has 0


def _float32(x: Any) -> Any:
    """Apply the range of float32, keeping the precision of float64."""
    return np.where(x > _LARGEST, np.inf, np.where(x <= _SMALLEST, 0.0, x))


def naive_powers(scores: Any, temperature: float, dim: int) -> tuple[Any, Any]:
    """Return exp(x) and its sums as written, in the range of float32."""
    powers = _float32(np.exp(scores / temperature))
    return powers, _float32(powers.sum(dim, keepdims=True))


def naive_softmax(scores: Any, temperature: float, dim: int) -> Any:
    """Take exp(x) / sum(exp(x)) as written: NaN where exp leaves float32's range."""
    powers, sums = naive_powers(scores, temperature, dim)
    return powers / sums


def safe_softmax(scores: Any, temperature: float, dim: int) -> Any:
    """Subtract the maximum; at temperature 0 share all weight among the largest."""
    top = scores.max(dim, keepdims=True)
    if temperature == 0:
        powers = ((scores == top) & (scores > -np.inf)).astype(np.float64)
    else:
        powers = np.exp(np.where(np.isinf(top), -np.inf, scores - top) / temperature)
    total = powers.sum(dim, keepdims=True)
    return np.where(total == 0, 0.0, powers / total)
