"""What a reader predicts: kept in the browser alone, and shown at its answer."""

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.site

PAGE = "chapters/04_attention.html"
FIELD = "form.tl-predict input"
ASKS = re.compile(r"Predict(\.| again,)")


def shown(page: Page) -> list[str]:
    return page.locator(".tl-predicted:visible").all_inner_texts()


def test_every_question_has_a_field_and_most_an_answer_below_it(files) -> None:
    asked = answered = 0
    for page, file in files.items():
        keys = [form.get("data-prediction") for form in file.select(".tl-predict")]
        assert len({*keys}) == len(keys), page
        texts = [p.text_content() for p in file.select("article p:has(> strong)")]
        assert len(keys) == sum(bool(ASKS.match(text)) for text in texts), page
        named = {f"{key}-asked" for key in keys}
        assert named == {p.get("id") for p in file.select("p[id$=-asked]")}, page
        marked = file.select(".tl-predict, .tl-predicted")
        seen: set[str] = set()
        for one in marked:
            if one.tag == "p":
                assert one.get("data-of") in seen, page
                fold = one.getparent()
                assert fold.tag == "details", page
                assert "open" not in fold.attrib, page
                assert fold.find("summary").text_content().startswith("Answer"), page
            seen.add(one.get("data-prediction", ""))
        asked += len(keys)
        answered += len({one.get("data-of") for one in marked if one.tag == "p"})
    assert asked > 150
    assert answered > 0.95 * asked


def test_a_prediction_opens_its_answer_and_is_forgotten_by_one_button(visit):
    page = visit(PAGE)
    second = page.locator(FIELD).nth(1)
    answer = page.get_by_text("No. The scores of")
    expect(answer).to_be_hidden()
    second.fill(" never <b>pure</b> ")
    second.press("Enter")
    assert shown(page) == ["You predicted: never <b>pure</b>"]
    expect(answer).to_be_visible()

    page.reload()
    assert shown(page) == ["You predicted: never <b>pure</b>"]
    expect(second).to_have_value("never <b>pure</b>")
    here = page.get_by_role("link", name="Attention 1 of 9")
    expect(here).to_have_count(1)
    page.locator(FIELD).nth(0).fill("target, function, targets")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the button
    expect(page.get_by_role("link", name="Attention 2 of 9")).to_have_count(1)

    page.get_by_role("button", name="Forget my predictions").click()
    assert shown(page) == []
    expect(second).to_have_value("")
    expect(page.get_by_role("link", name="Attention 2 of 9")).to_have_count(0)
    assert page.evaluate("Object.keys(localStorage).join()").count("prediction") == 0
    page.reload()
    assert shown(page) == []


def test_a_choice_is_kept_and_forgotten(visit) -> None:
    page = visit(PAGE)
    choice = page.get_by_role("radio", name="near 0.95")
    choice.focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    assert shown(page) == ["You predicted: near 0.95"]
    page.reload()
    expect(choice).to_be_checked()
    page.get_by_role("button", name="Forget my predictions").click()
    expect(choice).not_to_be_checked()
    assert shown(page) == []


def test_without_scripts_an_answer_is_a_fold_and_no_field_is_seen(visit) -> None:
    page = visit(PAGE, java_script_enabled=False)
    expect(page.locator(FIELD).first).to_be_hidden()
    answer = page.get_by_text("No. The scores of")
    expect(answer).to_be_hidden()
    page.get_by_text("Answer", exact=True).first.click()
    expect(answer).to_be_visible()


def test_an_emptied_field_forgets_its_prediction_and_paper_has_none(visit) -> None:
    page = visit(PAGE)
    field = page.locator(FIELD).first
    for words in ("target", ""):
        field.fill(words)
        field.press("Enter")
    assert shown(page) == []
    expect(page.get_by_role("button", name="Forget my predictions")).to_be_hidden()
    page.emulate_media(media="print")
    expect(field).to_be_hidden()
