"""What one types into a figure: any text stays text, and a link brings it back."""

import pytest
from figure_examples import EXAMPLES, HOSTILE
from tab_stops import having
from touch import PHONE

MARKUP = "<b>&'\"#=%</script> שלום 👩‍👧 é"
TYPED = {"embedding_lookup": "sixty six", "translator": "345"}
"""What a figure can read, where it does not read everything."""

TALLEST = """() => Math.max(...[...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().height))"""

pytestmark = pytest.mark.parametrize("name", having("textbox"))


def test_hostile_typed_text_is_inert(live, name):
    page = live(EXAMPLES[name].make(), **PHONE)
    page.locator("summary").last.click()
    field, step = page.get_by_role("textbox").first, page.button("Step")
    tallest = max(600, page.evaluate(TALLEST))
    for kind, text in HOSTILE.items():
        field.evaluate("(node, text) => { node.value = text; }", f"{text} b")
        field.dispatch_event("input")
        assert page.said(), kind
        if step.count() and step.is_enabled():
            assert page.push("Step"), kind
        page.grid().click()
        assert page.locator(".error").is_hidden(), kind
        assert page.locator(".tl-live img").count() == 0, kind
        assert page.wide() <= 320, kind
        assert page.evaluate(TALLEST) <= tallest, kind
        notes = page.locator(".note").all_inner_texts()
        assert all(len(note) < 200 for note in notes), kind


def test_a_link_brings_typed_text_back(live, visit, name):
    page = live(EXAMPLES[name].make())
    field = page.get_by_role("textbox").first
    before, text = page.said(), TYPED.get(name, MARKUP)
    field.fill(text)
    said = page.said()
    assert said != before
    again = visit().follow(page.link())
    again.locator(".say", has_text=said).wait_for()
    assert again.said() == said
    assert again.get_by_role("textbox").first.input_value() == text
