"""Positions: telling a model that sees a set of tokens in which order they stand."""

from transformer_lib.positions.kinds import (
    AlibiPositions,
    LearnedPositions,
    NoPositions,
    Positions,
    RotaryPositions,
    Rotation,
    SinusoidalPositions,
)
from transformer_lib.positions.waves import (
    RotaryScaling,
    alibi_slopes,
    angles,
    frequencies,
    rotate,
    sinusoid,
    turn,
)

__all__ = [
    "AlibiPositions",
    "LearnedPositions",
    "NoPositions",
    "Positions",
    "RotaryPositions",
    "RotaryScaling",
    "Rotation",
    "SinusoidalPositions",
    "alibi_slopes",
    "angles",
    "frequencies",
    "rotate",
    "sinusoid",
    "turn",
]
