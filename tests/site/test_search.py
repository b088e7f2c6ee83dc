"""The search finds chapters, symbols and terms, and works from disk."""

from pathlib import Path
from urllib.parse import quote, urlsplit

from playwright.sync_api import Browser

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


def test_search_finds_symbols_and_terms(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    found_at = {}
    for query in QUERIES:
        page.goto(f"{address}/search.html?q={quote(query)}")
        page.locator(".search-summary", has_text="finished").wait_for()
        links = page.locator("#search-results li > a")
        pages = [link.get_attribute("href") or "" for link in links.all()]
        names = dict.fromkeys(Path(urlsplit(link).path).stem for link in pages)
        found_at[query] = [*names][:3]
    page.close()
    lost = {q: at for q, at in found_at.items() if QUERIES[q] not in at}
    assert lost == {}


def test_search_from_disk_finds_and_complains_of_nothing(
    chromium: Browser, book: Path
) -> None:
    page = chromium.new_page()
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.goto(f"{book.as_uri()}/search.html?q=attention")
    page.locator("#search-results li a", has_text="Attention").first.wait_for()
    page.close()
    assert errors == []
