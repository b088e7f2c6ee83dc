"""What search engines read."""

from pathlib import Path
from xml.etree import ElementTree


def test_robots_and_sitemap(book: Path) -> None:
    robots = (book / "robots.txt").read_text()
    assert robots.startswith("User-agent: *\nAllow: /\n")
    sitemap = book / "sitemap.xml"
    assert sitemap.exists() == ("Sitemap: https://" in robots)
    if sitemap.exists():
        assert len(ElementTree.parse(sitemap).getroot()) > 20
