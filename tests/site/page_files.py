"""A page of the built book, read from its file without a browser."""

from collections.abc import Callable
from pathlib import Path

import yaml
from lxml.html import HtmlElement, document_fromstring

from booksite.build import ROOT

# By these attributes a browser loads something, and by the href of these elements.
LOADING = {"src", "srcset", "data", "poster", "action", "xlink:href"}
LOADING_BY_HREF = {"link", "image", "use"}


CONTENTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
ORDER = [f"{CONTENTS['root']}.html"] + [
    f"{entry['file']}.html" for part in CONTENTS["parts"] for entry in part["chapters"]
]


class PageFile:
    """What one page holds, loads and leads to."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, path.read_text("utf-8")
        self.tree = document_fromstring(self.text)
        self.select = self.tree.cssselect
        self.tags: list[HtmlElement] = [*self.tree.iter("*")]  # comments are none
        self.loads = self.attributes(loads)
        self.links = [tag.get("href") for tag in self.select("a[href]")]
        self.names = {*self.attributes(lambda tag, name: name in ("id", "name"))}

    def attributes(self, wanted: Callable[[HtmlElement, str], bool]) -> list[str]:
        """The values of the attributes that are wanted, in their order."""
        found = ((tag, name) for tag in self.tags for name in tag.attrib)
        return [tag.get(name) for tag, name in found if wanted(tag, name)]


def loads(tag: HtmlElement, name: str) -> bool:
    """Whether a browser loads something by this attribute."""
    if tag.tag == "link" and tag.get("rel") == "canonical":
        return False  # an address, and nothing to load
    return name in LOADING or (name == "href" and tag.tag in LOADING_BY_HREF)
