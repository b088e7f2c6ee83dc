"""Running a learner's code: it may do anything, and it must not hurt."""

import ctypes
import inspect
import threading
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.exercises.exercise import Run, Solution

SECONDS = 10.0
"""How long one experiment may take."""

Outcome = tuple[Any, BaseException | None]
"""What an action returned, or what it raised."""


class Trouble(Exception):
    """Why there is no result to compare; the message is for the learner."""


class NotYet(Exception):
    """The solution returned nothing: the exercise is untouched."""


class _Stop(BaseException):
    """Raised inside a solution that takes too long; `except Exception` misses it."""


def attempt(run: Run, solution: Solution) -> Any:
    """Run an experiment twice on copies; return its result.

    Raises:
        Trouble: if there is none, in time and every time the same.
    """

    with torch.random.fork_rng(devices=[]):
        first, second = (
            within(SECONDS, partial(_seeded, seed, run, solution)) for seed in (0, 1)
        )
    if not within(SECONDS, partial(same, first, second)):
        raise Trouble(
            "two calls with the same input gave different results: is there "
            "dropout, a random number, or state kept between calls?"
        )
    return first


def _seeded(seed: int, run: Run, solution: Solution) -> Any:
    torch.manual_seed(seed)
    return run(guarded(solution))


def within(seconds: float, action: Callable[[], Any]) -> Any:
    """Return what the action returns, or stop it.

    A thread of its own works everywhere, in Colab and in Windows too.

    Raises:
        Trouble: if it takes too long, or raises something.
    """
    outcome: list[Outcome] = []
    thread = threading.Thread(target=_tell, args=(outcome, action), daemon=True)
    thread.start()
    try:
        thread.join(seconds)
    finally:  # also when the reader interrupts the kernel
        late = thread.is_alive()
        if late:
            number = ctypes.c_ulong(thread.ident or 0)
            stop = ctypes.py_object(_Stop)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(number, stop)
    if late:
        raise Trouble(f"no result after {seconds:g} seconds: does a loop never end?")
    result, error = outcome[0]
    if isinstance(error, Trouble | NotYet):
        raise error
    if isinstance(error, NotImplementedError):
        raise NotYet
    if error is not None:
        raise Trouble(f"your code raised an exception\n{_told(error)}")
    return result


def _tell(outcome: list[Outcome], action: Callable[[], Any]) -> None:
    try:
        outcome.append((action(), None))
    except BaseException as error:  # a learner's code may raise anything
        outcome.append((None, error))


def guarded(solution: Solution) -> Solution:
    """Give a function copies of its arguments, and notice if it changes them.

    A class is passed on as it is: its objects are what an experiment works with.
    """
    return solution if inspect.isclass(solution) else partial(_call, solution)


def _call(solution: Solution, /, *args: Any, **kwargs: Any) -> Any:
    given = _copied((args, kwargs))
    result = solution(*given[0], **given[1])
    if result is None or result is ...:
        raise NotYet
    if not same(given, (args, kwargs)):
        raise Trouble(
            "your function changed its argument in place, but the caller still "
            "needs it: compute a new value, without += and without in-place "
            "methods_"
        )
    return result


def _copied(value: Any) -> Any:
    """Copy tensors, and the lists and mappings that hold them; nothing else."""
    if isinstance(value, Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    if type(value) is dict:
        return {key: _copied(part) for key, part in value.items()}
    return value


def same(one: Any, other: Any) -> bool:
    """Compare what may hold tensors anywhere, bit for bit; NaN equals NaN."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _bits(one) == _bits(other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    # of all else only numbers and words can be compared
    return repr(one) == repr(other) if isinstance(one, float | int | str) else True


def _bits(x: Tensor) -> tuple[Any, ...]:
    """Return what tells one tensor from another."""
    if x.device.type == "meta":  # it has no numbers
        return (x.shape, x.dtype)
    numbers = x.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return (x.shape, x.dtype, numbers.numpy().tobytes())


def _told(error: BaseException) -> str:
    """Return the learner's part of the traceback, whole."""
    passed_through = (str(Path(__file__).parent), nn.modules.module.__file__)
    report = traceback.TracebackException.from_exception(error)
    frames = [f for f in report.stack if not f.filename.startswith(passed_through)]
    report.stack = traceback.StackSummary.from_list(frames)
    return "".join(report.format()).rstrip()


def built(solution: Solution, *arguments: Any) -> nn.Module:
    """Build the learner's layer, and leave the reader's random numbers alone.

    Raises:
        NotYet: if its `__init__` does nothing.
        Trouble: if it is no layer.
    """
    with torch.random.fork_rng(devices=[]):
        layer = solution(*arguments)
    if not isinstance(layer, nn.Module):
        raise Trouble(f"it builds a {type(layer).__qualname__}, expected an nn.Module")
    if not vars(layer):
        raise NotYet
    return layer


def fitted(
    solution: Solution,
    arguments: tuple[Any, ...],
    weights: Mapping[str, Tensor],
    why: str = "",
) -> Solution:
    """Build the learner's layer with these weights, for use on copies of inputs.

    A bias that is not among them becomes 0: where the library's layer has none, the
    learner's may.

    Raises:
        Trouble: if the layer has other parameters.
    """
    layer = built(solution, *arguments).eval()
    own = dict(layer.named_parameters())
    misfits = _misfits(own, weights)
    if misfits:
        raise Trouble(f"{misfits}\n  expected {_listed(weights)}, each (out, in){why}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights.get(name, torch.zeros(())))
    return guarded(layer)


def _misfits(own: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> str:
    """Return what keeps the weights from fitting, or nothing."""
    missing = [name for name in weights if name not in own]
    extra = [name for name in own if name not in weights and not name.endswith("bias")]
    if missing or extra:
        said = {"missing parameters": missing, "unexpected parameters": extra}
        return "; ".join(f"{k}: {', '.join(v)}" for k, v in said.items() if v)
    wrong = {k: own[k] for k in weights if own[k].shape != weights[k].shape}
    return f"wrong shapes: {_listed(wrong)}" if wrong else ""


def _listed(parameters: Mapping[str, Tensor]) -> str:
    return ", ".join(f"{name} {tuple(x.shape)}" for name, x in parameters.items())
