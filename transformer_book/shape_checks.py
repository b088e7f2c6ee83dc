"""Enforced shape annotations; needs beartype, which only tests have."""

import functools
from collections.abc import Callable
from typing import Any

from beartype import beartype
from jaxtyping import _decorator, config, install_import_hook

CHECKS = 1000
"""A loop repeats its shapes: after so many checks a cell or a test runs at full speed.

A call of a function is two checks, one of what it gets and one of what it returns.
"""

_decorator._tb_flag = False  # else jaxtyping imports JAX, to shorten JAX's tracebacks


class _Supply:
    """The checks that are left in this cell, or in this test."""

    left = CHECKS


def refill() -> None:
    """Check again."""
    _Supply.left = CHECKS
    config.update("jaxtyping_disable", False)


def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` checked by beartype; the last check ends the checks."""
    check = beartype(function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        _Supply.left -= 1
        if _Supply.left == 0:
            config.update("jaxtyping_disable", True)
        return check(*args, **kwargs)

    return checked


def enforce(package: str) -> None:
    """Check every shape annotation of the modules that are imported from now on.

    In a notebook each cell begins with all its checks; elsewhere there is one supply.
    """
    from IPython import get_ipython

    install_import_hook(package, f"{__name__}.counted")
    if (shell := get_ipython()) is not None:
        shell.events.register("pre_run_cell", lambda _: refill())
