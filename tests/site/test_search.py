"""The search finds chapters, symbols and terms, and works from disk."""

from pathlib import Path
from urllib.parse import quote, urlsplit

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


def test_search_finds_symbols_and_terms(visit, address: str) -> None:
    page = visit()
    found_at = {}
    for query in QUERIES:
        page.goto(f"{address}/search.html?q={quote(query)}")
        page.locator(".search-summary", has_text="finished").wait_for()
        links = page.locator("#search-results li > a")
        pages = [link.get_attribute("href") or "" for link in links.all()]
        names = dict.fromkeys(Path(urlsplit(link).path).stem for link in pages)
        found_at[query] = [*names][:3]
    lost = {q: at for q, at in found_at.items() if QUERIES[q] not in at}
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
