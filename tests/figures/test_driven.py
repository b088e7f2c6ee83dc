"""drive: the reader's own function answers to controls, and the figure follows."""

import json

import ipywidgets
import pytest

from chapters import CHAPTERS
from transformer_book.figures import PositionLab, SoftmaxMask, drive
from transformer_lib.positions import sinusoid


def clocks(length, width):
    import torch

    return {"rows": sinusoid(torch.arange(float(length)), width), "length": length}


@pytest.fixture
def driven():
    length = ipywidgets.IntSlider(value=12, min=2, max=64)
    width = ipywidgets.IntSlider(value=8, min=2, max=64)
    return drive(PositionLab("learned"), clocks, length=length, width=width)


def test_the_function_is_asked_at_once(driven):
    assert len(driven.figure.rows) == 12
    assert driven.values() == {"length": 12, "width": 8}


def test_a_control_asks_again_and_the_figure_follows(driven):
    driven.controls["length"].value = 20
    assert (driven.figure.length, len(driven.figure.rows)) == (20, 20)
    driven.controls["width"].value = 4
    assert len(driven.figure.rows[0]) == 4


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


def test_a_first_answer_that_fails_raises():
    def broken(length):
        raise ValueError("no table")

    with pytest.raises(ValueError, match="no table"):
        drive(PositionLab(), broken, length=ipywidgets.IntSlider())


def test_controls_are_needed_and_have_values():
    with pytest.raises(ValueError, match=r"controls with a value.*got \[\]$"):
        drive(SoftmaxMask(), clocks)
    with pytest.raises(ValueError, match=r"got \['x'\], without one: \['x'\]"):
        drive(SoftmaxMask(), clocks, x=ipywidgets.VBox())
    with pytest.raises(ValueError, match=r"without one: \['length'\]"):
        drive(SoftmaxMask(), clocks, length=3)


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


def test_hostile_values_are_inert():
    text = ipywidgets.Text(value="</p><img src=x onerror=alert(1)>")
    page = drive(SoftmaxMask(), lambda text: {}, text=text).html()
    assert "<img" not in page
    assert "&lt;img" in page


@pytest.mark.parametrize(
    "path",
    sorted(CHAPTERS.glob("[0-9]*.ipynb")),
    ids=lambda path: path.stem,
)
def test_a_control_of_each_chapter_drives_a_figure_and_the_page_says_so(path):
    shown = [
        "".join(output.get("data", {}).get("text/html", ""))
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        for output in cell.get("outputs", [])
    ]
    assert any(
        "This page has no Python: the figure shows the stored" in s for s in shown
    )
