"""Lines of code that are too long for the page go on below, farther in than they begin.

Each line is an element with a class for its indentation; `cells.css` does the rest.
Names, brackets and blanks have the color of a line, so they are no elements: a page of
code has half as many.
"""

import re
from collections.abc import Iterator

from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

Source = Iterator[tuple[int, str]]
STEP = 4  # spaces
DEEPEST = 4  # that the style tells apart
BLANKS = re.compile(r"(?:<[^>]*>)*( *)")  # before the first letter, tags left out
PLAIN = re.compile(r'<span class="(?:n|nn|nx|p|w)">([^<]*)</span>')


class LinesFormatter(HtmlFormatter[str]):
    def wrap(self, source: Source) -> Source:
        return super().wrap((is_line, element(line)) for is_line, line in source)


def element(line: str) -> str:
    """The line with its end outside: its element is a box, and a box needs none."""
    text = PLAIN.sub(r"\1", line.rstrip("\n"))
    blanks = BLANKS.match(text)
    assert blanks
    depth = min(len(blanks[1]) // STEP, DEEPEST)
    return f'<span class="in{depth}">{text}</span>\n' if text else line


def setup(app: Sphinx) -> None:
    PygmentsBridge.html_formatter = LinesFormatter
