"""Controls that run the reader's own Python, and a figure that follows."""

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets

from transformer_book.figures.figure import Figure

Answer = Callable[..., dict[str, Any]]
"""From the values of the controls to traits of the figure, by their names."""

_VIEW = "application/vnd.jupyter.widget-view+json"


class Driven:
    """A figure with controls above it; `drive` makes one."""

    def __init__(
        self, figure: Figure, answer: Answer, controls: dict[str, ipywidgets.Widget]
    ) -> None:
        self.figure, self.answer, self.controls = figure, answer, controls
        self.note = ipywidgets.Label()
        self.box = ipywidgets.VBox([*controls.values(), self.note, figure])

    def values(self) -> dict[str, Any]:
        """Return what the controls are set to, by their names."""
        return {name: control.value for name, control in self.controls.items()}

    def follow(self, _change: Any = None) -> None:
        """Ask the function and show its answer, or say why it has none."""
        try:
            self.figure.update(**self.answer(**self.values()))
        except Exception as error:  # of the reader's own code: anything may come
            self.note.value = f"{type(error).__name__}: {error}"
        else:
            self.note.value = ""

    def __repr__(self) -> str:
        """Name the function, what it was asked, and the figure."""
        asked = ", ".join(f"{name}={value!r}" for name, value in self.values().items())
        return f"{self.answer.__name__}({asked}) drives {self.figure!r}"

    def html(self) -> str:
        """Return the figure for a page without Python, and say what is missing."""
        asked = ", ".join(f"{name} = {value}" for name, value in self.values().items())
        note = (
            f"In a running notebook, controls for {', '.join(self.controls)} "
            f"appear here, and every change calls the function {self.answer.__name__} "
            f"above. This page has no Python: the figure shows the stored answer for "
            f"{asked}."
        )
        return f"<p>{escape(note)}</p>{self.figure.html()}"

    def _repr_mimebundle_(self, **_options: Any) -> dict[str, Any]:
        view = {"version_major": 2, "version_minor": 0, "model_id": self.box.model_id}
        return {_VIEW: view, "text/plain": repr(self), "text/html": self.html()}


def drive(figure: Figure, answer: Answer, **controls: Any) -> Driven:
    """Let ipywidgets controls call ``answer``, and a figure show what it returns.

    ``answer`` takes the values of the controls by their names and returns traits of
    the figure. It is asked once now, and again whenever a control changes; what it
    raises then is shown below the controls. A page without Python shows the figure
    as it was stored, and says so.

    Raises:
        ValueError: if there are no controls, or one has no value.
    """
    wrong = [
        name
        for name, control in controls.items()
        if not (isinstance(control, ipywidgets.Widget) and control.has_trait("value"))
    ]
    if not controls or wrong:
        raise ValueError(
            "drive needs controls with a value, such as x=ipywidgets.IntSlider(), "
            f"got {sorted(controls)}" + (f", without one: {wrong}" if wrong else "")
        )
    driven = Driven(figure, answer, controls)
    figure.update(**answer(**driven.values()))
    for control in controls.values():
        control.observe(driven.follow, names="value")
    return driven
