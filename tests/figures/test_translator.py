"""Translator: right words, PyTorch's answers, and the lesson that the lines cross."""

import json
import random
import re
from functools import cache
from pathlib import Path

import ipywidgets
import pytest
import torch
from figure_examples import HOSTILE
from figure_page import READY, placeholder, run_node, said_of, shown, shown_all
from inference_jobs import shipped
from models import model, tiny
from test_figures_python import Tags

from tools.stills import with_stills
from transformer_book import pretrained, tasks
from transformer_book.figures.translator import figure as module
from transformer_book.figures.translator.answers import (
    LONGEST,
    MOST,
    answer,
    number_of,
    words_of,
)
from transformer_book.figures.translator.figure import Translator
from transformer_book.figures.weights import pack
from transformer_book.pretrained import evaluation
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import record_attention

HERE = Path(__file__).parent
PHONE = {"viewport": {"width": 320, "height": 700}}
BORDERS = [
    k * 10**power + n for power in range(6) for k in range(1, 11) for n in (-1, 0, 1)
]
ODD = [
    "",
    "and",
    "hundred",
    "twenty one",
    "twenty-One",
    "one thousand thousand",
    "one thousand and one thousand",
    "one hundred thousand and one hundred",
    "one million",
    "thousand",
    "eleventy",
    "one hundred and one and one",
]


def by_the_book(text: str) -> dict:
    """What the book's model makes of any words: it has learned those of numbers."""
    found = shipped("number-translator")
    return answer(found.model, found.tokenizer, text, by="number-translator")


def ask_node(task, **job):
    return json.loads(run_node(HERE / "translator.mjs", task, stdin=json.dumps(job)))


def sample() -> list[int]:
    rng = random.Random(0)
    numbers = {*range(1, 1300), *BORDERS, *(rng.randrange(1, 10**6) for _ in "x" * 900)}
    return sorted(n for n in numbers if 1 <= n <= 999_999)


@cache
def asked() -> list[str]:
    """200 numbers, long and short, and words that are no number."""
    rng = random.Random(1)
    drawn = [rng.randrange(1, 10 ** rng.randint(1, 6)) for _ in range(194)]
    numbers = [21, 12, 345, 706_012, 813_115, 999_999, *map(int, drawn)]
    return [str(n) for n in numbers] + [
        "hello",
        "zwölf",
        "one one one",
        "Ω €",
        "\u202ea",
    ]


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    file = tmp_path_factory.mktemp("translator") / "packed"
    file.write_bytes(pack("number-translator"))
    return str(file)


@pytest.fixture(scope="module")
def answers(packed):
    words = [words_of(text) for text in asked()]
    return list(
        zip(asked(), ask_node("answers", packed=packed, texts=words), strict=True)
    )


def characters():
    """A small model that knows nothing, and its tokenizer of letters."""
    tokenizer = tasks.Characters("abcdefghijklmnopqrstuvwxyz -,")
    config = tiny(vocab_size=tokenizer.vocab_size)
    return model(EncoderDecoder, config, torch.float32), tokenizer


def test_page_writes_numbers_as_the_tasks_do():
    numbers = sample()
    expected = [[tasks.number_words(n), tasks.number_words(n, "de")] for n in numbers]
    assert ask_node("words", numbers=numbers) == expected


def test_words_are_read_back_by_page_and_python():
    numbers = sample()[::7]
    texts = [tasks.number_words(n) for n in numbers]
    assert [number_of(words) for words in texts] == numbers
    assert ask_node("back", texts=texts) == numbers
    assert [number_of(words) for words in ODD] == [None] * len(ODD)
    assert ask_node("back", texts=ODD) == [None] * len(ODD)


JOINED = {
    "twenty one": 21,
    "twenty-one": 21,
    "Twenty-One": 21,
    "one hundred one": 101,
    "one hundred and twenty one": 121,
    "nine thousand nine": 9009,
    "one hundred thousand and one hundred": 100_100,
    " two hundred thousand and  three ": 200_003,
}


def test_words_that_are_joined_in_another_way_are_understood():
    numbers = sample()[::7]
    texts = [tasks.number_words(n) for n in numbers]
    spaced = [re.sub("-|, | and ", " ", words).title() for words in texts]
    none = [words for words in ODD if words.lower() not in JOINED]
    none += ["zwölf", "twentyone", "twenty_one", "a hundred", "21 one", "one!"]
    got = ask_node("meant", texts=[*texts, *spaced, *JOINED, *none])
    assert got == [*numbers, *numbers, *JOINED.values(), *[None] * len(none)]


def test_page_and_python_take_the_same_texts():
    good = [
        "1",
        " 21 ",
        "999,999",
        "0021",
        "1,2",
        "twenty",
        " a b ",
        "1a",
        "ä",
        "x" * LONGEST,
    ]
    bad = ["", " ", "0", "-1", "+5", "1.5", "1000000", "1 000", ",5", "9" * 30]
    assert ask_node("texts", texts=good + bad) == [
        *map(words_of, good),
        *[None] * len(bad),
    ]
    for text in bad:
        with pytest.raises(ValueError, match="number from 1 to 999,999, or words, got"):
            words_of(text)


def test_page_translates_as_pytorch_does(answers):
    found = shipped("number-translator")
    words = [words_of(text) for text, _ in answers]
    numbers = [text for text, _ in answers if text.isdigit()]
    said = evaluation.translated(words[: len(numbers)], found.model, found.tokenizer)
    assert [got["translation"] for _, got in answers[: len(numbers)]] == said
    right = [tasks.number_words(int(n), "de") for n in numbers]
    assert [got["expected"] for _, got in answers[: len(numbers)]] == right
    assert len(numbers) == 200
    assert [got["expected"] for _, got in answers[200:]] == [""] * 5


def test_page_and_python_answer_alike(answers):
    plain = "words expected by source target translation".split()
    for text, got in answers:
        want = by_the_book(text)
        assert [got[part] for part in plain] == [want[part] for part in plain]
        assert torch.tensor(got["weights"]).shape == torch.tensor(want["weights"]).shape
        gap = torch.tensor(got["weights"]) - torch.tensor(want["weights"])
        assert int(gap.abs().max()) <= 1  # thousandths, each rounded
        for mine, theirs in zip(got["chances"], want["chances"], strict=True):
            assert [token for token, _ in mine] == [token for token, _ in theirs]
            for (_, p), (_, q) in zip(mine, theirs, strict=True):
                assert abs(p - q) <= 1.01e-4  # each rounded down to four digits


@torch.no_grad()
def test_weights_and_chances_are_those_of_one_forward_pass():
    found = shipped("number-translator")
    for text in ("21", "813115", "one one one"):
        got = by_the_book(text)
        source = torch.tensor([found.tokenizer.encode(words_of(text))])
        said = found.tokenizer.encode(got["translation"])
        target = torch.tensor([[found.tokenizer.special("<start>"), *said]])
        with record_attention(found.model) as record:
            logits = found.model(source, target)[0]
        for layer, heads in enumerate(got["weights"]):
            weights = record[f"decoder.blocks.{layer}.cross.layer"][0]
            assert float((torch.tensor(heads) / 1000 - weights).abs().max()) <= 6e-4
        best = logits.softmax(dim=-1).max(dim=-1)
        chances = torch.tensor([choices[0][1] for choices in got["chances"]])
        assert float((best.values - chances).abs().max()) <= 1.1e-4
        assert best.indices.tolist()[:-1] == said
        assert "".join(got["target"][:-1]) == got["translation"]


def test_the_source_is_read_once(monkeypatch):
    network, tokenizer = characters()
    calls = []
    encode = EncoderDecoder.encode
    monkeypatch.setattr(
        EncoderDecoder, "encode", lambda *a: calls.append(a) or encode(*a)
    )
    assert len(answer(network, tokenizer, "21", by="me")["target"]) > 1
    assert len(calls) == 1


def test_answering_leaves_a_model_in_training_as_it_was():
    _, tokenizer = characters()
    config = tiny(vocab_size=tokenizer.vocab_size, dropout=0.5)
    network = model(EncoderDecoder, config, torch.float32).train()
    one, other = (answer(network, tokenizer, "21", by="me") for _ in range(2))
    assert one == other
    assert network.training
    assert {p.dtype for p in network.parameters()} == {torch.float32}


def test_for_21_the_lines_cross():
    figure = Translator()
    source, weights = figure.answer["source"], shown(figure).geometry["shares"]
    most = [max(range(4), key=row.__getitem__) for row in weights]
    place = dict(zip(figure.answer["target"], most, strict=True))
    assert source[place["ein"]] == "one"
    assert source[place["und"]] == "-"
    assert source[place["zwan"]] == "wenty"
    assert said_of(figure) == (
        "Step 5, the last, wrote “<end>”. “twenty-one”, 4 tokens, was read at once and "
        "became “einundzwanzig”: ✓ right. Step 1 had looked most at token 4, “one” "
        f"({round(100 * weights[0][3])} %, mean of 8 heads), and wrote “ein”."
    )


def test_bytes_that_are_no_text_are_named_as_bytes(answers):
    target = dict(answers)["12"]["target"]
    assert target == module.shipped("12")["target"]
    assert [token for token in target if "0x" in token] == ["<0xC3>", "<0xB6>"]


def figures() -> list[Translator]:
    rng = random.Random(2)
    made = []
    for text in asked()[::4]:
        view = rng.choice(["lines", "grid"])
        figure = Translator(text, ask=by_the_book, view=view)
        figure.step = rng.choice([0, 1, 3, MOST])
        figure.head = rng.choice([[], [0, 0], [1, 3], [0, 2]])
        figure.selected = rng.choice([[], [0], [2], [1, 0], [3, 2], [0, 27], [27, 1]])
        made.append(figure)
    return [
        *made,
        Translator(),
        Translator("hello", ask=by_the_book),
        Translator(step=0),
        Translator(step=1, selected=[4]),
    ]


@pytest.fixture(scope="module")
def pairs():
    made = figures()
    return list(zip(made, shown_all(made), strict=True))


def test_every_kind_of_sentence_is_met(pairs):
    said = " ".join(page.sentence for _, page in pairs)
    for words in (
        "comes next, first",
        "comes next, after",
        "was read at once",
        "wrote “",
    ):
        assert words in said
    for words in ("✓ right", "no rule here knows", "layer 1, head 3", "mean of 8"):
        assert words in said


def test_the_shares_are_the_means_of_the_stored_weights(pairs):
    for figure, page in pairs:
        heads = torch.tensor(figure.answer["weights"], dtype=torch.float64)
        chosen = heads[tuple(figure.head)] if figure.head else heads.mean(dim=(0, 1))
        rows = min(figure.step + 1, len(figure.answer["target"]))
        shares = torch.tensor(page.geometry["shares"], dtype=torch.float64)
        torch.testing.assert_close(shares, chosen[:rows] / 1000)


def test_copied_pytorch_runs(pairs):
    for _, page in pairs[::3]:
        exec(page.pytorch, {})


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('b"ein", ', 'b"eins", '),
        ('"einundzwanzig"', '"zwanzig"'),
        ("mean(dim=(0, 1))", "sum(dim=(0, 1))"),
        ("best = torch.tensor([0.9999", "best = torch.tensor([0.9"),
        ('"twenty-one"', '"twenty-two"'),
    ],
)
def test_each_assertion_of_the_copied_program_can_fail(pairs, right, wrong):
    code = next(
        page.pytorch
        for figure, page in pairs
        if figure.text == "21" and figure.step == MOST and not figure.head
    )
    assert right in code
    with pytest.raises(AssertionError):
        exec(code.replace(right, wrong), {})


def test_wrong_translations_are_said_to_be_wrong():
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21)
    assert "✗ wrong, as it should be “einundzwanzig”" in said_of(figure)
    assert Translator.of(network, tokenizer, 21, language="fr").answer["expected"] == (
        "vingt et un"
    )
    ((_, said),) = ask_node("said", states=[figure.state()])
    assert said == said_of(figure)


def test_another_model_answers_in_python_and_links_to_controls():
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21, by="my model", step=2)
    field = ipywidgets.Text("21")
    ipywidgets.link((field, "value"), (figure, "text"))
    field.value = "7"
    assert figure.answer["words"] == "seven"
    assert figure.answer["by"] == "my model"
    assert figure.answer["source"] == list("seven")
    assert figure.answer == answer(network, tokenizer, "7", by="my model")
    steps = ipywidgets.IntSlider(2)
    ipywidgets.link((steps, "value"), (figure, "step"))
    steps.value = 0
    assert said_of(figure).startswith("Step 1 comes next, first:")
    with pytest.raises(ValueError, match=r"alphabet, got \['B'\]"):
        figure.update(step=5, text="B")
    assert (figure.text, figure.step) == ("7", 0)


def test_another_models_program_runs_without_it():
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21)
    code = shown(figure).pytorch
    exec(code, {})
    assert figure.answer["translation"] != "einundzwanzig"
    with pytest.raises(AssertionError):
        exec(code.replace(' != "', ' == "'), {})
    with pytest.raises(AssertionError, match="not close"):
        exec(code.replace("shown = torch", "shown = 2 * torch"), {})


@pytest.mark.parametrize("by", ["my model", 'a "\n1 / 0  # \u2028'])
def test_another_models_program_says_what_it_cannot_check(by):
    answered = by_the_book("21") | {"by": by}
    made = [
        Translator(answer=answered),
        Translator("hello", answer=by_the_book("hello") | {"by": by}),
        Translator(answer=answered | {"expected": "vingt et un"}),
    ]
    codes = [page.pytorch for page in shown_all(made)]
    for code in codes:
        (line,) = [line for line in code.splitlines() if line.startswith("# ")]
        assert line.startswith("# tokens and chances are not checked: ")
        assert line.endswith("is not here")
        exec(code, {})
    right = 'assert number_words(21, "de") == "einundzwanzig"'
    assert [right in code for code in codes] == [True, False, False]


NO_NUMBER = "“hello” is no whole number from 1 to 999,999."
SHOWN = "Shown is the answer for “twenty-one” (21)."


def test_what_the_page_does_not_know_yet_it_says(packed):
    state = Translator().state() | {"text": "345"}
    (pending,) = ask_node("said", states=[state])
    assert pending == [False, SHOWN]
    other = state | {"text": "hello"}
    assert ask_node("said", states=[other]) == [[False, SHOWN]]
    known, refused = ask_node("said", states=[state, other], packed=packed)
    assert known == [True, said_of(Translator("345"))]
    assert refused == [False, SHOWN]
    own = by_the_book("zwölf")  # of words that are no number there are no digits
    assert ask_node("said", states=[state | {"answer": own}]) == [
        [False, "Shown is the answer for “zwölf”."]
    ]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"text": "0"}, "number from 1 to 999,999, or words, got '0'"),
        ({"text": "x" * 201}, "text must have at most 200 signs, got 201"),
        (
            {"text": "hello"},
            "its English words as in 'one hundred and twenty-one', got 'hello'; Tran",
        ),
        ({"text": "a\ud800"}, "tokens must be valid Unicode, got"),
        ({"step": 29}, "step must be from 0 to 28, got 29"),
        ({"view": "map"}, 'view must be "lines" or "grid", got \'map\''),
        (
            {"head": [2, 0]},
            r"head must be \[layer, head\] below \[2, 4\], .* got \[2, 0\]",
        ),
        ({"head": [1]}, r"head must be .* got \[1\]"),
        ({"selected": [1, 2, 3]}, r"selected must be .* got \[1, 2, 3\]"),
        ({"selected": [28]}, r"selected must be .* below 28, or \[\], got \[28\]"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        Translator(**state)
    figure = Translator()
    before = figure.state()
    with pytest.raises(ValueError, match=message):
        figure.update(**state)
    assert figure.state() == before


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("source", [], "tokens must be 1 to 28, got 0"),
        ("target", ["a"] * 29, "tokens must be 1 to 28, got 29"),
        ("chances", [], "chances must be 5, got 0"),
        (
            "weights",
            [[[[1000]]]],
            r"weights must be 5 x 4 in each head, got \[\(1, 1\)\]",
        ),
        (
            "weights",
            [[[[250] * 3 + [240]] * 5]],
            "weights must sum to 1000 .*, got .990",
        ),
        ("extra", 1, "answer must hold .* got .*'extra'"),
    ],
)
def test_bad_answers_say_why(part, value, message):
    with pytest.raises(ValueError, match=message):
        Translator(answer=Translator().answer | {part: value})


def test_a_text_of_too_many_tokens_says_so():
    message = "text must have 1 to 28 tokens, got 40; write fewer words"
    with pytest.raises(ValueError, match=message):
        Translator("Ω" * 20, ask=by_the_book)


def test_every_number_fits():
    tokenizer = pretrained.load("number-translator").tokenizer

    def length(number):
        return len(tokenizer.encode(tasks.number_words(number)))

    longest = max(range(1, 1000), key=length)
    assert length(longest) < length(1001 * longest) <= MOST


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_translated_and_stays_text(kind):
    text = f"a{HOSTILE[kind]}"[:12]
    figure = Translator(text, ask=by_the_book)
    (still,) = with_stills([figure.html()])
    allowed = "div p svg g rect path text table caption thead tbody tr th td"
    assert set(Tags(still).tags) <= set(allowed.split())
    assert said_of(figure) in Tags(still).text


# ---- in the page ----


def field(page):
    return page.page.get_by_label("English number (1 to 999,999 or words)")


def press(page, name):
    page.page.get_by_role("button", name=name, exact=True).click()
    return page.said()


def computes(page):
    page.page.get_by_text("number-translator runs in this page").wait_for()


def off(page):
    """The buttons that can do nothing now."""
    buttons = page.page.locator(".walk button")
    return buttons.evaluate_all(
        "all => all.filter(b => b.disabled).map(b => b.innerText)"
    )


def result(page):
    return page.page.locator(".result").evaluate(
        "(p) => [...p.childNodes].filter((n) => n.className !== 'later')"
        ".map((n) => n.textContent).join('')"
    )


@pytest.mark.parametrize("disk", [False, True], ids=["http", "file"])
def test_readers_numbers_are_translated_in_the_page(visit, put, disk):
    page = visit()
    page.open(put(Translator().html()), disk=disk)
    computes(page)
    assert page.page.get_by_text("Shown: as stored.").is_visible()
    for text in ("345", "813,115", "twenty-two"):
        field(page).fill(text)
        assert page.said() == said_of(Translator(text))
        assert page.page.get_by_text("Shown: computed here.").is_visible()
    assert result(page) == "twenty-two → zweiundzwanzig ✓ right"


def test_the_lesson_look_then_write(visit, put):
    page = visit()
    page.open(put(Translator().html()))
    foot = page.page.locator(".foot")
    assert off(page) == ["Step", "All"]
    assert press(page, "Start over").startswith("Step 1 comes next, first: the decoder")
    tops = {foot.bounding_box()["y"]}
    assert off(page) == ["Start over", "Back"]
    written = ["ein", "einund", "einundzwan", "einundzwanzig"]
    for r, text in enumerate(written):
        assert page.page.locator("[data-row]").count() == r + 1
        assert press(page, "Step").startswith(f"Step {r + 2} comes next, after “")
        assert result(page) == f"twenty-one → {text}…"
        assert off(page) == []
        tops.add(foot.bounding_box()["y"])
    assert press(page, "Step") == said_of(Translator())
    assert off(page) == ["Step", "All"]
    assert result(page) == "twenty-one → einundzwanzig ✓ right"
    assert press(page, "Back").startswith("Step 5 comes next, after “zig”")
    press(page, "Start over")
    assert press(page, "All") == said_of(Translator())
    tops.add(foot.bounding_box()["y"])
    assert len(tops) == 1


def test_sentence_and_panel_speak_of_the_same_step(visit, put):
    page = visit()
    page.open(put(Translator().html()))
    panel = page.page.locator(".panel", has_text="Next token")

    def same(step):
        assert page.said().startswith(f"Step {step}")
        assert f"chances at step {step}" in panel.inner_text()

    same(5)
    assert "<end>" in panel.inner_text()
    press(page, "Start over")
    same(1)
    press(page, "Step")
    same(2)
    press(page, "All")
    same(5)
    page.page.locator("[data-row='1']").hover()
    same(2)


def test_the_figure_says_that_it_goes_into_german(visit, put):
    page = visit()
    page.open(put(Translator().html()))
    assert "each German piece" in page.page.locator(".try").first.inner_text()


def test_a_button_at_its_end_keeps_the_keyboards_focus(visit, put):
    page = visit()
    page.open(put(Translator(step=4).html()))
    step = page.page.get_by_role("button", name="Step", exact=True)
    page.page.get_by_role("button", name="Back").focus()
    page.page.keyboard.press("Tab")
    for _ in range(2):
        page.page.keyboard.press("Enter")
        assert page.said() == said_of(Translator())
        assert step.evaluate("node => node.matches(':focus-visible')")


def test_the_lines_of_a_step_say_where_it_looks(visit, put):
    page = visit()
    page.open(put(Translator().html()))
    lines = page.page.locator("path.look")
    widths = [
        float(w)
        for w in lines.evaluate_all(
            "all => all.map(l => l.getAttribute('stroke-width'))"
        )
    ]
    rows = shown(Translator()).geometry["shares"]
    shares = [x for row in rows for x in row if x >= 0.04]
    assert widths == pytest.approx([12 * x for x in shares], abs=0.051)
    assert page.page.locator("path.look.at").count() == 0
    page.page.locator("[data-row='0']").hover()
    assert "wrote “ein”" in page.said()
    assert page.page.locator("path.look.at").count() == sum(x >= 0.04 for x in rows[0])


def test_plus_and_minus_step_in_both_pictures(visit, put):
    for view in ("lines", "grid"):
        page = visit()
        page.open(put(Translator(step=0, view=view).html()))
        page.grid().focus()
        for key, rows in [("+", 2), ("+", 3), ("-", 2), ("-", 1), ("-", 1)]:
            page.page.keyboard.press(key)
            assert page.said().startswith(f"Step {rows} comes next, ")
            header = page.page.locator("[data-row][data-col='0']")
            assert header.count() == rows


def test_the_grid_holds_pairs_and_chooses_heads(visit, put):
    page = visit()
    page.open(put(Translator(view="grid").html()))
    page.page.get_by_role("combobox", name="Heads").select_option("layer 1, head 2")
    page.grid().focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.page.keyboard.press(key)
    state = {"view": "grid", "head": [1, 2], "selected": [2, 1]}
    assert page.said() == said_of(Translator(**state))
    assert page.page.locator(".locked").count() == 1
    page.page.get_by_role("radio", name="lines").check()
    assert (
        page.page.locator(".locked [data-row='2'], .locked[data-row='2']").count() == 1
    )


def test_what_is_no_number_is_said_and_the_picture_stays(visit, put):
    page = visit(**PHONE)
    page.open(put(Translator().html()))
    before = page.said()
    picture = page.page.locator(".picture svg").first.inner_html()
    for text in ("0", "-4", "1.5", "", "  ", "hello", "twentyone", "zwölf"):
        field(page).fill(text)
        assert page.said() == SHOWN
        why = (
            NO_NUMBER.replace("hello", text) if text.strip() else "The field is empty."
        )
        assert page.page.locator(".warning").inner_text() == why
        assert result(page) == "twenty-one → einundzwanzig"
        assert page.page.locator(".picture svg").first.inner_html() == picture
        assert field(page).input_value() == text
        assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320
    page.page.get_by_role("button", name="Start over").click()
    assert page.said() == said_of(Translator(step=0))
    assert field(page).input_value() == "21"
    assert result(page) == "twenty-one → …"
    press(page, "All")
    assert page.said() == before
    field(page).fill("zero")
    page.page.get_by_role("button", name="Reset").click()
    assert field(page).input_value() == "21"
    assert page.page.locator(".warning").is_hidden()
    assert result(page) == "twenty-one → einundzwanzig ✓ right"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("1000000", "“1000000” is more than 999,999."),
        ("1,000,000", "“1,000,000” is more than 999,999."),
        ("none", "“none” is no whole number from 1 to 999,999."),
    ],
)
def test_what_is_refused_leaves_the_last_good_answer_and_says_why(
    visit, put, text, why
):
    page = visit()
    page.open(put(Translator().html()))
    computes(page)
    field(page).fill("345")
    picture = page.page.locator(".picture").inner_html()
    field(page).fill(text)
    warning = page.page.locator(".warning")
    assert warning.inner_text() == why
    assert warning.get_attribute("role") == "status"
    assert page.said() == (
        "Shown is the answer for “three hundred and forty-five” (345)."
    )
    assert page.page.locator(".picture").inner_html() == picture
    assert result(page).startswith("three hundred and forty-five → dreihundert")
    press(page, "Back")
    assert warning.is_hidden()
    assert field(page).input_value() == "345"


@pytest.mark.parametrize("text", JOINED)
def test_words_may_be_joined_in_another_way(visit, put, text):
    page = visit()
    page.open(put(Translator().html()))
    computes(page)
    field(page).fill(text)
    want = Translator(tasks.number_words(JOINED[text]))
    assert page.said() == said_of(want)
    assert page.page.locator(".warning").is_hidden()
    assert field(page).input_value() == text  # as one has typed it
    press(page, "Back")
    assert field(page).input_value() == want.text


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_inert_in_the_page(visit, put, kind):
    page = visit(**PHONE)
    page.open(put(Translator().html()))
    computes(page)
    field(page).fill(f"a{HOSTILE[kind]}")
    assert page.said() == SHOWN
    assert page.page.locator(".warning").inner_text().startswith("“")
    assert page.page.locator(".error").is_hidden()
    assert page.page.locator("img").count() == 0
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_model_that_does_not_come_leaves_the_stored_answer(visit, put):
    page = visit()
    page.page.route("**/weights/*", lambda route: route.abort())
    page.open(put(Translator().html()))
    page.page.get_by_text('model "number-translator" did not come').wait_for()
    assert page.said() == said_of(Translator())
    field(page).fill("345")
    assert page.said() == SHOWN
    assert page.page.locator(".warning").inner_text() == (
        "“three hundred and forty-five” has no answer yet."
    )
    press(page, "Reset")
    assert page.said() == said_of(Translator())
    assert all("ERR_FAILED" in error for error in page.errors)  # the browser's words
    page.errors.clear()


def test_another_models_answer_is_shown_until_the_page_is_asked(visit, put):
    figure = Translator.of(*characters(), 21, by="my model")
    page = visit()
    page.open(put(figure.html()))
    assert page.said() == said_of(figure)
    computes(page)
    assert page.page.get_by_text("Shown: from Python (my model).").is_visible()
    field(page).fill("345")
    assert page.said() == said_of(Translator("345"))
    assert page.page.get_by_text("Shown: computed here.").is_visible()


LIVE = """async ([state, answer]) => {
  const heard = {};
  const sent = [];
  const model = {
    get: (key) => state[key],
    set(key, value) { state[key] = value; for (const f of heard[key] ?? []) f(); },
    on(event, f) { (heard[event.slice(7)] ??= new Set()).add(f); },
    off(event, f) { heard[event.slice(7)]?.delete(f); },
    save_changes() {}, send: (message) => sent.push(message),
  };
  const el = document.querySelector("main").appendChild(document.createElement("div"));
  (await TransformerFigures.load("translator")).default.render({ model, el });
  model.set("text", "7");
  const said = () => new Promise((done) => requestAnimationFrame(() =>
    done(el.firstChild.shadowRoot.querySelector(".say").textContent)));
  return said().then((first) => {
    model.set("answer", answer);
    return said().then((second) => [first, second, sent]);
  });
}"""


def test_a_living_python_is_waited_for(visit, put):
    network, tokenizer = characters()
    figure = Translator.of(network, tokenizer, 21)
    page = visit()
    page.open(put(Translator().html()))
    first, second, sent = page.page.evaluate(
        LIVE, [figure.state(), answer(network, tokenizer, "7", by="your model")]
    )
    assert first == SHOWN
    figure.text = "7"
    assert second == said_of(figure)
    assert sent == []  # nobody needs the book's model here


def test_link_brings_a_number_back(visit, put):
    page = visit()
    page.open(put(Translator().html()))
    computes(page)
    field(page).fill("345")
    said = page.said()
    page.page.locator("summary", has_text="Export").click()
    page.page.get_by_role("button", name="Copy link").click()
    link = page.page.locator("textarea").input_value()
    assert len(link) < 200
    again = visit()
    again.page.goto(link)
    again.page.wait_for_selector(READY)
    computes(again)
    assert again.said() == said == said_of(Translator("345"))


@pytest.mark.parametrize(
    "patch", [{"text": "0"}, {"step": 40}, {"view": "x"}, {"selected": [1, 2, 3]}]
)
def test_states_that_python_refuses_are_said_in_the_page(visit, put, patch):
    page = visit()
    page.open(put(placeholder("translator", Translator().state() | patch)))
    (name,) = patch
    assert re.search(
        f"{name} must be .*, got", page.page.locator(".error").inner_text()
    )


def test_a_link_to_what_is_no_number_is_said_and_the_picture_stays(visit, put):
    page = visit(**PHONE)
    patch = json.dumps({"text": "hello"})
    page.page.goto(f"{page.server}/{put(Translator().html())}#translator-1={patch}")
    page.page.wait_for_selector(READY)
    computes(page)
    assert page.said() == SHOWN
    assert page.page.locator(".warning").inner_text() == NO_NUMBER
    assert result(page) == "twenty-one → einundzwanzig"
    field(page).fill("345")
    assert page.said() == said_of(Translator("345"))


def test_a_grid_wider_than_the_page_says_so(visit, put):
    page = visit(viewport={"width": 360, "height": 684})
    page.open(put(Translator(view="grid").html()))
    note = page.page.locator(".title small").first
    assert "more →" not in note.inner_text()
    field(page).fill("999999")
    page.page.wait_for_function(
        """() => document.querySelector(".tl-live").shadowRoot
            .querySelector(".title small").textContent.includes("more →")"""
    )
