"""FigureName: its numbers are PyTorch's, and what it says of them."""

import numpy as np
import torch
from figure_page import shown, shown_all

from transformer_book.figures import FigureName


def test_the_numbers_are_pytorch_s():
    rng = np.random.default_rng(0)
    made = [FigureName(scores=rng.normal(size=n).tolist()) for n in range(2, 9)]
    for figure, page in zip(made, shown_all(made), strict=True):
        want = torch.softmax(torch.tensor(figure.scores, dtype=torch.float64), dim=0)
        np.testing.assert_allclose(page.geometry["weights"], want, rtol=1e-12)
        exec(page.pytorch, {})


def test_the_sentence_is_about_the_held_score():
    figure = FigureName(scores=[0, 0])
    assert shown(figure).sentence == "Score 0 is 0.00: its weight is 50 %."
    figure.selected = -1
    assert shown(figure).sentence == "2 scores become weights that sum to 1."
