"""Every figure still looks as it did when somebody last looked at it.

The committed pictures stand in `screenshots`. One that differs, or is new, is left in
`_build/screenshots`; where the change is wanted, look at it and copy it there.

Tolerance: pictures are made four times smaller first, so that the edges of letters,
which every browser version draws a little differently, weigh less. Then at most 1 in a
hundred pixels may differ by more than 24 of 255 levels, and the height by 2%.
"""

import io
from pathlib import Path

import numpy as np
from figure_examples import EXAMPLES
from figure_page import ROOT
from PIL import Image

COMMITTED = Path(__file__).parent / "screenshots"
NEW = ROOT / "_build/screenshots"
SMALLER, LEVELS, SHARE = 4, 24, 0.01
LOOKS = {"wide-light": (760, 900), "phone-dark": (360, 740)}


def reduced(image: Image.Image) -> np.ndarray:
    """The picture as numbers, each pixel the mean of several."""
    return np.asarray(image.convert("RGB").reduce(SMALLER), dtype=float)


def differs(one: np.ndarray, other: np.ndarray) -> float:
    """The share of pixels that are not the same; 1 if the sizes are not, about."""
    if one.shape[1] != other.shape[1] or abs(len(other) - len(one)) > 0.02 * len(one):
        return 1
    rows = min(len(one), len(other))
    apart = np.abs(one[:rows] - other[:rows]).max(axis=2)
    return float((apart > LEVELS).mean())


def test_a_figure_looks_as_committed(live, name, example):
    page = live(example.make(), reduced_motion="reduce", more=False, width=760)
    NEW.mkdir(parents=True, exist_ok=True)
    changed = []
    for look, (width, height) in LOOKS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.turn(look.split("-")[1])
        page.said()
        image = Image.open(io.BytesIO(page.locator(".tl-figure").screenshot()))
        old = COMMITTED / f"{name}-{look}.png"
        if old.exists() and differs(reduced(Image.open(old)), reduced(image)) <= SHARE:
            continue
        changed.append(NEW / old.name)  # 64 colors need a third of the bytes
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(changed[-1])
    assert changed == [], f"look at them; if they are right, copy them to {COMMITTED}"


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
