"""EmbeddingLookup: its numbers are PyTorch's, the training, and what it says."""

import itertools
import json

import numpy as np
import pytest
import torch
from figure_examples import HOSTILE
from figure_page import READY, Shown, run_node, shown, shown_all
from torch import nn
from torch.nn import functional as F
from touch import tab_stops

from transformer_book.figures.embedding_lookup.figure import EmbeddingLookup
from transformer_book.figures.embedding_lookup.training import (
    D_MODEL,
    STEPS,
    followers,
    groups,
    shipped,
    train,
    vocabulary,
)
from transformer_lib.embeddings import Embedding

CLOUD = """
import { layout } from "./transformer_book/figures/embedding_lookup/layout.mjs";
import { cloud } from "./transformer_book/figures/embedding_lookup/cloud.mjs";
import { text } from "node:stream/consumers";
const { state, rooms } = JSON.parse(await text(process.stdin));
const all = rooms.flatMap((room) => state.steps.flatMap((step) => {
  const geometry = layout({ ...state, step }, room);
  return state.words.map((word, row) => ({ word, row, ...cloud(geometry, row) }));
}));
console.log(JSON.stringify(all));
"""
PHONE = {"viewport": {"width": 320, "height": 640}}


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


def said(figure: EmbeddingLookup) -> str:
    return shown(figure).sentence


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
def pairs() -> list[tuple[EmbeddingLookup, Shown]]:
    rng = np.random.default_rng(0)
    figures = [random_figure(rng) for _ in range(80)]
    figures += [EmbeddingLookup(step=step) for step in STEPS[::3]]
    return list(zip(figures, shown_all(figures), strict=True))


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
            shown_cosine = float(page.rows[i][-1])
            assert shown_cosine == pytest.approx(best, abs=6e-5)
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
        share = (s[:2] ** 2).sum() / spread if spread > 0 else 1.0
        assert plane["share"] == pytest.approx(float(share), abs=1e-9)
        used = axes[:2] * (s[:2, None] ** 2 > 1e-12 * spread)
        tables = torch.tensor(figure.tables, dtype=torch.float64) - last.mean(0)
        expected = tables @ used.T
        found = torch.tensor(plane["places"], dtype=torch.float64)
        signs = (found[-1] * expected[-1]).sum(0).sign()  # an axis may point either way
        size = tables.abs().max().item() + 1e-9
        assert ((found - signs * expected) / size).abs().max() < 1e-6


def test_every_kind_of_sentence_is_met(pairs):
    sentences = " ".join(page.sentence for _, page in pairs)
    for part in ("No word is looked up", "1 word: row", "one-hot row", "before train"):
        assert part in sentences


def test_the_table_says_the_step_and_each_word_s_nearest():
    table = shown(EmbeddingLookup(step=40)).table
    assert table["caption"] == "The table after step 40, and the nearest word of each"
    assert table["header"] == ["word", "row", *"012345", "nearest", "cosine"]
    assert table["rows"][10][:3] == ["eleven", 10, "-0.620"]


def test_copied_pytorch_runs_and_asserts_the_state(pairs):
    for figure, page in pairs[::3]:
        names = {}
        exec(page.pytorch, names)
        assert names["output"].tolist() == names["weight"][figure.tokens].tolist()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("shown = torch", "shown = 1 + torch"),
        ("one_hot @ weight", "one_hot @ weight.flip(0)"),
        ("nearest = torch", "nearest = 1 + torch"),
        ("expected = torch.tensor([", "expected = 0.01 + torch.tensor(["),
        ("others.topk", "(others / 2).topk"),
    ],
)
def test_each_assertion_of_the_copied_program_can_fail(right, wrong):
    code = shown(EmbeddingLookup()).pytorch
    assert right in code
    with pytest.raises(AssertionError):
        exec(code.replace(right, wrong), {})


def test_output_is_that_of_the_readers_own_embedding():
    torch.manual_seed(0)
    tokens = torch.tensor([3, 1, 3])
    embeddings = (nn.Embedding(5, 4), Embedding(5, 4), Embedding(5, 4, scale=3.0))
    figures = [EmbeddingLookup([*"abcde"], one, tokens=tokens) for one in embeddings]
    for embedding, page in zip(embeddings, shown_all(figures), strict=True):
        output = torch.tensor(page.geometry["output"])
        torch.testing.assert_close(output, embedding(tokens), rtol=0, atol=6e-4)


def test_readers_own_training_may_be_shown_step_by_step():
    tables = [torch.eye(3) + step for step in range(3)]
    figure = EmbeddingLookup(["a", "b", "c"], tables, steps=[0, 10, 20])
    assert figure.step == 20
    figure.step = 10
    assert shown(figure).geometry["table"] == tables[1].tolist()
    figure.update(tables=[torch.eye(3)], steps=[0], step=0)
    assert shown(figure).geometry["plane"]["share"] == pytest.approx(1.0)


def test_of_equal_rows_the_first_is_nearest_and_zeros_are_near_nothing():
    table = [[1, 0], [0, 0], [2, 0], [3, 0]]
    last, zeros = shown_all(
        [EmbeddingLookup([*"abcd"], table, selected=[row, 0]) for row in (3, 1)]
    )
    assert last.sentence.endswith("Nearest by cosine: “a” 1.00, “c” 1.00, “b” 0.00.")
    assert zeros.sentence.endswith("Nearest by cosine: “a” 0.00, “c” 0.00, “d” 0.00.")


def test_the_figures_table_is_what_training_gives():
    stored = shipped()
    assert stored["words"] == vocabulary()
    assert stored["groups"] == groups()
    assert stored["steps"] == [*STEPS]
    for table, copy in zip(stored["tables"], train().values(), strict=True):
        near = torch.tensor(table, dtype=torch.float64)
        torch.testing.assert_close(near, copy, rtol=0, atol=0.0051)


def test_followers_are_those_of_the_numbers_below_1000():
    counts, words = followers(), vocabulary()
    assert counts.shape == (29, 30)
    at = {word: i for i, word in enumerate(words)} | {"end": 29}
    for word, after, times in (
        ("twenty", "one", 10),
        ("twenty", "end", 10),
        ("one", "hundred", 100),
        ("hundred", "and", 9 * 99),
        ("hundred", "end", 9),
        ("eleven", "end", 10),
        ("eleven", "hundred", 0),
    ):
        assert counts[at[word], at[after]] == times, (word, after)


def test_nearness_is_learned_whatever_the_start():
    chance = sum(n * (n - 1) for n in (9, 10, 8)) / 28  # of 27 words
    before, halfway, after = [], [], []
    for seed in range(6):
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


ROWS = [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"words": ["a"], "tables": [[1.0, 2.0]]}, "words must be 2 to 64, got 1"),
        ({"words": ["a", 2], "tables": ROWS}, "tokens must be strings, got 2"),
        ({"words": ["a", "b"]}, "tables must be a list of tables .* columns, got 0"),
        ({"words": ["a", "b"], "tables": [[1], [2]]}, "2 to 16 columns, got 1"),
        ({"words": ["a", "b"], "tables": [[1, 2]]}, "be 2 x 2, got rows of lengths"),
        ({"tables": [[float("nan"), 1], [1, 1]]}, "hold finite numbers, got nan"),
        ({"tables": [[1001, 1], [1, 1]]}, "must lie within 1,000, got 1001"),
        ({"tables": np.ones((3, 60, 16))}, "at most 2400 numbers in all, got 2880; sh"),
        ({"tables": ROWS, "steps": [0, 1]}, "one for each of 1 tables, got .*update"),
        ({"tables": [ROWS, ROWS], "steps": [5, 2]}, r"must rise .* got \[5, 2\]"),
        ({"step": 7}, r"step must be one of \[0, 10, .*, 200\], got 7"),
        ({"groups": ["a"]}, r"group for each of 29 words, or be \[\], got 1"),
        ({"tokens": [29]}, r"at most 6 rows from 0 to 28, got \[29\]"),
        ({"tokens": [0] * 7}, r"at most 6 rows from 0 to 28, got \[0, 0"),
        ({"selected": [1]}, r"of a table of 29 x 6, or \[\], got \[1\]"),
        ({"selected": [0, 6]}, r"of a table of 29 x 6, or \[\], got \[0, 6\]"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        EmbeddingLookup(**state)


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


def numbers(page):
    """The numbers of the output."""
    return page.locator("text.cellnumber").all_inner_texts()


def test_the_lesson_training_makes_neighbors(live):
    page = live(EmbeddingLookup(step=0, selected=[18, 0]))
    slider = page.get_by_role("slider", name="Training")
    slider.focus()
    states = [EmbeddingLookup(step=step, selected=[18, 0]) for step in STEPS[1:]]
    for step, expected in zip(STEPS[1:], shown_all(states), strict=True):
        page.press("ArrowRight")
        page.said()
        assert slider.get_attribute("aria-valuetext") == f"after step {step}"
        page.evaluate("() => document.activeElement.blur()")
        assert page.said() == expected.sentence
        slider.focus()
    assert "after step 200: “sixteen” 0.98, “eleven” 0.98" in page.said()


def test_both_ways_give_the_same_output(visit, put):
    page = live(EmbeddingLookup())
    before = numbers(page)
    assert len(before) == 5 * D_MODEL
    page.get_by_role("radio", name="one-hot × W").check()
    assert page.said().startswith("5 one-hot rows times W: in each sum of 29 products")
    assert numbers(page) == before
    assert page.locator("text.one").count() == 5
    assert page.get_by_text("F.one_hot(tokens, 29)").count() == 1


@pytest.mark.parametrize(
    ("typed", "tokens", "answer"),
    [
        ("Nine hundred and forty-two", [8, 27, 28, 21, 1], ""),
        ("seven ELEVEN", [6, 10], ""),
        ("twenty, two!", [19, 1], ""),
        ("one million and two", [0, 28, 1], "No row for “million”."),
        ("4 2", [], "No row for “4”, “2”."),
        ("4 2 million one", [0], "No row for “4”, “2”, …"),
        ("one two three four five six seven", [0, 1, 2, 3, 4, 5], "first 6 words are"),
        ("", [], ""),
    ],
)
def test_typed_words_are_looked_up(live, typed, tokens, answer):
    page = live(EmbeddingLookup(), **PHONE)
    field(page).fill(typed)
    assert page.said() == said(EmbeddingLookup(tokens=tokens))
    assert field(page).input_value() == typed
    assert answer in note(page)
    assert bool(answer) == bool(note(page))
    page.button("Reset").click()
    page.said()
    assert (field(page).input_value(), note(page)) == (
        "twenty one and twenty two",
        "",
    )


def test_typing_lets_go_of_the_chosen_word(live):
    page = live(EmbeddingLookup(selected=[9, 0]))
    assert page.said().startswith("“ten” is row 9")
    field(page).fill("three two")
    assert page.said() == said(EmbeddingLookup(tokens=[2, 1]))
    assert chosen(page) == "three"


def box_of(label):
    """Left, right, top, bottom of a label, without the air around it."""
    wide = 7.5 * len(label["text"])
    left = (
        label["x"] - {"start": 0, "middle": wide / 2, "end": wide}[label["text-anchor"]]
    )
    return left, left + wide, label["y"] - 6, label["y"] + 6


def test_labels_stand_apart_and_the_chosen_one_beside_its_point():
    state = EmbeddingLookup().state()
    asked = json.dumps({"state": state, "rooms": [304, 344, 704]})
    clouds = json.loads(run_node("--input-type=module", "-e", CLOUD, stdin=asked))
    assert len(clouds) == 3 * len(STEPS) * 29
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


def test_signs_and_shades_have_a_legend(live):
    page = live(EmbeddingLookup())
    texts = page.locator(".picture svg").first.text_content()
    for meaning in ("units", "no group", "thick lines to its nearest", "below 0"):
        assert meaning in texts
    looks = (
        page.locator(".picture svg")
        .first.locator("path.dot")
        .evaluate_all("(all) => all.map((dot) => dot.classList.value)")
    )
    keys = [" ".join(look.split()) for look in looks[29:]]
    assert keys == ["dot", "dot", "dot", "dot none", "dot on"]
    assert {" ".join(look.split()) for look in looks} == set(keys)


def test_a_legend_names_only_what_there_is(live):
    page = live(EmbeddingLookup([*"ab"], ROWS, groups=["x", "y"]))
    texts = page.locator(".picture svg").first.text_content()
    assert "chosen" in texts
    assert "no group" not in texts


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_typed_text_is_inert(live, kind):
    page = live(EmbeddingLookup(), **PHONE)
    field(page).evaluate(
        "(node, text) => { node.value = text; node.dispatchEvent(new Event('input')) }",
        HOSTILE[kind],
    )
    assert page.said().startswith("No word is looked up.")
    assert page.locator(".error").is_hidden()
    assert page.locator(".tl-live img").count() == 0
    assert page.wide() <= 320
    assert len(note(page)) < 200


def test_link_brings_typed_words_back(visit, live):
    page = live(EmbeddingLookup())
    field(page).fill("sixty-six")
    here = page.said()
    page.locator("summary", has_text="Export").click()
    page.button("Copy link").click()
    link = page.locator("textarea").input_value()
    again = visit()
    again.goto(link)
    again.wait_for_selector(READY)
    assert again.said() == here == said(EmbeddingLookup(tokens=[23, 5]))
    assert field(again).input_value() == "sixty six"


def test_a_click_on_a_point_holds_its_word(visit, put):
    page = visit()
    figure = EmbeddingLookup(step=0)
    page.open(put(figure.html()))
    spot = page.locator("path.dot").nth(3).bounding_box()
    x, y = spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2
    page.mouse.click(x, y)
    page.BLUR()
    row = figure.words.index(page.said().split("”")[0][1:])
    assert page.said() == said(EmbeddingLookup(step=0, selected=[row, 0]))
    assert chosen(page) == figure.words[row]


def test_a_finger_chooses_a_word_where_its_neighbors_are(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 684})
    figure = EmbeddingLookup()
    page.open(put(figure.html()))
    assert chosen(page) == "twenty"
    nearest(page).select_option("ten")
    figure.selected = [figure.words.index("ten"), 0]
    page.evaluate("() => document.activeElement.blur()")
    assert page.said() == said(figure)
    box = nearest(page).bounding_box()
    assert box["height"] >= 44
    slider = page.get_by_role("slider", name="Training").bounding_box()
    bars = page.locator("svg[role=img]").bounding_box()
    assert slider["y"] < box["y"] < bars["y"]
    assert bars["y"] + bars["height"] - slider["y"] < 350


def test_the_picture_keeps_its_place_while_training(live):
    page = live(EmbeddingLookup(step=0), viewport={"width": 360, "height": 900})
    slider = page.get_by_role("slider", name="Training")
    tops = set()

    def look():
        page.said()
        foot, whole = (page.locator(x).bounding_box() for x in (".foot", ".fig"))
        tops.add(round(foot["y"] - whole["y"], 2))

    for i in range(len(STEPS)):
        slider.fill(str(i))
        look()
    for words in ("one million", "quadrillions antidisestablishment 2"):
        field(page).fill(words)
        look()
    page.get_by_role("radio", name="one-hot × W").check()
    look()
    assert len(tops) == 1


def test_a_single_table_has_no_training(visit, put):
    page = visit()
    figure = EmbeddingLookup(["ab", "New York"], [[1.0, 0.5], [0.5, 1.0]])
    page.open(put(figure.html()))
    assert page.get_by_label("Training").is_hidden()
    assert page.said() == "2 words: rows 0, 1 of the table, copied, are the output."
    assert note(page) == ""


def test_forced_colors_leave_the_shades_of_looked_up_rows(live):
    page = live(EmbeddingLookup(), forced_colors="active")
    fills = page.locator(".lookup").evaluate_all(
        "(all) => all.map((rect) => getComputedStyle(rect).fill)"
    )
    assert fills == ["none"] * 10
    shown = page.locator(".cell").evaluate_all(
        "(all) => all.map((rect) => getComputedStyle(rect).fill)"
    )
    assert len(set(shown)) == 2


def test_a_table_of_ones_own_says_nothing_of_our_training(live):
    page = live(EmbeddingLookup())
    assert "next word in the numbers 1 to 999" in page.locator(".about").inner_text()
    assert "next word" in EmbeddingLookup().html()
    assert EmbeddingLookup(["a", "b"], [[1, 0], [0, 1]]).about == ""


def test_tab_reaches_each_part_once(live):
    page = live(EmbeddingLookup())
    stops = ["button", "input", "input", "gridcell", "input", "select"]
    assert tab_stops(page.page) == [*stops, "button", "summary", "summary"]


@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize(("count", "d_model"), [(2, 2), (29, 6), (64, 16), (64, 2)])
def test_every_size_of_table_fits(visit, put, count, d_model, width):
    rng = np.random.default_rng(1)
    page = visit(viewport={"width": width, "height": 900})
    words = [f"word{i:06}" for i in range(count)]
    tokens = [i % count for i in range(6)]
    table = rng.normal(size=(count, d_model))
    page.open(put(EmbeddingLookup(words, table, tokens=tokens).html()))
    assert page.wide() <= width
    room = page.locator(".fig").bounding_box()
    for box in page.locator(".picture svg text").evaluate_all(
        "(all) => all.map((t) => { const b = t.getBoundingClientRect();"
        "return [b.left, b.right, t.textContent]; })"
    ):
        assert box[0] >= room["x"] - 1, box
        assert box[1] <= room["x"] + room["width"] + 1, box


@pytest.mark.parametrize(
    ("row", "part"),
    [
        (19, " Its one-hot row: a 1 at place 19, 28 zeros. "),
        (9, " It is not in your text. "),
    ],
)
def test_a_one_is_said_only_where_the_picture_shows_it(row, part):
    figure = EmbeddingLookup(view="one-hot", selected=[row, 0])
    assert part in said(figure)
    assert ("a 1 at place" in said(figure)) == (row in figure.tokens)
    figure.view = "lookup"
    assert part not in said(figure)


def test_little_room_is_kept_for_the_note_on_a_phone(live):
    page = live(EmbeddingLookup(), viewport={"width": 360, "height": 660})
    field(page).fill("million thousand")
    page.said()
    choice = page.locator(".choice").bounding_box()
    told = page.locator(".note").bounding_box()
    picture = page.locator(".picture").bounding_box()
    assert choice["y"] + choice["height"] <= told["y"]
    assert told["y"] + told["height"] <= picture["y"]
    assert picture["y"] - choice["y"] - choice["height"] < 30
