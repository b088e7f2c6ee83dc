"""A finger on a page: what Playwright's touchscreen, which only taps, cannot do."""

import pytest
from playwright.sync_api import Page

Place = tuple[float, float]


PHONE = {"width": 320, "height": 640}
FINGER = {"has_touch": True, "is_mobile": True, "width": 360, "height": 740}
"""What `visit` and `live` open as a narrow window, and as a phone."""
WINDOW_WIDTHS = [320, pytest.param(360, marks=pytest.mark.nightly), 1280]
"""The narrowest phone, by night one in between, and a laptop."""


def swipe(page: Page, start: Place, *stops: Place) -> None:
    """Put a finger down at the start, move it from stop to stop, lift it."""
    session = page.context.new_cdp_session(page)
    kinds = ["touchStart", *["touchMove"] * len(stops)]
    for kind, (x, y) in zip(kinds, (start, *stops), strict=True):
        points = [{"x": x, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        page.evaluate("() => new Promise(requestAnimationFrame)")  # moves come by frame
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
