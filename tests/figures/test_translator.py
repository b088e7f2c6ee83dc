"""Translator: right words, PyTorch's answers, and the lesson that the lines cross."""

import json
import re
from copy import deepcopy
from functools import cache
from html import unescape

import ipywidgets
import pytest
import torch
from figure_page import (
    MODEL,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from inference_jobs import shipped
from models import model, tiny
from playwright.sync_api import expect
from samples import double
from tolerances import assert_near
from touch import PHONE
from weights_page import runs

from tools.stills import with_stills
from transformer_book import tasks
from transformer_book.figures.translator import figure as module
from transformer_book.figures.translator.answers import MOST, answer, words_of
from transformer_book.figures.translator.figure import Translator
from transformer_book.figures.weights import pack
from transformer_lib.encoder_decoder import EncoderDecoder

NUMBERS = "translator/numbers"
ROUND = [k * 10**power for power in range(2, 6) for k in range(1, 10)]
SAMPLE = [*range(1, 1300), *range(1300, 10**6, 3331), 999_999]
SAMPLE += [n + by for n in ROUND for by in (-1, 0, 1)]
TEXTS = [21, 12, 345, 706_012, 813_115, 999_999, *range(8, 10**6, 76_927)]
TEXTS = [*map(str, TEXTS), "hello", "zwölf", "one one one", "Ω €", "\u202ea"]
"""Numbers, long and short, and words that are no number."""
JOINED = {
    "Twenty-One": 21,
    "one hundred and twenty one": 121,
    "one hundred thousand and one hundred": 100_100,
    " two hundred thousand and  three ": 200_003,
}
NO_NUMBER = (
    "|and|hundred|one thousand thousand|one thousand and one thousand|one million|one!|"
    "thousand|eleventy|one hundred and one and one|zwölf|twentyone|twenty_one|21 one|"
    "a hundred"
).split("|")


@cache
def by_the_book(text: str) -> dict:
    """What the book's model makes of any words: it has learned those of numbers."""
    found = shipped("number-translator")
    return answer(found.model, found.tokenizer, text, by="number-translator")


def characters():
    """A small model that knows nothing, and its tokenizer of letters."""
    tokenizer = tasks.Characters("abcdefghijklmnopqrstuvwxyz -,")
    config = tiny(vocab_size=tokenizer.vocab_size, max_len=12, dropout=0.5)
    return model(EncoderDecoder, config, torch.float32), tokenizer


def test_page_writes_numbers_as_the_tasks_do():
    for name, language in (("english", "en"), ("german", "de")):
        words = [tasks.number_words(n, language) for n in SAMPLE]
        assert page_calls(NUMBERS, name, SAMPLE) == words


def test_words_are_read_back_and_may_be_joined_in_another_way():
    numbers, none = SAMPLE[::7], [None] * len(NO_NUMBER)
    texts = [tasks.number_words(n) for n in numbers]
    spaced = [re.sub("-|, | and ", " ", words).title() for words in texts]
    got = page_calls(NUMBERS, "meantBy", [*texts, *spaced, *JOINED, *NO_NUMBER])
    assert got == [*numbers, *numbers, *JOINED.values(), *none]
    got = page_calls(NUMBERS, "numberOf", [*texts, *JOINED, *NO_NUMBER])
    assert got == [*numbers, *[None] * len(JOINED), *none]


def test_page_and_python_take_the_same_texts():
    good = [*"1| 21 |999,999|0021|1,2|twenty| a b |1a|ä".split("|"), "x" * 200]
    bad = ["0", "1000000", "0,0", "9" * 30]
    wanted = [*map(words_of, good), *[None] * len(bad)]
    assert page_calls("translator/answers", "wordsOf", good + bad) == wanted
    for text in bad:
        with pytest.raises(ValueError, match="number from 1 to 999,999, or words, got"):
            words_of(text)
    for text in ["", " ", "-1", "+5", "1.5", "1 000", ",5", "eleventy"]:
        with pytest.raises(ValueError, match="or its English words as in"):
            module.shipped(text)


def test_page_and_python_answer_alike():
    words, packed = map(words_of, TEXTS), pack("number-translator")
    made = page_calls("translator/answers", "createAnswers", words, packed)
    answers = dict(zip(TEXTS, made, strict=True))
    for text, got in answers.items():
        want = by_the_book(text)
        for part in ("words", "by", "source", "target", "translation"):
            assert got[part] == want[part]
        weights = [torch.tensor(one["weights"]) for one in (got, want)]
        # thousandths, each rounded
        torch.testing.assert_close(*weights, rtol=0, atol=1)
        for mine, theirs in zip(got["chances"], want["chances"], strict=True):
            assert [token for token, _ in mine] == [token for token, _ in theirs]
            for (_, p), (_, q) in zip(mine, theirs, strict=True):
                assert abs(p - q) <= 1e-4
    target = answers["12"]["target"]
    assert [token for token in target if "0x" in token] == ["<0xC3>", "<0xB6>"]


def test_a_source_is_read_once_and_a_model_in_training_stays_as_it_was(monkeypatch):
    network, tokenizer = characters()
    calls, encode = [], EncoderDecoder.encode
    monkeypatch.setattr(
        EncoderDecoder, "encode", lambda *a: calls.append(a) or encode(*a)
    )
    network = deepcopy(network).train()
    one, other = (answer(network, tokenizer, "21", by="me") for _ in range(2))
    assert one == other
    assert len(one["target"]) > 1
    assert len(calls) == 2
    assert network.training
    assert {p.dtype for p in network.parameters()} == {torch.float32}


def test_for_21_the_lines_cross():
    figure = Translator()
    source, weights = figure.answer["source"], shown(figure).geometry["shares"]
    most = [source[max(range(4), key=row.__getitem__)] for row in weights]
    looked = dict(zip(figure.answer["target"], most, strict=True))
    assert [looked[token] for token in ("ein", "und", "zwan")] == ["one", "-", "wenty"]


ANSWER = Translator().answer
ONE_HEAD = ANSWER | {
    "weights": [[ANSWER["weights"][0][0]]],
    "chances": [best[:1] for best in ANSWER["chances"]],
}
"""The answer to 21 with one head and no second choice."""
BY_ALL = "(mean of 8 heads)"
READ = (
    "Step 5, the last, wrote “<end>”. “twenty-one” (4 tokens, all read at once) "
    "became “einundzwanzig”: {}. Step 1 attended most to token 4, “one” ({}), and "
    "wrote “ein”."
)
SAID = {
    READ.format("✓ as expected", "about 66%, mean of 8 heads"): {},
    READ.format("✓ as expected", "more than 99%, block 1, head 3"): {"head": [1, 3]},
    "Step 1 comes next, first: the decoder attends about 66% to “one” and about "
    f"28% to “-” {BY_ALL}. Its most probable token: “ein”, more than 99%.": {"step": 0},
    "Step 2 comes next, after “ein”: the decoder attends about 66% to “-” and about "
    f"20% to “t” {BY_ALL}. Its most probable token: “und”, more "
    "than 99%.": {"step": 1, "selected": [4]},
    "Step 2 wrote “und” (more than 99%; runner-up “hundert”, less than 1%), "
    f"attending about 66% to “-” and about 20% to “t” {BY_ALL}.": {"selected": [1]},
    "Step 1 wrote “ein” (more than 99%), attending about 47% to “one” and about 26% "
    "to “-” (mean of 1 head).": {"answer": ONE_HEAD, "selected": [0]},
    f"Step 3 wrote “zwan”, attending about 63% to “wenty”, token 2 of 4 {BY_ALL}.": {
        "selected": [2, 1]
    },
    f"Step 2 comes next, attending about 8% to “one”, token 4 of 4 {BY_ALL}.": {
        "step": 1,
        "selected": [1, 3],
    },
}


def test_the_sentence_in_full():
    must_say((Translator(**state), said) for said, state in SAID.items())
    ruleless = Translator("hello", ask=by_the_book)
    assert ": no rule here can check it. Step 1 attended most to " in said_of(ruleless)
    wordless = Translator("345", answer=by_the_book("zwölf"))
    assert said_of(wordless) == "The answer shown is for “zwölf”."


def test_table_and_lines_hold_the_stored_answer_which_the_copied_program_computes():
    made = [Translator("12")]  # whose answer has tokens that are bytes
    states = 3 * [(0, []), (1, [0, 0]), (3, [1, 3]), (MOST, []), (MOST, [0, 2])]
    for text, (step, head) in zip(TEXTS[::2], states, strict=False):
        made.append(Translator(text, ask=by_the_book, step=step, head=head))
    for figure, page in with_shown(made):
        chances, target = figure.answer["chances"], figure.answer["target"]
        heads, ran = double(figure.answer["weights"]), page.run()
        rows = len(ran["probabilities"])
        weights = heads[:, :, :rows].float() / 1000
        torch.testing.assert_close(weights, ran["cross"], rtol=0, atol=6e-4)
        best = torch.tensor([p for (_, p), *_ in chances[:rows]])
        computed = torch.stack(ran["probabilities"])
        torch.testing.assert_close(best, computed, rtol=0, atol=1e-4)
        chosen = heads[tuple(figure.head)] if figure.head else heads.mean(dim=(0, 1))
        shares = page.geometry["shares"]
        assert_near(double(shares), chosen[: min(figure.step + 1, len(target))] / 1000)
        assert [row[6:] for row in page.rows] == [
            [f"{share:.3f}" for share in row] for row in shares
        ]
        for r, (row, best) in enumerate(zip(page.rows, chances, strict=False)):
            assert row[0] == r + 1
            for said, (_, p) in zip(row[3:6:2], best[:2], strict=True):
                assert 0 < float(said) < 1
                assert abs(float(said) - p) <= 1e-4
            names = [target[r] if r < figure.step else "next"]
            names += [token for token, _ in best[:2]]
            if all(name.isascii() for name in names):
                spaced = [name.replace(" ", "␣") for name in names]
                assert [row[1], row[2], row[4]] == spaced
    page = shown(Translator())
    assert page.rows[0][:6] == [1, "ein", "ein", "0.9999", "drei", "0.0001"]
    mistakes = {
        'b"ein", ': 'b"eins", ',
        '"einundzwanzig"': '"zwanzig"',
        "mean(dim=(0, 1))": "sum(dim=(0, 1))",
        "best = torch.tensor([0.9999": "best = torch.tensor([0.9",
        '"twenty-one"': '"twenty-two"',
    }
    must_notice(page.pytorch, mistakes)


def test_another_models_program_says_what_it_cannot_check():
    network, tokenizer = characters()
    wrong = Translator.of(network, tokenizer, 21, by='a "\n1 / 0  # \u2028')
    assert "✗ wrong: expected “einundzwanzig”" in said_of(wrong)
    assert wrong.answer["translation"] != "einundzwanzig"
    made = [
        Translator(text, answer=by_the_book(text) | {"by": "my model"})
        for text in ("21", "hello")
    ]
    codes = [page.pytorch for page in shown_all([wrong, *made])]
    signs = [re.findall(r'assert number_words\(21, "de"\) (.)= "', x) for x in codes]
    assert signs == [["!"], ["="], []]
    for code in codes:
        (line,) = [line for line in code.splitlines() if line.startswith("# ")]
        assert line.startswith("# tokens and probabilities are not checked: ")
        assert line.endswith("is not here")
        exec(code, {})
    must_notice(codes[0], {' != "': ' == "'})
    must_notice(codes[0], {"shown = torch": "shown = 2 * torch"}, match="not close")


def test_another_model_answers_in_python_and_links_to_controls():
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21, by="my model", step=2)
    field, steps = ipywidgets.Text("21"), ipywidgets.IntSlider(2)
    ipywidgets.link((field, "value"), (figure, "text"))
    ipywidgets.link((steps, "value"), (figure, "step"))
    field.value = "7"
    assert figure.answer == answer(network, tokenizer, "7", by="my model")
    assert figure.answer["source"] == list("seven")
    steps.value = 0
    assert said_of(figure).startswith("Step 1 comes next, first:")
    with pytest.raises(ValueError, match=r"alphabet, got \['B'\]"):
        figure.update(step=5, text="B")
    assert (figure.text, figure.step) == ("7", 0)


SHOWN = "The answer shown is for “twenty-one” (21)."
REFUSED = {
    "": "The field is empty.",
    "hello": "“hello” cannot be read as an integer from 1 to 999,999.",
    "-4": "“-4” cannot be read as an integer from 1 to 999,999.",
    "1,000,000": "“1,000,000” is more than 999,999.",
    "one": "“one” has no answer yet.",
}


def test_what_has_no_answer_is_told_why():
    asked = [(text, ANSWER) for text in REFUSED]
    told = [[why, SHOWN] for why in REFUSED.values()]
    assert page_calls("translator/text", "waits", asked) == told


BAD_ANSWERS = (
    ({"source": []}, "length of answer.source must be .* 1 to 28, got 0"),
    ({"target": ["a"] * 29}, "length of answer.target must be .* 1 to 28, got 29"),
    ({"weights": [[[[1000]]]]}, r"answer.weights\[0\]\[0\] must be 5, got 1"),
    ({"by": None}, "answer.by must be valid Unicode text, got null"),
)
test_bad_states_say_why = refusals(
    Translator,
    ({"text": "x" * 201}, "length of text must be .* 0 to 200, got 201"),
    ({"text": "hello"}, "as in 'one hundred and twenty-one', got 'hello'; Transl"),
    ({"text": "a\ud800"}, "text must be valid Unicode text, got"),
    ({"text": "one " * 20}, "text must have 1 to 28 tokens, got 39; write fewer words"),
    ({"head": [1]}, "length of head must be 2, got 1"),
    *(({"answer": ANSWER | part}, words) for part, words in BAD_ANSWERS),
)


def test_hostile_words_stay_text_in_a_still_picture():
    figure = Translator("<b>&\"'</scri", ask=by_the_book)
    (still,) = with_stills([figure.html()])
    assert "<b>" not in still
    assert said_of(figure) in unescape(still)


def test_every_number_fits():
    encode = shipped("number-translator").tokenizer.encode
    longest = max(range(1, 1000), key=lambda n: len(encode(tasks.number_words(n))))
    assert len(encode(tasks.number_words(1001 * longest))) <= MOST


def field(page):
    return page.get_by_label("English number")


def type_text(page, text):
    field(page).fill(text)
    return page.said()


def warning(page):
    return page.locator(".warning")


def off(page):
    """The buttons that can do nothing now."""
    buttons = page.locator(".controls button")
    return buttons.evaluate_all(
        "all => all.filter(b => b.disabled).map(b => b.innerText)"
    )


def result(page):
    return page.locator(".result").evaluate(
        "(p) => [...p.childNodes].filter((n) => n.className !== 'later')"
        ".map((n) => n.textContent).join('')"
    )


def steps_by_plus_and_minus(page):
    """From the first step: it stops there."""
    page.grid().focus()
    for key, rows in [("+", 2), ("+", 3), ("-", 2), ("-", 1), ("-", 1)]:
        assert page.press(key).startswith(f"Step {rows} comes next, ")
        assert page.locator("[data-row][data-col='0']").count() == rows


def test_readers_numbers_are_translated_however_they_are_joined(visit, put):
    page = visit()
    page.open(put(Translator().html()), disk=True)
    page.open_more()
    runs(page.page)
    assert page.get_by_text("Stored result.").is_visible()
    for text in ("813,115", "twenty-two"):
        # each number starts with its first token: there is more to come
        assert type_text(page, text) == said_of(Translator(text, step=1))
        assert page.get_by_text("Computed in this page.").is_visible()
    assert len(page.link()) < 200
    assert result(page) == "twenty-two → zwei…"
    assert page.push("All") == said_of(Translator("twenty-two"))
    assert result(page) == "twenty-two → zweiundzwanzig ✓ as expected"
    for text in ("Twenty-One", " two hundred thousand and  three "):
        want = Translator(tasks.number_words(JOINED[text]), step=1)
        assert type_text(page, text) == said_of(want)
        assert warning(page).is_hidden()
        assert field(page).input_value() == text  # as one has typed it
        page.push("Back")
        assert field(page).input_value() == want.text
        page.push("Reset")


def test_what_is_no_number_is_said_and_the_picture_stays(visit, put):
    page = visit(**PHONE)
    patch = json.dumps({"text": "hello"})
    page.follow(f"{page.server}/{put(Translator().html())}#translator-1={patch}")
    runs(page.page)
    assert page.said() == SHOWN
    assert field(page).input_value() == "hello"
    drawn = page.locator(".picture svg").first.inner_html()
    for text in ("hello", "", "1,000,000"):
        assert type_text(page, text) == SHOWN
        assert warning(page).inner_text() == REFUSED[text]
        assert result(page) == "twenty-one → einundzwanzig"
        assert page.locator(".picture svg").first.inner_html() == drawn
        assert field(page).input_value() == text
        assert page.locator(".error").is_hidden()
    assert page.wide() <= 320
    assert type_text(page, "345") == said_of(Translator("345", step=1))
    page.push("Reset")
    type_text(page, "0")
    assert page.push("Start over") == said_of(Translator(step=0))
    assert field(page).input_value() == "21"
    assert result(page) == "twenty-one → …"
    type_text(page, "zero")
    page.push("Reset")
    assert field(page).input_value() == "21"
    assert warning(page).is_hidden()
    assert result(page) == "twenty-one → einundzwanzig ✓ as expected"


def test_the_lesson_look_then_write(live):
    page = live(Translator())
    assert "Type another number" in page.locator(".steps").inner_text()
    foot = page.locator(".foot")
    panel = page.locator(".panel", has_text="Next token")
    assert off(page) == ["All"]
    assert "probabilities at step 5" in panel.inner_text()
    assert "<end>" in panel.inner_text()
    lines = page.locator("path.link")
    widths = [float(line.get_attribute("stroke-width")) for line in lines.all()]
    rows = shown(Translator()).geometry["shares"]
    shares = [x for row in rows for x in row if x >= 0.04]
    assert widths == pytest.approx([12 * x for x in shares], abs=0.051)
    assert page.locator("path.link.at").count() == 0
    page.locator("[data-row='1']").hover()
    assert page.said().startswith("Step 2 wrote “und”")
    assert "probabilities at step 2" in panel.inner_text()
    assert page.locator("path.link.at").count() == sum(x >= 0.04 for x in rows[1])
    assert page.push("Start over") == said_of(Translator(step=0))
    top = foot.bounding_box()["y"]
    assert off(page) == ["Back"]
    for r, text in enumerate(["ein", "einund", "einundzwan", "einundzwanzig"]):
        assert page.locator("[data-row]").count() == r + 1
        assert f"probabilities at step {r + 1}" in panel.inner_text()
        assert page.push("Step").startswith(f"Step {r + 2} comes next, after “")
        assert result(page) == f"twenty-one → {text}…"
        assert off(page) == []
        assert foot.bounding_box()["y"] == top
    assert page.push("Step") == said_of(Translator())
    assert off(page) == ["All"]
    assert page.button("Step").count() == 0  # the same button starts over
    assert result(page) == "twenty-one → einundzwanzig ✓ as expected"
    assert page.push("Back").startswith("Step 5 comes next, after “zig”")
    assert page.push("All") == said_of(Translator())
    assert foot.bounding_box()["y"] == top
    page.push("Start over")
    steps_by_plus_and_minus(page)


def test_the_grid_holds_pairs_chooses_heads_and_says_when_it_is_too_wide(live):
    page = live(Translator(view="grid", step=0), width=360, height=684)
    steps_by_plus_and_minus(page)
    note = page.locator(".title small").first
    assert "more →" not in note.inner_text()
    page.push("All")
    page.get_by_role("combobox", name="Heads").select_option("block 1, head 2")
    page.grid().focus()
    state = {"view": "grid", "head": [1, 2], "selected": [2, 1]}
    said = page.press("Home", "ArrowDown", "ArrowDown", "ArrowRight", "Enter")
    assert said == said_of(Translator(**state))
    assert page.locator(".locked").count() == 1
    page.get_by_role("radio", name="lines").check()
    held = ".locked [data-row='2'], .locked[data-row='2']"
    assert page.locator(held).count() == 1
    page.get_by_role("radio", name="grid").check()
    type_text(page, "999999")
    expect(note).to_contain_text("more →")


LIVE = """async ([state, answer]) => {
  MODEL
  const sent = [];
  model.send = (message) => sent.push(message);
  (await TransformerFigures.load("translator")).default.render({ model, el });
  model.set("text", "7");
  const said = () => new Promise((done) => requestAnimationFrame(() =>
    done(el.firstChild.shadowRoot.querySelector(".say").textContent)));
  const first = await said();
  model.set("answer", answer);
  return [first, await said(), sent];
}""".replace("MODEL", MODEL)


def test_another_models_answers_are_shown_and_waited_for(live):
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21, by="my model")
    page = live(figure)
    assert page.said() == said_of(figure)
    assert page.get_by_text("Computed in Python (my model).").is_visible()
    assert type_text(page, "345") == said_of(Translator("345", step=1))
    assert page.get_by_text("Computed in this page.").is_visible()
    state = figure.state()
    figure.text = "7"
    first, second, sent = page.evaluate(LIVE, [state, figure.answer])
    assert first == SHOWN
    assert second == said_of(figure)
    assert sent == []  # nobody needs the book's model here
