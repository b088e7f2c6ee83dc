"""Lighthouse visits the first page and a long one; `tools.lighthouse` visits all."""

import sys
from pathlib import Path

import pytest
from browser import require_chromium

from tools.lighthouse import LEAST, all_pages, is_good, judge, slowdown

pytestmark = pytest.mark.site
PAGES = ("intro.html", "chapters/04_attention.html")
# The mark for speed depends on what else this machine does: printed, not judged.
WANTED = LEAST | {"performance": 0}


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES)
def test_lighthouse_gives_full_marks(book, address, page, capsys) -> None:
    marks = judge(f"{address}/{page}", require_chromium(), WANTED)
    with capsys.disabled():
        sys.stdout.write(f"\nlighthouse {page}: {marks}\n")
    assert is_good(marks, WANTED)


def test_one_low_mark_is_not_good() -> None:
    assert is_good(LEAST)
    for name in LEAST:
        assert not is_good(LEAST | {name: LEAST[name] - 1})


@pytest.mark.parametrize(("index", "slower"), [(2000, 4), (528, 2), (264, 1), (90, 1)])
def test_a_slow_machine_is_made_less_slow(index: int, slower: int) -> None:
    assert slowdown({"environment": {"benchmarkIndex": index}}) == slower


def test_every_page_is_judged_once(book: Path) -> None:
    assert {*PAGES, "404.html", "search.html"} <= {*all_pages()}
    assert "index.html" not in all_pages()
