"""The book's first page: a live figure, and the tower of all chapters."""

from pathlib import Path

import pytest

from booksite.landing import stored_figure


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_first_screen_shows_a_live_figure(visit, size: tuple[int, int]) -> None:
    page = visit("intro.html", size)
    page.locator("[data-figure][data-mounted]").wait_for()
    controls = page.get_by_role("button", name="Step").bounding_box()
    assert controls["y"] + controls["height"] < size[1]
    assert page.locator("article ul").first.locator("li").count() == 3


def test_tower_leads_to_every_chapter(visit) -> None:
    page = visit("intro.html", (360, 740))
    blocks = page.get_by_role("navigation", name="tower").get_by_role("link")
    assert blocks.count() == len(list(Path("chapters").glob("[0-9][0-9]_*.ipynb")))
    tops = [block.bounding_box()["y"] for block in blocks.all()]
    assert tops == sorted(tops, reverse=True)
    assert len(set(tops)) == -(-len(tops) // 3)  # from the ground up, three in a row
    blocks.nth(4).click()
    page.wait_for_url("**/04_attention.html")


def test_unknown_figure_is_refused() -> None:
    with pytest.raises(Exception, match=r"must be one that .* shows, got 'nosuch'"):
        stored_figure(Path("chapters/gallery.ipynb"), "nosuch")
