"""The base class of the live figures."""

from html import escape
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from transformer_book.figures.schema import Limits, check_limits, cut, limits_of
from transformer_book.figures.state import StateError, check_size, rounded, to_json

_STATIC = Path(__file__).parent / "static"


class Figure(anywidget.AnyWidget):
    """A picture that answers; its traits are all of its state.

    A figure sets `name` (of its folder and of its bundle in static/) and declares its
    traits, which are synchronized and held to the rules in its folder's limits.json.
    What it shows and says is JavaScript, in its folder. Traits that must fit each
    other change together by `figure.update(tokens=..., scores=...)`.
    """

    name: ClassVar[str] = ""
    state_names: ClassVar[tuple[str, ...]] = ()
    limits: ClassVar[Limits] = {}
    _ipython_display_ = None  # ipywidgets 7 would otherwise bypass _repr_mimebundle_

    def __init_subclass__(cls, **options: Any) -> None:
        """Find the bundle of a named figure, synchronize and check its traits."""
        if "name" in vars(cls):
            traits = {
                name: value
                for name, value in vars(cls).items()
                if isinstance(value, traitlets.TraitType)
            }
            for trait in traits.values():
                trait.tag(sync=True)
            cls.state_names = tuple(sorted(traits))
            path = cls._esm = _STATIC / f"{cls.name}.mjs"
            if not path.exists():
                raise FileNotFoundError(
                    f"a figure needs its bundle, not {path}: make bundle"
                )
            cls.limits = limits_of(cls.name)
            cls._valid = traitlets.validate(*traits)(cls._accept)
        super().__init_subclass__(**options)

    def _accept(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        state = self.state() | {name: value}
        try:
            number = isinstance(proposal["trait"], traitlets.Int | traitlets.Float)
            if number and isinstance(value, bool):  # as a page does
                raise StateError(f"{name} must be a number, got {value}")
            self.check(state)
            check_size(state)
        except traitlets.TraitError:
            raise
        except Exception as error:  # which traitlets would not roll back
            raise StateError(
                f"{name} must be as {type(self).__name__} describes it, got "
                f"{cut(value)}: {error}"
            ) from error
        return value

    def state(self) -> dict[str, Any]:
        """All that the figure shows, by the names of its traits."""
        return {name: getattr(self, name) for name in self.state_names}

    def update(self, **traits: Any) -> None:
        """Change several traits at once: all of them, or none and a ValueError."""
        with self.hold_trait_notifications():
            for name, value in traits.items():
                setattr(self, name, value)

    def check(self, state: dict[str, Any]) -> None:
        """Raise StateError (a ValueError) on a state that cannot be shown."""
        check_limits(state, self.limits)

    def html(self) -> str:
        """Return the figure for a page: its name, its state, and what it is in words.

        `make notebooks` puts a still picture instead of the words.
        """
        state = escape(to_json(self.state()))
        return (
            f'<div class="tl-figure" data-figure="{self.name}" data-state="{state}">'
            f"<p>{escape(repr(self))}</p></div>"
        )

    def __repr__(self) -> str:
        """Name the class and its small traits; the same text for the same state."""
        small = {
            name: rounded(value)
            for name, value in self.state().items()
            if not isinstance(value, list | dict)
        }
        words = ", ".join(f"{name}={value!r}" for name, value in small.items())
        return f"{type(self).__name__}({words})"

    def _repr_mimebundle_(
        self, **options: Any
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        bundle = super()._repr_mimebundle_(**options)
        if bundle is None:
            return None
        data, metadata = bundle
        return {**data, "text/plain": repr(self), "text/html": self.html()}, metadata


class RoundedFigure(Figure):
    """A figure that keeps its numbers as the page gets them, at 4 digits."""

    def _accept(self, proposal: Any) -> Any:
        return rounded(super()._accept(proposal))
