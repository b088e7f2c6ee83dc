"""Every figure still looks as it did when somebody last looked at it.

The committed pictures stand in `screenshots`. A new one is left in
`_build/screenshots`; where the change is wanted, look at it and copy it there.

Tolerance: pictures are made four times smaller first, so that the edges of letters,
which every browser version draws a little differently, weigh less. Then at most 1 in a
hundred pixels may differ by more than 24 of 255 levels, and the height by 2 %.
"""

from pathlib import Path

import numpy as np
import pytest
from figure_examples import EXAMPLES
from figure_page import ROOT
from PIL import Image

COMMITTED = Path(__file__).parent / "screenshots"
NEW = ROOT / "_build/screenshots"
SMALLER, LEVELS, SHARE = 4, 24, 0.01
LOOKS = {
    "wide-light": {"theme": "light", "width": 760},
    "phone-dark": {"theme": "dark", "width": 360, "height": 740},
}


def reduced(path: Path) -> np.ndarray:
    """The picture as numbers, each pixel the mean of several."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB").reduce(SMALLER), dtype=float)


def differs(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pixels that are not the same, on what both have."""
    rows = min(len(one), len(other))
    apart = np.abs(one[:rows] - other[:rows]).max(axis=2)
    return float((apart > LEVELS).mean())


def take(live, name: str, look: str) -> Path:
    """Leave a picture of the figure in its first state, and return where it is."""
    options = LOOKS[look] | {"color_scheme": LOOKS[look]["theme"]}
    page = live(EXAMPLES[name].make(), reduced_motion="reduce", more=False, **options)
    page.said()
    NEW.mkdir(parents=True, exist_ok=True)
    path = NEW / f"{name}-{look}.png"
    page.locator(".tl-figure").screenshot(path=path)
    with Image.open(path) as image:  # 64 colors need a third of the bytes
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path)
    return path


@pytest.mark.parametrize("look", LOOKS)
def test_a_figure_looks_as_committed(live, name, look):
    new = take(live, name, look)
    old = COMMITTED / new.name
    assert old.exists(), f"no picture yet; look at {new} and copy it to {COMMITTED}"
    before, now = reduced(old), reduced(new)
    assert abs(len(now) - len(before)) <= 0.02 * len(before), new
    assert differs(before, now) <= SHARE, f"{new} differs from {old}"


def test_no_picture_of_a_figure_that_is_gone():
    known = {f"{name}-{look}.png" for name in EXAMPLES for look in LOOKS}
    assert {path.name for path in COMMITTED.iterdir()} <= known


def test_a_lost_line_and_another_color_are_noticed():
    page = np.full((100, 100, 3), 255.0)
    line, color = page.copy(), page.copy()
    line[40:44] = 0
    color[:20, :20] = (200, 255, 200)
    assert differs(page, page) == 0
    assert differs(page, line) > SHARE
    assert differs(page, color) > SHARE
