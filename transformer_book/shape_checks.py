"""Enforced shape annotations for notebooks; needs beartype, which only tests have."""

import functools
from collections.abc import Callable
from typing import Any

from beartype import beartype
from IPython import get_ipython
from jaxtyping import config, install_import_hook

CHECKS_PER_CELL = 4000
"""A training loop repeats its shapes: after so many checks a cell runs at full speed.

A call of a function is two checks, one of what it gets and one of what it returns.
"""


class _Supply:
    """The checks that are left in this cell."""

    left = CHECKS_PER_CELL

    def refill(self, *_: object) -> None:
        self.left = CHECKS_PER_CELL
        config.update("jaxtyping_disable", False)

    def take(self) -> None:
        self.left -= 1
        if self.left == 0:
            config.update("jaxtyping_disable", True)


_supply = _Supply()


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` checked by beartype; the cell's last check ends the checks."""
    check = beartype(function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _supply.take()
        return check(*args, **kwargs)

    return checked


def enforce(package: str) -> None:
    """Check every shape annotation of the modules that are imported from now on.

    In a notebook each cell begins with all its checks; elsewhere there is one supply.
    """
    install_import_hook(package, f"{__name__}.counted")
    if (shell := get_ipython()) is not None:
        shell.events.register("pre_run_cell", _supply.refill)
