"""A reader's ways: the map, search, neighbours, keyboard, and the place in a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import pytest
from page_audit import in_page
from page_files import ORDER
from playwright.sync_api import Page
from sphinx.errors import ExtensionError

from booksite.build import ROOT
from booksite.landing import stored_figure

pytestmark = pytest.mark.site
MARKS = ROOT / "booksite/static"


@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_the_first_screen_has_a_model_at_work(visit, size: tuple[int, int]) -> None:
    page = visit("intro.html", size)
    page.locator("[data-figure][data-mounted]").wait_for()
    figure = page.locator("[data-figure]")
    written = figure.locator(".said")
    assert written.inner_text() == "einund"
    assert written.bounding_box()["y"] < 0.75 * size[1]
    lines = figure.locator("svg [data-part=weights]").first.bounding_box()
    assert lines["y"] + lines["height"] < size[1]
    said = page.locator("article p").first.inner_text()
    for what in ("course", "build a transformer", "You need Python"):
        assert what in said
    ways = page.locator("article").get_by_role("link", name="one evening")
    assert ways.first.bounding_box()["y"] < 0.6 * size[1]
    step = page.get_by_role("button", name="Step", exact=True)
    step.click()
    assert written.inner_text() == "einundzwan"
    page.get_by_role("textbox", name="English number").fill("345")
    figure.locator(".said", has_text="drei").wait_for()
    step.click(click_count=6)
    assert written.inner_text() == "dreihundertfünfundvierzig"


def test_cards_show_their_chapters_figures_to_the_eye_alone(visit) -> None:
    page = visit("intro.html")
    cards = page.locator(".sd-card").filter(has=page.locator(".tl-card-picture"))
    told = (ROOT / "intro.md").read_text(encoding="utf-8").count("{card-picture}")
    assert cards.count() == told > 12
    assert cards.locator("[aria-hidden=true] > svg").count() == told


def test_lines_of_text_are_as_long_as_the_eye_likes(visit) -> None:
    texts = visit(CHAPTER).locator("article section > p:not(:has(.katex))")
    lengths = texts.evaluate_all(
        """(texts) => texts.map((p) => {
          const { lineHeight } = getComputedStyle(p);
          return [p.innerText.length, p.clientHeight / parseFloat(lineHeight)];
        })"""
    )
    long = [letters / lines for letters, lines in lengths if lines > 3.5]
    assert len(long) > 10
    assert 60 < max(long) <= 78


def test_far_cells_are_laid_out_after_the_page_has_come(visit) -> None:
    waiting = in_page("waiting")
    first = f"addEventListener('load', () => {{ globalThis.atFirst = {waiting}() }})"
    page = visit(CHAPTER, first=first)
    assert page.evaluate("atFirst") > 30
    page.locator("html.tl-come").wait_for()
    assert page.evaluate(waiting) == 0
    page.reload()  # to the place where it was
    assert page.evaluate("atFirst") == 0
    linked = visit(f"{CHAPTER}#exercises", first=first)
    assert linked.evaluate("atFirst") == 0
    early = visit(CHAPTER)
    early.locator("nav.page-toc a").last.click()
    assert early.evaluate(waiting) == 0


def test_long_lines_of_code_go_on_below_and_are_copied_as_they_are(visit) -> None:
    page = visit(CHAPTER, (360, 740))
    page.locator("html.tl-come").wait_for()
    code = page.locator(".cell_input pre:visible")
    texts = code.evaluate_all("all => all.map((pre) => pre.innerText.trim())")
    notebook = nbformat.read(ROOT / CHAPTER.replace(".html", ".ipynb"), 4)
    sources = {cell.source.strip() for cell in notebook.cells}
    assert len(texts) > 20
    assert {*texts} <= sources
    wide = "all => all.filter((pre) => pre.scrollWidth > pre.clientWidth).length"
    assert code.evaluate_all(wide) == 0
    begins, goes_on = code.locator(".in1").evaluate_all(
        """(lines) => lines.map((line) => {
          const range = document.createRange();
          range.selectNodeContents(line);
          const [first, ...rest] = range.getClientRects();
          const below = rest.find((box) => box.top > first.bottom - 2);
          return below && [first.left, below.left];
        }).find(Boolean)"""
    )
    assert goes_on > begins  # and the line begins with four blanks


def test_map_leads_to_a_chapter_by_its_name_and_by_keyboard(visit) -> None:
    page = visit("intro.html", (360, 740))
    map_ = page.get_by_role("group", name="The whole transformer")
    map_.get_by_role("link", name="Attention (chapter 4: Attention)").first.click()
    page.wait_for_url("**/04_attention.html", wait_until="commit")
    page.go_back()
    map_.get_by_role("link", name="Sampling (chapter 13: Sampling)").press("Enter")
    page.wait_for_url("**/13_sampling.html", wait_until="commit")


def test_unknown_figure_is_refused() -> None:
    with pytest.raises(ExtensionError, match=r"one that .* shows, got 'nosuch'"):
        stored_figure(Path("chapters/gallery.ipynb"), "nosuch")


# Sphinx shows the last one first.
FOUND = """(query) =>
  Search._performSearch(...Search._parseQuery(query)).reverse().map(([page]) => page)"""
QUERIES = {
    "KV": "12_cache",
    "KV cache": "glossary",
    "QK^T": "04_attention",
    "d_model": "04_attention",
    "softmax": "glossary",
    "W_Q": "04_attention",
    "RoPE": "03_positions",
    "BPE": "01_tokens",
    "label smoothing": "11_training",
    "beam search": "13_sampling",
    "logit lens": "15_inspection",
    "residual stream": "07_blocks",
}


def test_search_finds_symbols_and_terms(visit) -> None:
    """The page shows one query; of the others, what it would show, in that order."""
    page = visit(f"search.html?q={quote('QK^T')}")
    first = page.locator("#search-results li > a").first.get_attribute("href")
    found_at = {}
    for query in QUERIES:
        pages = page.evaluate(FOUND, query)
        found_at[query] = [*dict.fromkeys(pages)][:3]
    assert found_at["QK^T"][0] in first
    lost = {q: at for q, at in found_at.items() if f"chapters/{QUERIES[q]}" not in at}
    assert lost == {}


def test_search_from_disk_finds_and_complains_of_nothing(visit, book: Path) -> None:
    page = visit()
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(f"{book.as_uri()}/search.html?q=attention")
    page.locator("#search-results li a", has_text="Attention").first.wait_for()
    assert errors == []


def test_lost_readers_get_the_books_own_page(visit, address: str) -> None:
    """From it, every link leads on."""
    page = visit()
    answer = page.goto(f"{address}/no/such/page.html")
    assert answer.status == 404
    page.get_by_role("heading", name="There is no such page").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skips the menus, and leads nowhere else
    assert page.url == f"{address}/no/such/page.html#main-content"
    page.locator("article").get_by_role("link", name="glossary").click()
    page.wait_for_url("**/chapters/glossary.html")
    page.get_by_role("heading", name="Glossary").wait_for()


@pytest.mark.parametrize("name", [ORDER[-1], "404.html"])
def test_logo_is_ours_and_leads_home_by_the_books_name(visit, address, name) -> None:
    page = visit(name)
    home = page.get_by_role("navigation", name="Home").get_by_role("link")
    assert home.count() == 1
    # The mark says nothing of its own (alt=""): the name beside it is the link's.
    logo = home.locator("img")
    assert logo.get_attribute("alt") == ""
    assert logo.evaluate("(image) => image.naturalWidth") > 0
    assert home.inner_text().strip() == "Transformers, Piece by Piece"
    source = page.request.get(str(logo.evaluate("(image) => image.src"))).body()
    assert source == (MARKS / "logo.svg").read_bytes()
    assert b"<title>" in source
    assert home.evaluate("(link) => link.href").split("#")[0] == f"{address}/{ORDER[0]}"


CHAPTER = "chapters/04_attention.html"
LAPTOP, PHONE = (1280, 800), (360, 684)
WIDE = pytest.param(LAPTOP, id="laptop", marks=pytest.mark.nightly)
each_size = pytest.mark.parametrize("size", [PHONE, WIDE])


def in_sight(page: Page) -> str:
    """The first text in sight, once nothing moves any more."""
    page.evaluate(in_page("settle"))
    return page.evaluate(in_page("firstInSight"))


def read_on(page: Page, screens: int) -> str:
    """Turn the wheel as a reader does; what is in sight in the end.

    Figures that come near come alive, and move.
    """
    size = page.viewport_size
    page.mouse.move(size["width"] / 2, size["height"] / 2)
    for _ in range(screens):
        page.mouse.wheel(0, size["height"] * 0.8)
        page.evaluate("new Promise(requestAnimationFrame)")
    return in_sight(page)


@each_size
def test_a_link_from_elsewhere_leads_to_its_section(visit, size) -> None:
    page = visit(f"{CHAPTER}#exercises", size)
    page.evaluate(in_page("settle"))
    top, window, height = page.evaluate(in_page("titleInWindow"), "exercises")
    assert 0 <= top <= window - height


@each_size
def test_a_place_is_found_again(visit, address: str, size: tuple[int, int]) -> None:
    """When the page is loaded again, and on the way back from a link."""
    page = visit(CHAPTER, size)
    for screens in (1, 12):
        before = read_on(page, screens)
        page.reload()
        assert in_sight(page) == before
        page.goto(f"{address}/chapters/05_masks.html")
        page.go_back()
        assert in_sight(page) == before
        page.evaluate("document.querySelector('a[href=\"#exercises\"]').click()")
        assert in_sight(page) != before
        top, window, _ = page.evaluate(in_page("titleInWindow"), "exercises")
        assert 0 <= top <= window / 2
        page.go_back()
        assert in_sight(page) == before


def test_the_list_of_sections_follows_the_reader(visit) -> None:
    page = visit("chapters/13_sampling.html")  # the longest
    seen = set()  # before the end, where the last section is marked whatever passed
    for key in ["PageDown"] * 30 + ["PageUp"] * 30:
        page.keyboard.press(key)
        marked, passed = page.evaluate(in_page("marked"))
        assert marked == passed
        seen |= {*marked}
    assert len(seen) > 5
    for _ in range(3):  # figures that come alive on the way make the page longer
        page.keyboard.press("End")
        page.evaluate(in_page("settle"))
    page.locator("nav.page-toc li:last-child > a[aria-current=true]").wait_for()


MOST_STOPS = 1500


@dataclass
class Walk:
    """One way through a page by Tab."""

    expected: list[str]
    found: list[dict[str, Any]]

    def missed(self) -> list[str]:
        """Return what Tab did not reach."""
        reached = {int(each["stop"]) for each in self.found if each["stop"] is not None}
        return [html for n, html in enumerate(self.expected) if n not in reached]

    def without(self, what: str) -> list[str]:
        """Return the stops that lack a ring, or cannot be seen."""
        return [each["html"] for each in self.found if not each[what]]


def walk(page: Page) -> Walk:
    """Press Tab from the top of the page until the page is left."""
    expected = page.evaluate(in_page("stops"))
    found = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        here = page.evaluate(in_page("here"))
        if here is None or (found and here["html"] == found[0]["html"]):
            return Walk(expected, found)
        found.append(here)
    pytest.fail(f"Tab does not leave the page; last: {found[-1]}")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("intro.html", PHONE),
        ("chapters/05_masks.html", LAPTOP),
        pytest.param("intro.html", LAPTOP, marks=pytest.mark.nightly),
        pytest.param(CHAPTER, LAPTOP, marks=pytest.mark.nightly),
        pytest.param(CHAPTER, PHONE, marks=pytest.mark.nightly),
    ],
)
def test_tab_walks_a_whole_page(visit, name: str, size: tuple[int, int]) -> None:
    page = visit(name, size, reduced_motion="reduce")
    page.evaluate(in_page("unfold"))
    page.evaluate(in_page("walk"))
    done = walk(page)
    assert len(done.found) > 20
    assert done.missed() == []
    assert done.without("ring") == []
    assert done.without("seen") == []


def test_a_button_that_copies_keeps_the_focus(visit) -> None:
    page = visit("chapters/05_masks.html")
    button = page.locator("button.copybtn").locator("visible=true").first
    button.focus()
    page.keyboard.press("Enter")
    page.locator("button.copybtn.success").wait_for()
    assert button.evaluate("button => button.matches(':focus')")


def test_walk_finds_what_it_looks_for(visit) -> None:
    page = visit()
    page.set_content(
        "<button>good</button><button style='outline: none'>no ring</button>"
        "<button tabindex=-1>not meant</button><button>covered</button>"
        "<i style='position: fixed; inset: 0 0 0 150px; background: red'></i>"
        "<button onfocus='this.blur()'>unreachable</button>"
    )
    done = walk(page)
    assert any("no ring" in html for html in done.without("ring"))
    assert any("covered" in html for html in done.without("seen"))
    assert ["unreachable" in html for html in done.missed()] == [True]
