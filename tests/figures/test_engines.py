"""Each figure says in Firefox and in WebKit what it says in Chromium, by keyboard.

Its opening, what the keys of its example make of it, and what the model in the page
answers to another input: from a server and from disk, without an error in the page.
"""

import re

import pytest
from engines import ENGINES, use_pages
from figure_examples import EXAMPLES
from figure_page import document
from weights_page import MODELS

# What goes into a figure's first field, or "" for its first button.
TYPED = {
    "block_flow": "for",
    "heads_grid": "",
    "kv_cache_stepper": "if",
    "sampling_desk": "while",
    "translator": "345",
}
HEARD = """<script>
  window.heard = [];
  for (const kind of ["error", "warn"])
    console[kind] = (...all) => window.heard.push(all.join(" "));
  addEventListener("error", (event) => window.heard.push(event.message));
  addEventListener("unhandledrejection", (e) => window.heard.push(String(e.reason)));
</script>"""


@pytest.fixture(scope="session")
def visits(site, server):
    """A page with all figures: used from the server, opened from disk."""
    made = "".join(example.make().html() for example in EXAMPLES.values())
    (site / "engines.html").write_text(document(HEARD + made))
    used = [
        {"keys": example.keys, "typed": TYPED.get(name), "model": name in MODELS}
        for name, example in EXAMPLES.items()
    ]
    opened = [figure | {"keys": [], "typed": None} for figure in used]
    homes = {server: used, site.as_uri(): opened}.items()
    return [{"url": f"{home}/engines.html", "figures": each} for home, each in homes]


def use(engine, visits):
    """What the figures say in this engine: by their names, in each place."""
    return [
        dict(zip(EXAMPLES, told, strict=True)) for told in use_pages(engine, visits)
    ]


@pytest.fixture(scope="session")
def in_chromium(visits):
    """What all the others have to say."""
    return use("chromium", visits)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_engine_says_the_same_from_server_and_from_disk(
    in_chromium, visits, engine
):
    places = in_chromium if engine == "chromium" else use(engine, visits)
    for name, wanted in in_chromium[0].items():
        assert wanted["errors"] == [], name
        assert re.search(EXAMPLES[name].said, wanted["moved"]["sentence"]), name
        assert ("answered" in wanted) == (name in MODELS) == (name in TYPED)
        from_server, from_disk = (place[name] for place in places)
        assert from_server == wanted, name
        for what in ("opened", "errors"):
            assert from_disk[what] == wanted[what], f"{name} from disk"
