"""Live figures: the same object in a notebook and on the published page.

Every figure is a widget whose traits are all of its state. Set a trait and the picture
follows; a reader's click comes back as a trait.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "Figure": "figure",
    "AttentionStepper": "attention_stepper",
    "PositionLab": "position_lab",
    "SoftmaxMask": "softmax_mask",
}
__all__ = ["AttentionStepper", "Figure", "PositionLab", "SoftmaxMask"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"{__name__} has no figure {name!r}, it has {__all__}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
