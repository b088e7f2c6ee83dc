"""What one types into a figure: any text stays text, and a link brings it back."""

import pytest
from figure_examples import BY_THE_KIT, EXAMPLES, HOSTILE
from tab_stops import having
from touch import PHONE

MARKUP = "<b>&'\"#=%</script> שלום 👩‍👧 é"
TYPED = {"embedding_lookup": "sixty six", "translator": "345"}
"""What a figure can read, where it does not read everything."""

TALLEST = """() => Math.max(...[...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().height))"""
TYPE = """(node, text) => {
  node.value = text;
  node.dispatchEvent(new Event("input", { bubbles: true }));
  return new Promise(requestAnimationFrame); }"""
LOOK = """() => { const root = document.querySelector(".tl-live").shadowRoot;
  return {
    said: root.querySelector(".say").innerText,
    error: root.querySelector(".error").checkVisibility(),
    images: root.querySelectorAll("img").length,
    notes: [...root.querySelectorAll(".note")].map((note) => note.innerText.length),
  }; }"""


@pytest.mark.parametrize("name", [BY_THE_KIT[n] for n in having("textbox")])
def test_hostile_typed_text_is_inert_and_a_link_brings_text_back(live, visit, name):
    page = live(EXAMPLES[name].make(), **PHONE)
    page.locator("summary").last.click()
    field, step = page.get_by_role("textbox").first, page.button("Step")
    before, tallest = page.said(), max(600, page.evaluate(TALLEST))
    for kind, text in HOSTILE.items():
        field.evaluate(TYPE, f"{text} b")
        if step.count() and step.is_enabled():
            step.click()
        page.grid().click()
        page.said()
        look = page.evaluate(LOOK)
        assert look["said"], kind
        assert not look["error"], kind
        assert look["images"] == 0, kind
        assert max(look["notes"], default=0) < 200, kind
        assert page.wide() <= 320, kind
        assert page.evaluate(TALLEST) <= tallest, kind
    page.push("Reset")
    text = TYPED.get(name, MARKUP)
    field.fill(text)
    said = page.said_at_rest()
    assert said != before
    again = visit(**PHONE).follow(page.link())
    again.locator(".say", has_text=said).wait_for()
    assert again.said() == said
    assert again.get_by_role("textbox").first.input_value() == text
