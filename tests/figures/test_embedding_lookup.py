"""EmbeddingLookup: its numbers are PyTorch's, the training, and what it says."""

import itertools

import numpy as np
import pytest
import torch
from figure_page import (
    assert_fits,
    edges,
    must_notice,
    must_say,
    refusals,
    run_script,
    said_of,
    shown,
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
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

CLOUD = """
import { layout } from "./transformer_book/figures/embedding_lookup/layout.mjs";
import { cloud } from "./transformer_book/figures/embedding_lookup/cloud.mjs";
const { state, rooms, steps } = job;
done(rooms.flatMap((room) => steps.flatMap((step) => {
  const geometry = layout({ ...state, step }, room);
  return state.words.map((word, row) => ({ word, row, ...cloud(geometry, row) }));
})));
"""
ROWS = [[1.0, 2.0], [3.0, 4.0]]


def random_figure(rng: np.random.Generator) -> EmbeddingLookup:
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
    held = [int(rng.integers(count)), int(rng.integers(width))]
    return EmbeddingLookup(
        [f"w{i}" for i in range(count)],
        tables,
        steps=steps,
        step=int(rng.choice(steps)),
        groups=rng.choice(["", "x", "y"], count) if rng.random() < 0.6 else [],
        tokens=rng.integers(0, count, int(rng.integers(7))),
        view=str(rng.choice(["lookup", "one-hot"])),
        selected=held if rng.random() < 0.6 else [],
    )


def cosines(rows: torch.Tensor) -> torch.Tensor:
    """Of each row with each other one; -2 with itself, which is no neighbor."""
    found = F.cosine_similarity(rows[:, None], rows[None], dim=-1)
    return found.fill_diagonal_(-2)


def own_group(rows: torch.Tensor, names: list[str]) -> tuple[int, int]:
    """Words whose nearest one is of their group, and words that have one there."""
    nearest = cosines(rows).argmax(dim=-1).tolist()
    among = [i for i, name in enumerate(names) if name and names.count(name) > 1]
    return sum(names[nearest[i]] == names[i] for i in among), len(among)


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    figures = [random_figure(rng) for _ in range(25)]
    return with_shown([*figures, EmbeddingLookup(), EmbeddingLookup(step=30)])


def test_the_numbers_are_pytorchs(pairs):
    """Rows that are looked up, nearest rows and cosines, words near their group."""
    for figure, page in pairs:
        rows = figure.tables[figure.steps.index(figure.step)]
        weight = torch.tensor(rows, dtype=torch.float64)
        geometry = page.geometry
        output = F.embedding(torch.tensor(figure.tokens, dtype=torch.long), weight)
        assert geometry["table"] == rows
        assert geometry["output"] == output.tolist()
        found = cosines(weight)
        for i, near in enumerate(geometry["nearest"]):
            best = found[i].max().item()
            assert near["cosine"] == pytest.approx(best, rel=0, abs=1e-6)
            assert found[i, near["row"]] == pytest.approx(near["cosine"], abs=1e-12)
            ties = (found[i] > best - 1e-7).nonzero()[0].item()  # the first of equals
            assert near["row"] == ties
            word, row, *numbers, nearest, cosine = page.rows[i]
            assert (word, row) == (figure.words[i], i)
            assert nearest == figure.words[ties]
            cells = [float(x) for x in [*numbers, cosine]]
            assert cells[:-1] == pytest.approx(rows[i], rel=0, abs=5.1e-4)
            assert cells[-1] == pytest.approx(best, abs=6e-5)
        first = torch.tensor(figure.tables[0], dtype=torch.float64)
        for table, key in ((weight, "own"), (first, "ownBefore")):
            count = list(geometry[key].values())
            if len({tuple(row) for row in table.tolist()}) == len(table):  # no ties
                assert count == [*own_group(table, figure.groups)]


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


def test_the_table_says_the_step():
    one, many = shown_all([EmbeddingLookup([*"ab"], ROWS), EmbeddingLookup(step=40)])
    assert one.table["caption"] == "The table, and each word’s nearest neighbor"
    caption = "The table after step 40, and each word’s nearest neighbor"
    assert many.table["caption"] == caption
    assert many.table["header"] == ["word", "row", *"012345", "nearest", "cosine"]


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
    embeddings = (nn.Embedding(5, 4), Embedding(5, 4), Embedding(5, 4, scale=3.0))
    figures = [EmbeddingLookup([*"abcde"], one, tokens=tokens) for one in embeddings]
    for embedding, page in zip(embeddings, shown_all(figures), strict=True):
        output = torch.tensor(page.geometry["output"])
        torch.testing.assert_close(output, embedding(tokens), rtol=0, atol=6e-4)
    tables = [torch.eye(3) + step for step in range(3)]
    figure = EmbeddingLookup(["a", "b", "c"], tables, steps=[0, 10, 20])
    assert figure.step == 20
    figure.step = 10
    assert shown(figure).geometry["table"] == tables[1].tolist()
    figure.update(tables=[torch.eye(3)], steps=[0], step=0)
    assert shown(figure).geometry["plane"]["share"] == pytest.approx(1.0)


def test_the_figures_table_is_what_training_gives():
    stored = shipped()
    assert stored["words"] == vocabulary()
    assert stored["groups"] == groups()
    assert stored["steps"] == [*STEPS]
    for table, copy in zip(stored["tables"], train().values(), strict=True):
        near = torch.tensor(table, dtype=torch.float64)
        torch.testing.assert_close(near, copy, rtol=0, atol=0.0051)


def test_nearness_is_learned_whatever_the_start():
    chance = sum(n * (n - 1) for n in (9, 10, 8)) / 28  # of 27 words
    before, halfway, after = [], [], []
    for seed in range(4):
        right = [own_group(table, groups())[0] for table in train(seed).values()]
        before.append(right[0])
        halfway.append(right[STEPS.index(60)])
        after.append(right[-1])
    assert abs(np.mean(before) - chance) < 4
    assert max(before) <= 15
    assert np.mean(before) + 5 < np.mean(halfway)
    assert min(after) >= 26


def test_ten_is_a_teen_and_nobody_said_so():
    state, kinds = shipped(), groups()
    first, last = (cosines(torch.tensor(state["tables"][i])) for i in (0, -1))

    def five(table: torch.Tensor, word: str) -> list[str]:
        nearest = table[state["words"].index(word)].topk(5).indices
        return [kinds[i] for i in nearest.tolist()]

    assert five(last, "ten") == ["teens"] * 5
    assert five(last, "twenty") == ["tens"] * 5
    assert five(first, "twenty").count("tens") < 3


test_bad_states_say_why = refusals(
    EmbeddingLookup,
    (
        {"words": ["a"], "tables": [[1.0, 2.0]]},
        "length of words must be .* 2 to 64, got 1",
    ),
    (
        {"words": ["a", 2], "tables": ROWS},
        r"words\[1\] must be valid Unicode text, got 2",
    ),
    ({"words": ["a", "b"]}, "length of tables must be .* 1 to 1000, got 0"),
    (
        {"words": ["a", "b"], "tables": [[1], [2]]},
        r"length of tables\[0\]\[0\] must be 2, got 1",
    ),
    (
        {"words": ["a", "b"], "tables": [[1, 2]]},
        r"length of tables\[0\] must be 2, got 1",
    ),
    (
        {"tables": [[float("nan"), 1], [1, 1]]},
        r"tables\[0\]\[0\]\[0\] must be a number .*, got NaN",
    ),
    ({"tables": np.ones((5, 60, 16))}, "at most 20000 bytes, got .*; show fewer"),
    (
        {"tables": ROWS, "steps": [0, 1]},
        "length of steps must be 1, got 2; change both by update",
    ),
    ({"tables": [ROWS, ROWS], "steps": [5, 2]}, r"increasing numbers, got \[5,2\]"),
    ({"groups": ["a"]}, "length of groups must be 29, got 1"),
    ({"tokens": [0] * 7}, "length of tokens must be .* 0 to 6, got 7"),
    ({"selected": [1]}, "length of selected must be 2, got 1"),
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
        slider.focus()
        page.press("ArrowRight")
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
    tops.add(page.top_of(".foot"))
    assert len(tops) == 1  # the picture keeps its place


def test_both_ways_give_the_same_output(live):
    page = live(EmbeddingLookup())
    numbers = page.locator("text.cellnumber")
    before = numbers.all_inner_texts()
    assert len(before) == 5 * D_MODEL
    page.get_by_role("radio", name="one-hot × W").check()
    assert page.said() == said_of(EmbeddingLookup(view="one-hot"))
    assert numbers.all_inner_texts() == before
    assert page.locator("text.one").count() == 5
    assert page.get_by_text("F.one_hot(tokens, 29)").count() == 1


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


def box_of(label):
    """Left, right, top, bottom of a label, without the air around it."""
    wide = 7.5 * len(label["text"])
    left = (
        label["x"] - {"start": 0, "middle": wide / 2, "end": wide}[label["text-anchor"]]
    )
    return left, left + wide, label["y"] - 6, label["y"] + 6


def test_labels_stand_apart_and_the_chosen_one_beside_its_point():
    job = {"state": EmbeddingLookup().state(), "rooms": [304, 704]}
    clouds = run_script(CLOUD, job | {"steps": STEPS[::3]})
    assert len(clouds) == 2 * 4 * 29
    for cloud in clouds:
        labels = [t for t in cloud["texts"] if "clear" in (t["class"] or "")]
        boxes = {label["text"]: box_of(label) for label in labels}
        assert len(boxes) == len(labels) > 8
        for a, b in itertools.combinations(boxes.values(), 2):
            assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
        left, right, top, bottom = boxes[cloud["word"]]
        x, y = cloud["spots"][cloud["row"]]
        away = max(left - x, x - right, 0), max(top - y, y - bottom, 0)
        assert max(away) < 8.01


def test_a_mark_of_two_groups_and_a_share_of_nearly_all_are_said_so():
    rows = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 0.03]]
    figure = EmbeddingLookup([*"abcde"], rows, groups=[*"vwxyz"])
    job = {"state": figure.state(), "rooms": [680], "steps": [0]}
    texts = {text["text"] for text in run_script(CLOUD, job)[0]["texts"]}
    title = "plane with >99% of the final table’s variance"
    assert {"v, …", "w", "x", "y", title} <= texts


def test_no_variance_has_no_share():
    job = {"state": EmbeddingLookup([*"ab"], [[1, 2], [1, 2]]).state()}
    texts = run_script(CLOUD, job | {"rooms": [680], "steps": [0]})[0]["texts"]
    assert not [text for text in texts if "variance" in text["text"]]


def test_signs_and_shades_have_a_legend_and_a_click_on_a_point_holds(live):
    page = live(EmbeddingLookup())
    picture = page.locator(".picture svg").first
    for meaning in ("units", "no group", "thick lines to its nearest", "below 0"):
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
    assert "next word in the numbers 1 to 999" in page.locator(".about").inner_text()
    assert "next word" in figure.html()


def test_a_table_of_ones_own_has_no_training_and_says_nothing_of_ours(live):
    rows = [[1.0, 0.5], [0.5, 1.0]]
    figure = EmbeddingLookup(["ab", "New York"], rows, groups=["x", "y"])
    assert figure.about == ""
    page = live(figure)
    texts = page.locator(".picture svg").first.text_content()
    assert "selected" in texts
    assert "no group" not in texts
    assert page.get_by_label("Training").is_hidden()
    assert page.said().startswith("2 words: the output copies rows 0, 1 of the table.")
    assert "step" not in page.said()
    assert note(page) == ""


def test_forced_colors_leave_the_shades_of_looked_up_rows(live):
    page = live(EmbeddingLookup(), forced_colors="active")
    looked_up, cells = (
        page.locator(css).evaluate_all(
            "all => all.map((x) => getComputedStyle(x).fill)"
        )
        for css in (".lookup", ".cell")
    )
    assert looked_up == ["none"] * 10
    assert len(set(cells)) == 2


def test_every_size_of_table_fits(live):
    rng, figures = np.random.default_rng(1), []
    for count, d_model in ((2, 2), (29, 6), (64, 16), (64, 2)):
        words = [f"word{i:06}" for i in range(count)]
        tokens = [i % count for i in range(6)]
        table = rng.normal(size=(count, d_model))
        figures.append(EmbeddingLookup(words, table, tokens=tokens))
    page = live(*figures, width=320, height=9000)
    expect(page.locator("[data-mounted]")).to_have_count(len(figures))
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 9000})
        page.said()
        assert_fits(page, width)


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
