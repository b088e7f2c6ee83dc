"""Still pictures of live figures, drawn by the figures' own JavaScript."""

import json
import re
from pathlib import Path

from sphinx.errors import ExtensionError

from booksite.node import run_node

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "transformer_book" / "figures" / "still.mjs"
FIGURE = re.compile(
    r'(<div class="tl-figure" data-figure="(\w+)" data-state="([^"]*)">)(.*?)</div>',
    re.DOTALL,
)


def draw(figures: list[dict[str, object]]) -> list[str]:
    """Return the still HTML of each of these ``{"figure": name, "state": state}``.

    A ``"width"`` in pixels may be added.

    Raises:
        ValueError: with Node's own words, if a figure cannot be drawn.
    """
    if not figures:
        return []
    try:
        stills: str = run_node(ROOT, str(SCRIPT), input=json.dumps(figures))
    except ExtensionError as error:
        raise ValueError(f"a figure has no still picture: {error}") from None
    return json.loads(stills)
