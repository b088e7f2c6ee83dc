"""Stored outputs show figures as their JavaScript draws them today."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from chapters import NOTEBOOKS
from tools.notebook_form import read
from tools.stills import FIGURE, html_outputs, put_stills, with_stills, without_stills
from transformer_book.figures import SoftmaxMask


def test_every_stored_still_is_fresh():
    stored = [
        (f"chapters/{path.name}", data["text/html"])
        for path in NOTEBOOKS
        for data in html_outputs(read(path))
    ]
    assert len(stored) > 50
    fresh = with_stills([text for _, text in stored])
    stale = {
        name
        for (name, text), new in zip(stored, fresh, strict=True)
        if text != new or not FIGURE.search(text)[4]
    }
    assert stale == set(), "run `make stills`, look at the change and commit it"


def test_a_still_in_a_notebook_says_and_draws_what_the_state_is_and_keeps_it():
    figure = SoftmaxMask(["a", "<b>"], [[2, 0], [0, 0]], mask="causal")
    output = new_output("display_data", data={"text/html": figure.html()})
    notebook = new_notebook(cells=[new_code_cell("x", outputs=[output])])
    (data,) = html_outputs(put_stills(notebook))
    still = data["text/html"]
    assert "<svg" in still
    assert without_stills(still) == without_stills(figure.html())
    assert "<b>" not in still
    assert "1 of 4 cells is masked" in still
    assert 'aria-label="Weights, queries by keys"' in still
    assert "<table><caption>" in still
    assert ">0 (masked)</td>" in still
    assert "style=" not in still
    assert "class=" not in still.replace('class="tl-figure"', "")


def test_a_state_that_cannot_be_drawn_is_refused():
    broken = (
        SoftmaxMask().html().replace("&quot;temperature&quot;:1.0", "&quot;t&quot;:1")
    )
    with pytest.raises(ValueError, match="softmax_mask: This figure cannot be drawn"):
        with_stills([broken])
