"""What every notebook begins with: `setup`, `show` and `device`."""

import inspect
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import torch

import transformer_lib

CHECK_SHAPES = "TRANSFORMER_LIB_CHECK_SHAPES"
"""Set this environment variable to 1 to enforce every shape annotation."""


def setup(seed: int = 0) -> None:
    """Seed PyTorch, choose how numbers print and put on the book's picture style.

    Changes only this process, says nothing, and may be called again.
    """
    import matplotlib.style
    from matplotlib_inline.backend_inline import set_matplotlib_formats

    if os.environ.get(CHECK_SHAPES) == "1":
        from transformer_book import shape_checks

        shape_checks.enforce("transformer_lib")
    torch.manual_seed(seed)
    torch.set_printoptions(precision=2, sci_mode=False, linewidth=88)
    with resources.as_file(resources.files(__package__) / "book.mplstyle") as style:
        matplotlib.style.use(style)
    set_matplotlib_formats("svg", metadata={"Creator": None, "Date": None})


def device() -> torch.device:
    """Return the GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


class _Source:
    """Source text that notebooks show as highlighted code, with its place."""

    def __init__(self, title: str, code: str) -> None:
        self.title, self.code = title, code

    def _repr_markdown_(self) -> str:
        return f"`{self.title}`\n\n```python\n{self.code}```\n"

    def __repr__(self) -> str:
        return f"# {self.title}\n{self.code}"


def show(thing: Callable[..., Any] | type) -> _Source:
    """Show the library's own source of a function or class, with file and line.

    Raises:
        ValueError: if there is no Python source, as for a number or a built-in.
    """
    thing = inspect.unwrap(thing)
    try:
        lines, first = inspect.getsourcelines(thing)
        path = Path(inspect.getsourcefile(thing) or "")
    except (TypeError, OSError):
        raise ValueError(
            f"show needs a function or class written in Python, got {thing!r}"
        ) from None
    return _Source(f"{_place(path)}, line {first}", "".join(lines))


def _place(path: Path) -> str:
    """Return the path from its package on, or from the folder of another file."""
    for package in (Path(transformer_lib.__path__[0]), Path(__file__).parent):
        if path.is_relative_to(package):
            return path.relative_to(package.parent).as_posix()
    return path.relative_to(path.parent.parent).as_posix()
