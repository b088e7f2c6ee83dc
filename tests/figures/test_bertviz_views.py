"""BertViz's views: what they are told, in a notebook and on a page."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from itertools import product
from pathlib import Path

import pytest
import torch
from docutils import nodes
from figure_page import ROOT
from playwright.sync_api import Browser, Page
from torch import Tensor

from booksite import bertviz, extension
from booksite.bertviz import HOST, build_views
from transformer_book.figures import encoder_decoder_view, head_view, model_view
from transformer_book.figures.bertviz_views import BertVizView

TOKENS = ["ein", "und", "zwanzig", "</script><img src=x onerror=bad()>"]
VIEWS = {"head": head_view, "model": model_view}


def weights(layers: int = 2, heads: int = 3, seq: int = 4) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(layers, 1, heads, seq, seq, generator=generator)
    return list(scores.softmax(-1))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bertviz")
    build_views(ROOT, folder / "bertviz")
    host = (ROOT / "booksite/static" / HOST).read_text()
    (folder / HOST).write_text(host)
    return folder


@pytest.fixture
def open_page(chromium: Browser, scripts: Path) -> Iterator[Callable[..., Page]]:
    """Open a page from disk; at the end, nothing was said, run or asked of others."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    said: list[str] = []
    expected: list[str] = []

    def start(body: str, *words: str) -> Page:
        expected.extend(words)
        (scripts / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{body}")
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url))
        page.goto((scripts / "page.html").as_uri())
        return page

    yield start
    context.close()
    assert [text for text in said if not text.startswith("file:")] == expected


def published(*views: str) -> str:
    """The HTML of views as the site has it, with the host's script once."""
    raws = [nodes.raw("", html, format="html") for html in views]
    bertviz.drop_scripts(None, nodes.container("", *raws), "page")  # type: ignore[arg-type]
    return f'{"".join(raw.astext() for raw in raws)}<script src="{HOST}"></script>'


def html_of(kind: str, tokens: list[str] = TOKENS) -> str:
    return VIEWS[kind](weights(), tokens)._repr_html_()


@pytest.mark.parametrize("kind", VIEWS)
def test_view_is_told_these_weights_and_tokens_which_cannot_end_the_script(
    kind: str,
) -> None:
    given = weights()
    view = VIEWS[kind](given, TOKENS)
    (told,) = view.params["attention"]
    assert told["left_text"] == told["right_text"] == TOKENS
    expected = torch.cat(given).double()
    assert (torch.tensor(told["attn"]) - expected).abs().max() <= 0.0005
    assert repr(view) == f"BertViz, {kind} view: 2 layers of 3 heads on 4 tokens"

    html = html_of(kind)
    assert html == html_of(kind)
    assert html.count("</script>") == 1
    assert "<img" not in html
    state = re.search('data-state="([^"]*)"', html)
    assert state is not None
    assert json.loads(unescape(state[1]))["attention"][0]["left_text"] == TOKENS
    root = re.search('id="(bertviz-[0-9a-f]+)"', html)
    assert root is not None
    assert root[1] not in html_of(kind, ["a", "b", "c", "d"])


def test_bad_weights_are_refused() -> None:
    cases = [
        (weights(), TOKENS[:3], r"seq the number of tokens, got \(1, 3, 4, 4\) for 3"),
        ([torch.ones(2, 1, 4, 4)], TOKENS, r"\(1, n_heads, seq, seq\).* got \(2, 1"),
        ([torch.ones(4, 4)], TOKENS, r"got \(4, 4\) for 4 tokens"),
        ([], TOKENS, "one tensor for each layer, got none"),
        (weights(seq=65), ["a"] * 65, "1 to 64 tokens here, got 65"),
        (weights(), [], "1 to 64 tokens here, got 0"),
    ]
    for view, (attention, tokens, words) in product(VIEWS.values(), cases):
        with pytest.raises(ValueError, match=words):
            view(attention, tokens)
    with pytest.raises(ValueError, match=r"got \(1, 3, 4, 4\) for 3 by 4 tokens"):
        translation(cross=weights())


def test_both_views_live_on_a_page(open_page: Callable[..., Page]) -> None:
    page = open_page(published(*map(html_of, VIEWS)))
    page.locator("[data-mounted]").nth(1).wait_for()
    head, model = (page.locator(f"[data-bertviz={kind}]") for kind in VIEWS)

    layer = head.get_by_label("Layer", exact=True)
    assert layer.locator("option").all_inner_texts() == ["0", "1"]
    lines = head.locator("line")
    assert lines.count() == 3 * 4 * 4
    drawn = "lines => lines.map(line => line.getAttribute('stroke-opacity'))"
    first = lines.evaluate_all(drawn)
    layer.select_option("1")
    assert lines.evaluate_all(drawn) != first
    assert head.locator("text", has_text="</script><img").count() == 2

    assert model.locator("line").count() == 2 * 3 * 4 * 4
    assert model.locator(".detail").count() == 0
    model.locator("rect[style*='opacity: 0;']").nth(4).click()
    model.locator(".detail").first.wait_for()
    assert page.locator("img").count() == 0


def translation(**changed: list[Tensor]) -> BertVizView:
    """Four source and three target tokens."""
    three = {"encoder": weights(), "decoder": weights(seq=3)}
    three["cross"] = [one[:, :, :3] for one in weights()]
    tokens = {"source": TOKENS, "target": TOKENS[1:]}
    return encoder_decoder_view(**{**three, **changed}, **tokens)


def test_cross_attention_goes_from_the_target_to_the_source(
    open_page: Callable[..., Page],
) -> None:
    view = translation()
    encoder, decoder, cross = view.params["attention"]
    assert [one["name"] for one in (encoder, decoder, cross)] == [
        *("Encoder", "Decoder", "Cross")
    ]
    assert (cross["left_text"], cross["right_text"]) == (TOKENS[1:], TOKENS)
    assert repr(view).endswith("2 layers of 3 heads from 3 tokens to 4")

    page = open_page(published(view._repr_html_()))
    page.locator("[data-mounted]").wait_for()
    assert page.locator("line").count() == 3 * 4 * 4
    page.get_by_label("Attention", exact=True).select_option("Cross")
    assert page.locator("line").count() == 3 * 3 * 4
    assert page.locator("img").count() == 0


def test_missing_script_is_told(open_page: Callable[..., Page]) -> None:
    html = published(html_of("head"))
    missing = "Failed to load resource: net::ERR_FILE_NOT_FOUND"
    nosuch = html.replace('data-bertviz="head"', 'data-bertviz="nosuch"')
    page = open_page(nosuch, missing)
    status = page.get_by_role("status")
    status.wait_for()
    assert status.inner_text() == "BertViz cannot start: nosuch.js did not load."


def test_view_runs_in_a_notebook(open_page: Callable[..., Page]) -> None:
    """As there, with a require.js that knows jQuery and D3."""
    shim = """<script src="bertviz/parts.js"></script><script>
      globalThis.require = { config() {} };
      globalThis.requirejs = (names, run) => run(...BertVizParts);
      console.log = () => {};</script>"""
    page = open_page(shim + html_of("head"))
    assert page.locator("line").count() == 48
    assert page.locator("img").count() == 0


class App:
    """A Sphinx that remembers the scripts that a page asks for, and who listens."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.listeners: list[object] = []

    def add_js_file(self, name: str, **_: object) -> None:
        self.asked.append(name)

    def connect(self, _event: str, listener: object, **_: object) -> None:
        self.listeners.append(listener)


def test_the_book_sets_it_up_for_pages_with_a_view() -> None:
    """Left out of the extension, a page asks cdnjs for the scripts."""
    app = App()
    bertviz.add_host(app, "p", "t", {"body": "<p>BertViz</p>"}, None)  # type: ignore[arg-type]
    assert app.asked == []
    view = {"body": published(html_of("head"))}
    bertviz.add_host(app, "p", "t", view, None)  # type: ignore[arg-type]
    assert app.asked == [HOST]
    assert "bertviz" in extension.PARTS
    bertviz.setup(app)  # type: ignore[arg-type]
    assert {bertviz.add_views, bertviz.drop_scripts, bertviz.add_host} == {
        *app.listeners
    }
