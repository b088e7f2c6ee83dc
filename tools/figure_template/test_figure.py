"""FigureName: its numbers are PyTorch's, and what it says of them."""

import numpy as np
import torch
from figure_page import shown, shown_all

from transformer_book.figures import FigureName


def test_the_numbers_are_pytorch_s():
    rng = np.random.default_rng(0)
    made = [
        FigureName(scores=rng.normal(size=n).tolist(), temperature=rng.uniform(0.1, 3))
        for n in range(2, 9)
    ]
    for figure, page in zip(made, shown_all(made), strict=True):
        scores = torch.tensor(figure.scores, dtype=torch.float64)
        want = torch.softmax(scores / figure.temperature, dim=-1)
        np.testing.assert_allclose(page.geometry["weights"], want, rtol=1e-12)
        exec(page.pytorch, {})


def test_the_sentence_is_about_the_pinned_bar_or_all():
    figure = FigureName(scores=[0, 0], selected=0)
    said = "Score 0 is 0.0: at temperature 1.0, its weight is 50%."
    assert shown(figure).sentence == said
    figure.selected = -1
    said = "2 scores become weights: at temperature 1.0, the largest is 50%."
    assert shown(figure).sentence == said
