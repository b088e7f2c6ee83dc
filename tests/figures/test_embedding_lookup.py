"""EmbeddingLookup: its numbers are PyTorch's, the training, and what it says."""

import itertools

import numpy as np
import pytest
import torch
from figure_page import (
    assert_fits,
    at_widths,
    edges,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from torch import nn
from torch.nn import functional as F
from touch import FINGER, PHONE

from transformer_book.figures.embedding_lookup.figure import EmbeddingLookup
from transformer_book.figures.embedding_lookup.training import (
    D_MODEL,
    STEPS,
    groups,
    shipped,
    train,
    vocabulary,
)
from transformer_lib.embeddings import Embedding

ROWS = [[1.0, 2.0], [3.0, 4.0]]


def random_figure(rng):
    """A state anywhere in the ranges; some rows are equal, some all zeros."""
    count, width, many = (
        int(rng.integers(*ends)) for ends in ((2, 15), (2, 17), (1, 4))
    )
    tables = rng.normal(size=(many, count, width)) * rng.choice([0.01, 1, 100])
    if rng.random() < 0.3:
        tables[:, 0] = tables[:, -1]
    if rng.random() < 0.3:
        tables[-1, 0] = 0
    steps = sorted(rng.choice(1000, many, replace=False).tolist())
    return EmbeddingLookup(
        [f"w{i}" for i in range(count)],
        tables,
        steps=steps,
        step=int(rng.choice(steps)),
        groups=rng.choice(["", "x", "y"], count) if rng.random() < 0.6 else [],
        tokens=rng.integers(0, count, int(rng.integers(7))),
    )


def cosines(rows: torch.Tensor) -> torch.Tensor:
    """Of each row with each other one; -2 with itself, which is no neighbor."""
    found = F.cosine_similarity(rows[:, None], rows[None], dim=-1)
    return found.fill_diagonal_(-2)


def own_group(rows: torch.Tensor, names: list[str]) -> dict[str, int]:
    """Words whose nearest one is of their group, and words that have one there."""
    (best, second), (nearest, _) = (top.T for top in cosines(rows).topk(2))
    pairs = zip(names, nearest.tolist(), (best - second > 1e-6).tolist(), strict=False)
    among = [
        name == names[near]
        for name, near, is_alone in pairs
        if name and names.count(name) > 1 and is_alone
    ]
    return {"right": sum(among), "among": len(among)}


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    figures = [random_figure(rng) for _ in range(25)]
    return with_shown([*figures, EmbeddingLookup(), EmbeddingLookup(step=30)])


def test_the_numbers_are_pytorchs(pairs):
    """Rows that are looked up, nearest rows and cosines, words near their group."""
    for figure, page in pairs:
        rows = figure.tables[figure.steps.index(figure.step)]
        weight, first = torch.tensor([rows, figure.tables[0]], dtype=torch.float64)
        geometry = page.geometry
        output = F.embedding(torch.tensor(figure.tokens, dtype=torch.long), weight)
        assert geometry["table"] == rows
        assert geometry["output"] == output.tolist()
        found = cosines(weight)
        best = found.max(dim=-1).values
        # of equals the first
        nearest = (found > best[:, None] - 1e-7).int().argmax(dim=-1).tolist()
        assert [near["row"] for near in geometry["nearest"]] == nearest
        shares = [near["cosine"] for near in geometry["nearest"]]
        assert shares == pytest.approx(best.tolist(), rel=0, abs=1e-6)
        for i, (word, row, *numbers, near, cosine) in enumerate(page.rows):
            assert (word, row, near) == (figure.words[i], i, figure.words[nearest[i]])
            assert [*map(float, numbers)] == pytest.approx(rows[i], rel=0, abs=5.1e-4)
            assert float(cosine) == pytest.approx(best[i].item(), abs=6e-5)
        for table, key in ((weight, "own"), (first, "ownBefore")):
            assert geometry[key] == own_group(table, figure.groups)


def test_the_plane_is_that_of_the_largest_spread(pairs):
    for figure, page in pairs:
        last = torch.tensor(figure.tables[-1], dtype=torch.float64)
        _, s, axes = torch.linalg.svd(last - last.mean(0), full_matrices=True)
        s = F.pad(s, (0, max(0, 2 - len(s))))
        plane, spread = page.geometry["plane"], (s**2).sum()
        share = (s[:2] ** 2).sum() / spread if spread > 0 else 0.0
        assert plane["share"] == pytest.approx(float(share), abs=1e-9)
        used = axes[:2] * (s[:2, None] ** 2 > 1e-12 * spread)
        tables = torch.tensor(figure.tables, dtype=torch.float64) - last.mean(0)
        expected = tables @ used.T
        found = torch.tensor(plane["places"], dtype=torch.float64)
        signs = (found[-1] * expected[-1]).sum(0).sign()  # an axis may point either way
        size = tables.abs().max().item() + 1e-9
        assert ((found - signs * expected) / size).abs().max() < 1e-6


def near(word: str, index: int) -> str:
    """The three nearest words of a word in one of the figure's tables."""
    stored = shipped()
    rows = torch.tensor(stored["tables"][index], dtype=torch.float64)
    best = cosines(rows)[stored["words"].index(word)].topk(3)
    named = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return ", ".join(f"“{stored['words'][i]}” {cosine:.2f}" for i, cosine in named)


TWO = {"words": ["a", "b"], "tables": ROWS}
COPIED = "5 words: the output copies rows 19, 0, 28, 19, 1 of the table."
GROUP = "the nearest row is in the same group for"
TRAINED = f" After step 200, {GROUP} 27 of 27 words (before training: 7)."
ONE_HOT = {"view": "one-hot"}
EQUAL = {"words": [*"abcd"], "tables": [[1, 0], [0, 0], [2, 0], [3, 0]]}
NONE = "No word is looked up."
TWINS = [[1, 0], [0, 0], [1, 0], [1, 1]]
NUMBER = shipped()["tables"][-1][9][1]
TEN = f"“ten” is row 9; its entry 1 is {NUMBER:.2f}."
NEAR_TEN = (
    f" Nearest by cosine after step 200: {near('ten', -1)}; before training: "
    f"{near('ten', 0)}."
)


def test_what_is_said():
    wanted = {
        COPIED + TRAINED: {},
        f"{COPIED} Before training, {GROUP} 7 of 27 words.": {"step": 0},
        NONE + TRAINED: {"tokens": []},
        "1 word: the output copies row 3 of the table." + TRAINED: {"tokens": [3]},
        "5 one-hot rows times W: in each sum, at least 28 of the 29 products are 0, so "
        "the output is the same rows." + TRAINED: ONE_HOT,
        "1 one-hot row times W: in each sum, at least 1 of the 2 products are 0, so "
        "the output is the same rows.": TWO | ONE_HOT | {"tokens": [1]},
        f"{NONE} {GROUP.capitalize()} 2 of 2 words.": TWO
        | {"groups": ["x", "x"], "tokens": []},
        # zeros have no nearest row, and equal rows not one
        NONE: EQUAL | {"groups": [*"xxxx"], "tokens": []},
        f"{NONE} {GROUP.capitalize()} 0 of 1 words.": EQUAL
        | {"groups": [*"xxyx"], "tokens": [], "tables": TWINS},
        TEN + NEAR_TEN: {"selected": [9, 1]},
        f"{TEN} It is not in your text.{NEAR_TEN}": ONE_HOT | {"selected": [9, 1]},
        f"{TEN} Its one-hot row: a 1 at index 9, 28 zeros.{NEAR_TEN}": ONE_HOT
        | {"selected": [9, 1], "tokens": [9]},
        "“a” is row 0; its entry 1 is 2.00. Its one-hot row: a 1 at index 0, 1 zero. "
        "Nearest by cosine: “b” 0.98.": TWO
        | ONE_HOT
        | {"selected": [0, 1], "tokens": [0]},
        # of equal rows the first is nearest, and zeros are near nothing
        "“d” is row 3; its entry 0 is 3.00. Nearest by cosine: “a” 1.00, “c” 1.00, "
        "“b” 0.00.": EQUAL | {"selected": [3, 0]},
        "“b” is row 1; its entry 0 is 0.00. Nearest by cosine: “a” 0.00, “c” 0.00, "
        "“d” 0.00.": EQUAL | {"selected": [1, 0]},
    }
    must_say((EmbeddingLookup(**state), said) for said, state in wanted.items())


def test_copied_pytorch_runs_and_asserts_the_state(pairs):
    for figure, page in pairs[::5]:
        names = page.run()
        assert names["output"].tolist() == names["weight"][figure.tokens].tolist()
    mistakes = {
        "shown = torch": "shown = 1 + torch",
        "one_hot @ weight": "one_hot @ weight.flip(0)",
        "nearest = torch": "nearest = 1 + torch",
        "expected = torch.tensor([": "expected = 0.01 + torch.tensor([",
        "others.topk": "(others / 2).topk",
    }
    must_notice(shown(EmbeddingLookup()).pytorch, mistakes)


def test_the_readers_own_table_or_training_is_shown():
    torch.manual_seed(0)
    tokens = torch.tensor([3, 1, 3])
    said = "The table{}, and each word’s nearest neighbor".format
    embeddings = (nn.Embedding(5, 4), Embedding(5, 4, scale=3.0))
    figures = [EmbeddingLookup([*"abcde"], one, tokens=tokens) for one in embeddings]
    for embedding, page in zip(embeddings, shown_all(figures), strict=True):
        output = torch.tensor(page.geometry["output"])
        torch.testing.assert_close(output, embedding(tokens), rtol=0, atol=6e-4)
        assert page.table["caption"] == said("")
        assert page.table["header"] == ["word", "row", *"0123", "nearest", "cosine"]
    tables = [torch.eye(3) + step for step in range(3)]
    figure = EmbeddingLookup([*"abc"], tables, steps=[0, 10, 20])
    assert figure.step == 20
    figure.step = 10
    page = shown(figure)
    assert page.geometry["table"] == tables[1].tolist()
    assert page.table["caption"] == said(" after step 10")
    figure.update(tables=[torch.eye(3)], steps=[0], step=0)
    assert shown(figure).geometry["plane"]["share"] == pytest.approx(1.0)


def test_the_figures_table_is_what_training_gives():
    stored, tables = shipped(), torch.stack([*train().values()])
    facts = {"words": vocabulary(), "groups": groups(), "steps": [*STEPS]}
    near = torch.tensor(stored.pop("tables"), dtype=torch.float64)
    torch.testing.assert_close(near, tables, rtol=0, atol=0.0051)
    assert stored == facts


AB = {"words": [*"ab"]}
test_bad_states_say_why = refusals(
    EmbeddingLookup,
    ({"words": ["a"], "tables": ROWS[:1]}, "of words must be .* 2 to 64, got 1"),
    ({"words": ["a", 2], "tables": ROWS}, r"words\[1\] must be valid Unicode text"),
    (AB, "length of tables must be .* 1 to 1000, got 0"),
    (AB | {"tables": [[1], [2]]}, r"of tables\[0\]\[0\] must be 2, got 1"),
    ({"tables": np.ones((5, 60, 16))}, "at most 20000 bytes, got .*; show fewer"),
    ({"tables": ROWS, "steps": [0, 1]}, "steps must be 1, got 2; change both by"),
    ({"tables": [ROWS, ROWS], "steps": [5, 2]}, r"increasing numbers, got \[5,2\]"),
    ({"groups": ["a"]}, "length of groups must be 29, got 1"),
    ({"tokens": [0] * 7}, "length of tokens must be .* 0 to 6, got 7"),
    ({"selected": [0, 6]}, r"selected\[1\] must be .* 0 to 5, got 6"),
    later=False,
)


def field(page):
    """The reader's words."""
    return page.get_by_label("Your words")


def note(page):
    """What the figure answers to words without a row."""
    return page.locator(".note").inner_text()


def nearest(page):
    """The list of all words, of which one's nearest are shown."""
    return page.get_by_label("Nearest to")


def chosen(page):
    """The word in that list."""
    return nearest(page).evaluate("(node) => node.selectedOptions[0].textContent")


def test_the_lesson_training_makes_neighbors(live):
    page = live(EmbeddingLookup(step=0, selected=[18, 0]), width=360)
    slider = page.slider("Training")
    states = [EmbeddingLookup(step=step, selected=[18, 0]) for step in STEPS[1:]]
    tops = set()
    for step, expected in zip(STEPS[1:], shown_all(states), strict=True):
        slider.press("ArrowRight")
        assert slider.get_attribute("aria-valuetext") == f"after step {step}"
        assert page.said_at_rest() == expected.sentence
        tops.add(page.top_of(".foot"))
    assert "after step 200: “sixteen” 0.98, “eleven” 0.98" in page.said()
    for words in ("one million", "quadrillions antidisestablishment 2"):
        field(page).fill(words)
        page.said()
        tops.add(page.top_of(".foot"))
    page.get_by_role("radio", name="one-hot × W").check()
    page.said()
    assert {page.top_of(".foot")} == tops  # the picture keeps its place


TYPED = [
    ("three two", [2, 1], ""),
    ("Nine hundred and forty-two", [8, 27, 28, 21, 1], ""),
    ("seven ELEVEN", [6, 10], ""),
    ("twenty, two!", [19, 1], ""),
    ("one million and two", [0, 28, 1], "No row for “million”."),
    ("4 2", [], "No row for “4”, “2”."),
    ("4 2 million one", [0], "No row for “4”, “2”, …"),
    ("one two three four five six seven", [0, 1, 2, 3, 4, 5], "first 6 words are"),
    ("", [], ""),
    ("x" * 180, [], "No row for “xxxx"),
]


def test_typed_words_are_looked_up_and_let_go_of_the_chosen_one(live):
    start = EmbeddingLookup(selected=[9, 0])
    page = live(start, **PHONE)
    pages = with_shown(EmbeddingLookup(tokens=tokens) for _, tokens, _ in TYPED)
    for (typed, tokens, answer), (_, want) in zip(TYPED, pages, strict=True):
        nearest(page).select_option("ten")
        field(page).fill(typed)
        assert page.said() == want.sentence
        assert chosen(page) == start.words[tokens[0] if tokens else 0]
        assert field(page).input_value() == typed
        told = note(page)
        assert answer in told
        assert bool(answer) == bool(told)
        assert len(told) < 200
    page.push("Reset")
    assert (chosen(page), note(page)) == ("ten", "")
    assert field(page).input_value() == "twenty one and twenty two"


def clouds(*figures, width=680):
    """What is drawn in each figure's plane, for each row that the reader may hold."""
    pages = [shown(figure, width).geometry for figure in figures]
    jobs = [(page, row) for page in pages for row in range(len(page["table"]))]
    return page_calls("embedding_lookup/cloud", "cloud", jobs)


def box_of(label):
    """Left, right, top, bottom of a label, without the air around it."""
    wide = 7.5 * len(label["text"])
    before = {"start": 0, "middle": wide / 2, "end": wide}[label["text-anchor"]]
    left = label["x"] - before
    return left, left + wide, label["y"] - 6, label["y"] + 6


@pytest.mark.parametrize("width", [304, 704])
def test_labels_stand_apart_and_the_chosen_one_beside_its_point(width):
    figures = [EmbeddingLookup(step=step) for step in STEPS[::3]]
    for nth, cloud in enumerate(clouds(*figures, width=width)):
        row = nth % 29
        labels = [t for t in cloud["texts"] if "clear" in (t["class"] or "")]
        boxes = {label["text"]: box_of(label) for label in labels}
        assert len(boxes) == len(labels) > 8
        for a, b in itertools.combinations(boxes.values(), 2):
            assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
        left, right, top, bottom = boxes[vocabulary()[row]]
        x, y = cloud["spots"][row]
        away = max(left - x, x - right, 0), max(top - y, y - bottom, 0)
        assert max(away) < 8.01


def test_a_mark_of_two_groups_a_share_of_nearly_all_and_no_share_are_said_so():
    rows = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0.03]]
    figure = EmbeddingLookup([*"abcde"], rows, groups=[*"vwxyz"])
    none = EmbeddingLookup([*"ab"], [[1, 2], [1, 2]])
    found, *_, last = clouds(figure, none)
    title = "rows as points: >99% of the final table’s variance"
    assert {"v, …", *"wxy", title} <= {text["text"] for text in found["texts"]}
    assert not [text for text in last["texts"] if "variance" in text["text"]]


FILLS = "(all) => all.map((node) => getComputedStyle(node).fill)"


def test_signs_and_shades_have_a_legend_and_a_click_on_a_point_holds(live):
    page = live(EmbeddingLookup())
    picture = page.locator(".picture svg").first
    thick = ", ".join(word.split("”")[0] for word in near("twenty", -1).split("“")[1:])
    for meaning in ("units", "no group", f"Nearest to twenty: {thick}", "below 0"):
        assert meaning in picture.text_content()
    looks = picture.locator("path.dot").evaluate_all(
        "(all) => all.map((dot) => [...dot.classList].join(' '))"
    )
    assert looks[29:] == ["dot", "dot", "dot", "dot none", "dot on"]
    assert set(looks) == set(looks[29:])
    figure = EmbeddingLookup(step=0)
    page.slider("Training").fill("0")
    page.said()
    spot = edges(page.locator("path.dot").nth(3))
    page.mouse.click((spot.left + spot.right) / 2, (spot.top + spot.bottom) / 2)
    row = figure.words.index(page.said_at_rest().split("”")[0][1:])
    assert page.said() == said_of(EmbeddingLookup(step=0, selected=[row, 0]))
    assert chosen(page) == figure.words[row]  # a click on a point holds its word
    numbers = page.locator("text.cellnumber")
    before = numbers.all_inner_texts()
    assert len(before) == 5 * D_MODEL
    page.get_by_role("radio", name="one-hot × W").check()
    assert numbers.all_inner_texts() == before  # both ways give the same output
    assert page.locator("text.one").count() == 5
    assert page.get_by_text("F.one_hot(tokens, 29)").count() == 1
    assert "next word in the numbers 1 to 999" in page.locator(".about").inner_text()
    page.emulate_media(forced_colors="active")
    looked_up, cells = (
        page.locator(css).evaluate_all(FILLS) for css in (".lookup", ".cell")
    )
    assert looked_up == ["none"] * 10  # the shades are seen below
    assert len(set(cells)) == 2


def test_each_size_of_table_fits_and_ones_own_says_nothing_of_ours(live):
    rows = [[1.0, 0.5], [0.5, 1.0]]
    figures = [EmbeddingLookup(["ab", "New York"], rows, groups=["x", "y"])]
    rng = np.random.default_rng(1)
    for count, d_model in ((2, 2), (29, 6), (64, 16), (64, 2)):
        words = [f"word{i:06}" for i in range(count)]
        tokens = [i % count for i in range(6)]
        table = rng.normal(size=(count, d_model))
        figures.append(EmbeddingLookup(words, table, tokens=tokens))
    page = live(*figures, width=320, height=9000)
    for width in at_widths(page, 320, 1280):
        assert_fits(page, width)
    texts = page.locator(".picture svg").first.text_content()
    assert "Nearest to ab: New York" in texts
    assert "no group" not in texts
    assert page.get_by_label("Training").first.is_hidden()
    assert page.said() == "2 words: the output copies rows 0, 1 of the table."
    told = page.locator(".tl-figure").first.locator(".about, .note")
    assert told.all_inner_texts() == ["", ""]


def test_a_finger_chooses_a_word_where_its_neighbors_are(live):
    figure = EmbeddingLookup()
    page = live(figure, more=False, **FINGER | {"width": 360, "height": 684})
    assert chosen(page) == "twenty"
    nearest(page).select_option("ten")
    figure.selected = [figure.words.index("ten"), 0]
    assert page.said_at_rest() == said_of(figure)
    choice, slider = edges(nearest(page)), edges(page.slider("Training"))
    assert choice.bottom - choice.top >= 44
    bars = edges(page.locator("svg[role=img]"))
    assert slider.top < choice.top < bars.top
    assert bars.bottom - slider.top < 550
    field(page).fill("million thousand")
    page.said()
    parts = ("[type=range]", ".note", ".picture")
    slider, told, picture = (edges(page.locator(css).first) for css in parts)
    assert slider.bottom <= told.top
    assert told.bottom <= picture.top
    assert picture.top - slider.bottom < 90
