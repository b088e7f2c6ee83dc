"""A page of the built book, read from its file without a browser."""

from collections.abc import Callable
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag

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
        self.soup = BeautifulSoup(self.text, "html.parser")
        self.tags: list[Tag] = self.soup.find_all(True)
        self.loads = self.attributes(loads)
        self.links = [tag["href"] for tag in self.soup.find_all("a", href=True)]
        self.names = {*self.attributes(lambda tag, name: name in ("id", "name"))}

    def attributes(self, wanted: Callable[[Tag, str], bool]) -> list[str]:
        """The values of the attributes that are wanted, in their order."""
        found = ((tag, name) for tag in self.tags for name in tag.attrs)
        return [tag[name] for tag, name in found if wanted(tag, name)]


def loads(tag: Tag, name: str) -> bool:
    """Whether a browser loads something by this attribute."""
    if tag.name == "link" and "canonical" in tag["rel"]:
        return False  # an address, and nothing to load
    return name in LOADING or (name == "href" and tag.name in LOADING_BY_HREF)
