"""BertViz's views: what they are told, in a notebook and on a page."""

import json
import re
from html import unescape
from itertools import product
from unittest.mock import Mock, call

import pytest
import torch
from docutils import nodes
from figure_page import ROOT
from playwright.sync_api import expect

from booksite import bertviz, extension
from booksite.bertviz import HOST, build_views
from transformer_book.figures import encoder_decoder_view, head_view, model_view

TOKENS = ["ein", "und", "zwanzig", "</script><img src=x onerror=bad()>"]
VIEWS = {"head": head_view, "model": model_view}


def weights(layers=2, heads=3, seq=4):
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(layers, 1, heads, seq, seq, generator=generator)
    return list(scores.softmax(-1))


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bertviz")
    build_views(ROOT, folder / "bertviz")
    host = (ROOT / "booksite/static" / HOST).read_text()
    (folder / HOST).write_text(host)
    return folder


@pytest.fixture
def open_page(chromium, scripts):
    """Open a page from disk; at the end, nothing was said, run or asked of others."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    said, expected = [], []

    def start(body, *words):
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


def published(*views):
    """The HTML of views as the site has it, with the host's script once."""
    raws = [nodes.raw("", html, format="html") for html in views]
    bertviz.drop_scripts(None, nodes.container("", *raws), "page")
    return f'{"".join(raw.astext() for raw in raws)}<script src="{HOST}"></script>'


def html_of(kind, tokens=TOKENS):
    return VIEWS[kind](weights(), tokens)._repr_html_()


@pytest.mark.parametrize("kind", VIEWS)
def test_view_is_told_these_weights_and_tokens_which_cannot_end_the_script(kind):
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
    (state,) = re.findall('data-state="([^"]*)"', html)
    assert json.loads(unescape(state))["attention"][0]["left_text"] == TOKENS
    (root,) = re.findall('id="(bertviz-[0-9a-f]+)"', html)
    assert root not in html_of(kind, ["a", "b", "c", "d"])


def test_bad_weights_are_refused():
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


def test_both_views_live_on_a_page(open_page):
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


def translation(**changed):
    """Four source and three target tokens."""
    three = {"encoder": weights(), "decoder": weights(seq=3)}
    three["cross"] = [one[:, :, :3] for one in weights()]
    tokens = {"source": TOKENS, "target": TOKENS[1:]}
    return encoder_decoder_view(**{**three, **changed}, **tokens)


def test_cross_attention_goes_from_the_target_to_the_source(open_page):
    view = translation()
    encoder, decoder, cross = view.params["attention"]
    names = [one["name"] for one in (encoder, decoder, cross)]
    assert names == ["Encoder", "Decoder", "Cross"]
    assert (cross["left_text"], cross["right_text"]) == (TOKENS[1:], TOKENS)
    assert repr(view).endswith("2 layers of 3 heads from 3 tokens to 4")

    page = open_page(published(view._repr_html_()))
    page.locator("[data-mounted]").wait_for()
    assert page.locator("line").count() == 3 * 4 * 4
    page.get_by_label("Attention", exact=True).select_option("Cross")
    assert page.locator("line").count() == 3 * 3 * 4
    assert page.locator("img").count() == 0


def test_missing_script_is_told(open_page):
    html = published(html_of("head"))
    nosuch = html.replace('data-bertviz="head"', 'data-bertviz="nosuch"')
    page = open_page(nosuch, "Failed to load resource: net::ERR_FILE_NOT_FOUND")
    said = "BertViz cannot start: nosuch.js did not load."
    expect(page.get_by_role("status")).to_have_text(said)


def test_view_runs_in_a_notebook(open_page):
    """As there, with a require.js that knows jQuery and D3."""
    shim = """<script src="bertviz/parts.js"></script><script>
      globalThis.require = { config() {} };
      globalThis.requirejs = (names, run) => run(...BertVizParts);
      console.log = () => {};</script>"""
    page = open_page(shim + html_of("head"))
    assert page.locator("line").count() == 48
    assert page.locator("img").count() == 0


def test_the_book_sets_it_up_for_pages_with_a_view():
    """Left out of the extension, a page asks cdnjs for the scripts."""
    app = Mock()
    for body in ("<p>BertViz</p>", published(html_of("head"))):
        bertviz.add_host(app, "p", "t", {"body": body}, None)
    assert app.mock_calls == [call.add_js_file(HOST, loading_method="defer")]
    assert "bertviz" in extension.PARTS
    bertviz.setup(app)
    listeners = {each.args[1] for each in app.connect.mock_calls}
    assert listeners == {bertviz.add_views, bertviz.drop_scripts, bertviz.add_host}
