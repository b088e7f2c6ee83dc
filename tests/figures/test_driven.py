"""drive: the reader's own function answers to controls, and the figure follows."""

import json

import ipywidgets
import pytest
import torch

from chapters import CHAPTERS
from transformer_book.figures import PositionLab, SoftmaxMask, drive
from transformer_lib.positions import sinusoid


def clocks(length, width):
    return {"rows": sinusoid(torch.arange(float(length)), width), "length": length}


@pytest.fixture
def driven():
    length = ipywidgets.IntSlider(value=12, min=2, max=64)
    width = ipywidgets.IntSlider(value=8, min=2, max=64)
    return drive(PositionLab("learned"), clocks, length=length, width=width)


def test_the_function_is_asked_at_once_and_again_by_each_control(driven):
    figure, controls = driven.figure, driven.controls
    assert len(figure.rows) == 12
    assert driven.values() == {"length": 12, "width": 8}
    controls["length"].value = 20
    assert (figure.length, len(figure.rows)) == (20, 20)
    controls["width"].value = 4
    assert len(figure.rows[0]) == 4


def test_what_the_function_raises_is_said_and_nothing_changes(driven):
    before = driven.figure.state()
    driven.controls["width"].value = 7
    assert driven.note.value.startswith("ValueError: ")
    assert "7" in driven.note.value
    assert driven.figure.state() == before
    driven.controls["width"].value = 6
    assert driven.note.value == ""
    driven.answer = {}.__getitem__  # any other exception is said too
    driven.follow()
    assert driven.note.value.startswith("TypeError: ")


def test_controls_are_needed_and_have_values_and_a_first_answer_may_raise():
    for figure, controls, words in [
        (SoftmaxMask(), {}, r"controls with a value.*got \[\]$"),
        (SoftmaxMask(), {"x": ipywidgets.VBox()}, r"got \['x'\], without one: \['x'\]"),
        (SoftmaxMask(), {"length": 3}, r"without one: \['length'\]"),
        (PositionLab(), {"length": ipywidgets.IntSlider()}, "missing"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            drive(figure, clocks, **controls)


def test_a_page_says_what_was_asked_and_a_notebook_shows_the_controls(driven):
    bundle, figure = driven._repr_mimebundle_(), driven.figure
    assert figure.html() in bundle["text/html"]
    said = "controls for length, width appear here, and every change calls the function"
    assert f"{said} clocks above" in bundle["text/html"]
    assert "stored answer for length = 12, width = 8." in bundle["text/html"]
    assert bundle["text/plain"] == f"clocks(length=12, width=8) drives {figure}"
    view = bundle["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == driven.box.model_id
    assert driven.box.children == (*driven.controls.values(), driven.note, figure)
    hostile = ipywidgets.Text(value="</p><img src=x onerror=alert(1)>")
    page = drive(SoftmaxMask(), lambda text: {}, text=hostile).html()
    assert "<img" not in page
    assert "&lt;img" in page


def test_a_control_of_each_chapter_drives_a_figure_and_the_page_says_so():
    for path in sorted(CHAPTERS.glob("[0-9]*.ipynb")):
        shown = [
            "".join(output.get("data", {}).get("text/html", ""))
            for cell in json.loads(path.read_text("utf-8"))["cells"]
            for output in cell.get("outputs", [])
        ]
        assert any(
            "This page has no Python: the figure shows the stored" in s for s in shown
        ), path.stem
