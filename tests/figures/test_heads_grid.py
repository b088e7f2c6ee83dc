"""HeadsGrid: its numbers are PyTorch's, and what it says of them."""

import itertools
import json
import random
from copy import deepcopy

import matplotlib
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from figure_page import (
    assert_fits,
    at_widths,
    edges,
    must_notice,
    refusals,
    run_script,
    said_of,
    shown,
    shown_all,
)
from playwright.sync_api import expect
from tolerances import PAGE_TOLERANCE, assert_near
from touch import FINGER
from weights_page import asked_for, runs

from transformer_book import pretrained
from transformer_book.figures.heads_grid.figure import HeadsGrid
from transformer_book.figures.heads_grid.record import period_of
from transformer_book.figures.weights import pack, pack_model
from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.inspection import (
    ablate_heads,
    attention_layers,
    induction_score,
    previous_token_score,
    record_attention,
)

# What the page makes of states: of the stored numbers, or with a model that runs there.
RUN = """
import figure from "./transformer_book/figures/heads_grid/view.mjs";
import {
  createRunner, numbers,
} from "./transformer_book/figures/heads_grid/numbers.mjs";
const { layout, locked, pytorch, sentence, table } = figure;
const [states, saying] = job;
const runner = model ? createRunner(model) : undefined;
done(states.map((state) => {
  const { maps, scores, first, loss } = numbers(state, runner);
  const alone = maps.map((layer, l) => layer.map((_, h) => loss([[l, h]])));
  const losses = { now: loss(state.off), on: loss([]), first: first ?? 0, alone };
  const all = maps.flat(2).flatMap((row) => [...row]);
  const geometry = saying && layout(state, 680, runner);
  return { maps: all, scores, ...losses, ...(saying && {
    sentence: sentence(geometry, locked(state)),
    table: table(geometry), pytorch: pytorch(state, geometry),
  }) };
}));
"""
PLACES = "all => all.map((text) => [text.getBBox().x, +text.getAttribute('y')])"
BOXES = "all => all.map((text) => text.getBoundingClientRect().toJSON())"
SORTS = ("layer", "entropy", "previous", "induction", "loss")


def config(**sizes):
    small = {"vocab_size": 64, "d_model": 16, "n_layers": 2, "n_heads": 4}
    return Config(**{**small, "d_ff": 24, "max_len": 32, **sizes})


def sharp(model):
    """A model whose heads differ: large queries, and embeddings that matter."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.mul_(4.0 if "query" in name else 1.5)
    return model.eval()


def models():
    torch.manual_seed(0)
    return [
        Decoder(config()),
        Decoder(config(n_layers=3, n_heads=2, n_kv_heads=1, norm="layer")),
        Decoder(config(n_layers=1, positions="learned", bias=True, residual="post")),
    ]


def heads_of(figure):
    maps = figure.stored["maps"]
    return [[i, j] for i, layer in enumerate(maps) for j in range(len(layer))]


def varied(figure, draw):
    """The same figure with heads off, something held, and another order."""
    heads, size = heads_of(figure), len(figure.ids)
    figure.update(
        off=draw.sample(heads, draw.randint(0, min(5, len(heads)))),
        selected=draw.choice([[], draw.choice(heads)]),
        shown=draw.sample(heads, draw.randint(1, min(2, len(heads)))),
        sort=draw.choice(SORTS),
        pair=draw.choice([[], [draw.randrange(size), draw.randrange(size)]]),
    )
    return figure


def read_by(figure, model):
    """What PyTorch's inspection says of a figure's state: maps, scores and losses."""
    names, tokens = list(attention_layers(model)), torch.tensor([figure.ids])
    period, triangle = period_of(figure.ids), torch.tril_indices(*[tokens.numel()] * 2)

    def losses(off):
        chosen = {names[i]: [head for j, head in off if j == i] for i, _ in off}
        off_now, recording = ablate_heads(model, chosen), record_attention(model)
        with torch.no_grad(), off_now, recording as record:
            logits = model(tokens)
        each = F.cross_entropy(logits[0, :-1], tokens[0, 1:], reduction="none")
        return each, [record[name] for name in names]

    all_on, _ = losses([])
    now, maps = losses(figure.off)
    entropies = torch.special.entr(torch.cat(maps)).sum(-1).mean(-1)
    scores = [entropies, torch.stack([*map(previous_token_score, maps)])]
    if period:
        scores.append(torch.stack([induction_score(each, period) for each in maps]))
    alone = [losses([head])[0][period:].mean() for head in heads_of(figure)]
    return {
        "maps": torch.cat(maps)[..., *triangle].flatten(),
        "scores": torch.stack(scores, dim=-1),
        "now": now[period:].mean(),
        "on": all_on[period:].mean(),
        "first": all_on[: period - 1].mean() if period else torch.tensor(0.0),
        "alone": torch.stack(alone).view(len(maps), -1),
    }


def assert_same(got, want):
    """Compare maps, scores and losses, wherever they were computed."""
    for name, numbers in want.items():
        found = torch.tensor(got[name], dtype=numbers.dtype)
        assert_near(found, numbers, PAGE_TOLERANCE)


def ask_page(figures, packed=b"", **traits):
    """What the page makes of each figure; with a packed model, by running it."""
    states = [figure.state() | traits for figure in figures]
    return run_script(RUN, [states, not traits], packed)


FOUR = [[0, 0], [0, 1], [1, 2], [1, 3]]
NAMED = "layer 0, head 0; layer 0, head 1; layer 1, head 2; layer 1, head 3"
MOST = "Highest score for the previous token: layer 0, head 2"
FOLLOWS = "for the token after its earlier copy: layer 1, head 3"
HELD = (
    "induction 0.88, previous token 0.06, entropy 0.48 nats. Switched off alone, it "
    "changes the loss from 0.07 to 0.29."
)
SAID = {
    "With all 8 heads on, the loss on later copies is 0.07 nats per token, 4.16 on "
    f"the first. {MOST} (0.78); {FOLLOWS} (0.95).": {},
    f"Off: {NAMED}. The loss on later copies is 3.82 nats per token (0.07 with all "
    f"heads on). {MOST} (0.78); {FOLLOWS} (0.93).": {"off": FOUR},
    "Off: layer 0, head 0; layer 0, head 1; layer 1, head 0; layer 1, head 2 and 1 "
    "more. The loss on later copies is 5.05 nats per token (0.07 with all heads "
    "on). "
    f"{MOST} (0.78); {FOLLOWS} (0.93).": {"off": [*FOUR, [1, 0]]},
    f"With all 8 heads on, the loss is 3.89 nats per token. {MOST} (0.85).": {
        "ids": [5, 5, 6]
    },
    f"Layer 1, head 0, off: {HELD}": {"off": [[1, 0]], "selected": [1, 0]},
    f"Layer 1, head 0: {HELD} Off now: layer 1, head 3; loss 2.58.": {
        "off": [[1, 3]],
        "selected": [1, 0],
    },
    f"Layer 1, head 0, off: {HELD} Off now: layer 1, head 0; layer 1, head 3; "
    "loss 1.95.": {"off": [[1, 0], [1, 3]], "selected": [1, 0]},
    "Layer 0, head 1: previous token 0.42, entropy 0.59 nats. Switched off alone, it "
    "changes the loss from 3.89 to 3.85.": {"ids": [5, 5, 6], "selected": [0, 1]},
    "Query 13 “j” and key 4 “t”, the token after its earlier copy: layer 1, head 3 "
    "gives it 97%; layer 0, head 2 gives it 0%.": {"pair": [13, 4]},
    "Query 5 “a” and key 4 “t”, the previous token: layer 1, head 3 gives it less than "
    "1%; layer 0, head 2 gives it 80%.": {"pair": [5, 4]},
    "Query 10 “l” and key 1 “r”, the token after its earlier copy: layer 1, head 3 "
    "gives it 72%; layer 0, head 2 gives it less than 1%.": {"pair": [10, 1]},
    "Query 9 “v” and key 0 “l”: layer 1, head 3 gives it 0%; layer 0, head 2 gives it "
    "0%.": {"pair": [9, 0]},  # before the second copy, nothing follows an earlier one
    "Query 3 “j” may not attend to key 4 “t”, which comes later.": {"pair": [3, 4]},
}


@pytest.fixture(scope="module")
def shipped_figures():
    draw = random.Random(2)
    letters = [draw.sample(range(1, 27), n) * 2 for n in (2, 16)]
    texts = [*letters, draw.choices(range(64), k=17), [0, 63]]
    made = [HeadsGrid(**state) for state in SAID.values()]
    made += [HeadsGrid(sort=sort) for sort in SORTS]
    return made + [varied(HeadsGrid(ids=ids), draw) for ids in texts]


@pytest.fixture(scope="module")
def own():
    """Models of the reader's own, and a figure of each."""
    draw = random.Random(1)
    texts = [3, 1, 4, 1, 5], [9, 2, 6, 5, 35, 8] * 2 + [9]
    made = itertools.product(map(sharp, models()), texts)
    return [(varied(HeadsGrid.of(model, ids), draw), model) for model, ids in made]


@pytest.fixture(scope="module")
def pages(shipped_figures, own):
    """Each figure, its model, and what the page makes of its stored numbers."""
    model = pretrained.load("induction-2").model
    pairs = [*((figure, model) for figure in shipped_figures), *own]
    made = ask_page([figure for figure, _ in pairs])
    return [(*pair, answer) for pair, answer in zip(pairs, made, strict=True)]


@pytest.fixture(scope="module")
def computed(shipped_figures):
    """What the page makes of each figure of the shipped model, running it."""
    return ask_page(shipped_figures, pack("induction-2"))


def test_the_numbers_are_those_of_inspection(pages, computed):
    """Those that Python stored, and those that the page computes itself."""
    known = {}
    for (figure, model, stored), live in itertools.zip_longest(pages, computed):
        asked = str((id(model), figure.ids, figure.off))
        want = known[asked] = known.get(asked) or read_by(figure, model)
        assert_same(stored, want)
        if live:
            assert_same(live, want)
            assert live["sentence"] == stored["sentence"]


def test_the_page_computes_any_model_of_that_kind(own):
    for figure, model in own[1::2]:
        (answer,) = ask_page([figure], pack_model(model), source="somewhere")
        assert_same(answer, read_by(figure, model))


def test_the_table_says_each_head_in_the_order_of_the_sort(pages):
    for figure, _, answer in pages:
        names = ["entropy", "previous token", "induction", "loss with it off"]
        if not period_of(figure.ids):
            names.remove("induction")
        numbers = [
            [*scores, alone]
            for layer in zip(answer["scores"], answer["alone"], strict=True)
            for scores, alone in zip(*layer, strict=True)
        ]
        rows = list(zip(heads_of(figure), numbers, strict=True))
        column = [name.split()[0] for name in names]
        if figure.sort in column:  # entropies from low to high
            place, sign = column.index(figure.sort), 1 - 2 * (figure.sort != "entropy")
            rows.sort(key=lambda row: sign * row[1][place])
        assert answer["table"]["header"] == ["head", "now", *names]
        assert answer["table"]["rows"] == [
            [f"layer {i}, head {j}", "off" if [i, j] in figure.off else "on"]
            + [f"{x:.4f}" for x in row]
            for (i, j), row in rows
        ]


def test_the_sentence_in_full(computed):
    assert [answer["sentence"] for answer in computed[: len(SAID)]] == list(SAID)
    held = {}, {"selected": [1, 0]}, {"pair": [5, 4]}
    states = [HeadsGrid().state() | {"off": [[1, 3]]} | state for state in held]
    for answer in run_script(RUN, [states, True]):
        assert ", not recomputed." in answer["sentence"]  # scores of other heads


def test_copied_pytorch_runs_and_stops_when_a_number_is_wrong(pages, computed):
    for answer in [*(page[-1] for page in pages), *computed]:
        exec(answer["pytorch"], {})
    periodic = [page for page in pages if period_of(page[0].ids)]
    mistakes = {"_score(weights, ": "_score(0.5 * weights, "}
    mistakes["_score(weights)"] = "_score(0.5 * weights)"
    must_notice(periodic[-1][-1]["pytorch"], mistakes, match="not close")
    mistakes["(loss, torch.tensor("] = "(2 * loss, torch.tensor("
    must_notice(periodic[0][-1]["pytorch"], mistakes, match="not close")


def test_a_period_is_found_only_in_what_repeats_to_its_end():
    known = {"123123": 3, "1231231": 3, "123124": 0, "7777": 2, "121": 0, "12341": 0}
    texts = [[*map(int, text)] for text in known]
    pages = shown_all([HeadsGrid(ids=ids) for ids in texts])
    for ids, period, page in zip(texts, known.values(), pages, strict=True):
        assert period_of(ids) == page.geometry["period"] == period
    small = shown(HeadsGrid(ids=[1, 2, 1], sort="induction")).geometry["small"]
    texts = [text[2] for thumb in small["thumbs"] for text in thumb["texts"]]
    assert not {"induction", "0.00"} & {*texts}  # where nothing repeats


def test_the_lesson_equal_stripes_matter_differently_and_need_two_layers():
    figure, one_layer = HeadsGrid(), HeadsGrid(source="induction-1")
    below, above = figure.stored["scores"]
    assert [induction > 0.85 for *_, induction in above] == [True, False, True, True]
    (_, on), *alone = figure.stored["losses"]
    *below_off, first, second, third, fourth = (loss for _, loss in alone)
    assert fourth > 8 * max(first, third)
    assert second > 1.5 * first
    assert below[3][1] > 0.5
    assert below_off[3] < on

    assert max(induction for *_, induction in one_layer.stored["scores"][0]) < 0.2
    assert one_layer.stored["losses"][0][1] > 3

    figure.off = [[0, 2]]  # without the previous-token head the stripe fades
    assert figure.stored["scores"][1][0][2] < 0.75 * above[0][2]
    assert figure.stored["scores"][0] == below


def test_a_bar_keeps_its_length_while_its_number_stays():
    states = [HeadsGrid(off=off) for off in ([], FOUR, [*FOUR, [1, 0]])]
    pages = shown_all(states)  # the last loss is the largest of all
    rows = zip(*(page.geometry["bars"]["rows"] for page in pages), strict=True)
    first, _, now = ({row["bar"]["width"] for row in same} for same in rows)
    assert (len(first), len(now)) == (1, 3)


def test_a_model_is_left_as_it_was_and_its_dropout_plays_no_part():
    model = Decoder(config(dropout=0.5, attention_dropout=0.5)).train()
    before = deepcopy(model.state_dict())
    state = {"tokens": [*"abc"], "off": [[0, 1]]}
    one, other = (HeadsGrid.of(model, [[1, 2, 3]], **state) for _ in range(2))
    assert one.stored == other.stored
    assert model.training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    attends = {layer.attend.__name__ for layer in attention_layers(model).values()}
    assert attends == {"fused_attention"}


def test_tokens_are_numbers_unless_given_and_tensors_are_unpacked():
    for ids in ([4, 5], torch.tensor([4, 5]), torch.tensor([[4, 5]])):
        figure = HeadsGrid.of(MODEL, ids)
        assert (figure.ids, figure.tokens) == ([4, 5], ["4", "5"])
    assert HeadsGrid.of(MODEL, [4, 5], ["a", "b"]).tokens == ["a", "b"]
    assert HeadsGrid(ids=[1, 26, 27]).tokens == ["a", "z", "27"]


def test_the_readers_model_reads_on_and_a_refused_one_changes_nothing():
    first, second = models()[:2]
    figure = HeadsGrid.of(first, [1, 2, 3])
    before = figure.state()
    with pytest.raises(ValueError, match=r"selected\[1\] must be .* 0 to 1, got 2"):
        figure.update(model=second, ids=[1, 2], selected=[2, 2])
    assert figure.state() == before
    figure.off = [[1, 3], [0, 0]]  # of the first model still
    assert figure.off == [[0, 0], [1, 3]]
    figure.update(ids=[9, 8, 7] * 2, tokens=[*"abcabc"])
    assert_same(*ask_page([figure]), read_by(figure, first.eval()))
    ids = random.Random(0).choices(range(64), k=32)
    model = Decoder(config(n_layers=4))
    assert len(heads_of(HeadsGrid.of(model, ids[:20]))) == 16
    for asked, words in (
        (ids, r"at most 20000 bytes, got \d+"),
        (torch.tensor([[1, 2], [3, 4]]), "ids must be one sequence, got 2"),
        ([1, 64], r"ids\[1\] must be an integer from 0 to 63"),
    ):
        with pytest.raises(ValueError, match=words):
            HeadsGrid.of(model, asked)


ROW = [1] * 6
MODEL = Decoder(config())
STORED = HeadsGrid.of(MODEL, [1, 2, 3]).state()


def with_stored(**part):
    return {**STORED, "stored": {**STORED["stored"], **part}}


test_bad_states_say_why = refusals(
    HeadsGrid,
    ({"ids": [1, 64], "tokens": [*"ab"]}, r"ids\[1\] must be .* 0 to 63, got 64"),
    ({"ids": [1, -1]}, r"ids\[1\] must be .* from 0 to 63, got -1"),
    ({"ids": [1]}, "length of tokens must be .* 2 to 32, got 1"),
    ({"ids": [1, 2, 3], "tokens": [*"ab"]}, "of ids must be 2, got 3; .* together"),
    ({"off": [[2, 0]]}, r"off\[0\]\[0\] must be .* 0 to 1, got 2"),
    ({"off": [[0, 4]]}, r"off\[0\]\[1\] must be .* 0 to 3, got 4"),
    ({"off": [[0, 1], [0, 1]]}, "off must be a list of different entries, got"),
    ({"selected": [0, -1]}, r"selected\[1\] must be .* 0 to 3, got -1"),
    ({"shown": []}, "length of shown must be .* 1 to 2, got 0"),
    ({"shown": [[0, 0], [0, 1], [0, 2]]}, "length of shown must be .*, got 3"),
    ({"shown": [[0, 0.5]]}, r"shown\[0\]\[1\] must be .*, got 0.5"),
    ({"pair": [20, 0]}, r"pair\[0\] must be .* 0 to 19, got 20"),
    ({"source": "induction-1", "shown": [[1, 3]]}, r"shown\[0\]\[0\] must be 0, got 1"),
    ({"sort": "size"}, 'sort must be one of layer, .*, got "size"'),
    ({"source": "gpt2"}, 'source must be one of .*, Python, got "gpt2"'),
    ({"source": "Python"}, "stored.source must be .*; HeadsGrid.of"),
    ({**STORED, "ids": [1, 2, 4]}, r"those of the stored maps, got \[1, 2, 4\]; a"),
    (with_stored(maps=[]), "length of stored.maps must be .* 1 to 99, got 0"),
    (with_stored(maps=[[], []]), r"length of stored.maps\[0\] must be 1, got 0"),
    (with_stored(maps=[[ROW], [ROW] * 2]), r"of stored.maps\[1\] must be 1, got 2"),
    (with_stored(maps=[[[*ROW[1:], 10_001]] * 4] * 2), "0 to 10000, got 10001"),
    (with_stored(maps=[[[*ROW[1:], 0.5]] * 4] * 2), "an integer .*, got 0.5"),
    (with_stored(scores=[[[1.0] * 4] * 4] * 2), "must be .* 2 to 3, got 4"),
    later=False,
)


def switch(page, layer, head, now="off"):
    """Click on the button that switches a head; what is said of the whole then."""
    page.push(f"Switch layer {layer}, head {head} {now}")
    page.mouse.move(0, 0)
    return page.said()


def small(page, layer, head):
    """The cell of a small map."""
    return page.locator(f"[data-row='{layer}'][data-col='{head}']").first


def losses(page):
    """The picture of the losses as bars."""
    return page.locator("svg[aria-label*='copy']").first


def letters(page):
    """The tokens above the columns of both large maps."""
    return page.locator(".panel:visible .token.key").all_text_contents()


def test_the_lesson_a_head_is_switched_off_and_the_loss_jumps(live):
    page = live(HeadsGrid())
    label = losses(page).get_attribute("aria-label")
    assert label.endswith("after switching off: unknown")
    said = switch(page, 1, 3)
    assert said == said_of(HeadsGrid(off=[[1, 3]]))
    assert "Off: layer 1, head 3. The loss on later copies is 2.58" in said
    label = losses(page).get_attribute("aria-label")
    assert label.endswith("layer 1, head 3 off: 2.58")
    assert page.locator("g.off").count() == 1
    small(page, 1, 0).click()
    both = HeadsGrid(off=[[1, 0], [1, 3]], selected=[1, 0])
    assert switch(page, 1, 0) == said_of(both)  # no number of this pair was stored
    page.button("All on").focus()
    assert "Off now" not in page.press("Enter")
    assert page.locator("g.off").count() == 0
    for label, sort in (("loss if off", "loss"), ("entropy, low first", "entropy")):
        page.get_by_label("Sort by").select_option(label=label)
        page.said()
        names = page.locator("[aria-hidden] .strong").all_text_contents()
        rows = [name.replace("L", "layer ").replace(" H", ", head ") for name in names]
        assert rows == [row[0] for row in shown(HeadsGrid(sort=sort)).rows]


def test_two_maps_are_compared_and_a_pair_is_held_in_both(live):
    page = live(HeadsGrid())
    compare = page.get_by_label("Compare with")
    compare.select_option(label="layer 1, head 1")
    cell = "[role=grid][aria-label^='{}'] [data-row]"
    page.locator(cell.format("The selected head")).focus()
    down, right = ["ArrowDown"] * 13, ["ArrowRight"] * 4
    said = page.press("End", "ArrowLeft", *down, "Home", *right, "Enter")
    assert said == said_of(HeadsGrid(shown=[[1, 3], [1, 1]], pair=[13, 4]))
    other = page.locator(cell.format("The compared head"))
    assert other.get_attribute("aria-selected") == "true"
    compare.select_option(label="nothing")
    assert not other.is_visible()
    page.push("Reset")
    small(page, 1, 3).click()
    page.said_at_rest()
    strokes = "ring => ['stroke', 'strokeWidth'].map((k) => getComputedStyle(ring)[k])"
    (held, wide), (compared, narrow) = (
        small(page, *head).locator(".ring").evaluate(strokes)
        for head in ((1, 3), (0, 2))
    )
    assert len({"none", held, compared}) == 3  # told from each other by frames
    assert wide > narrow
    names = [m.get_attribute("aria-label") for m in page.locator(".shown").all()]
    assert [name[:15] for name in names] == ["Layer 0, head 2", "Layer 1, head 3"]
    assert page.get_by_text("Framed: enlarged").is_visible()


def test_a_phone_shows_switch_losses_and_maps_at_once(live):
    # as wide as in the book at 360 pixels
    page = live(HeadsGrid(), more=False, **FINGER | {"width": 344, "height": 684})
    small(page, 1, 3).tap()
    page.button("Switch layer 1, head 3 off").tap()
    page.said()
    numbers = losses(page).locator(".strong").all_text_contents()
    assert numbers == ["4.16", "0.07", "2.58"]
    top = edges(page.locator(".controls").first).top
    switched = edges(page.button("Switch layer 1, head 3 on"))
    drawn = edges(losses(page))
    assert 0 < drawn.top - switched.bottom < 50
    for captions in page.locator(".caption").all():
        assert drawn.top < edges(captions).top
        assert edges(captions).bottom <= top + 684


def test_space_switches_a_head_by_keyboard_alone_and_scrolls_nothing(live):
    page = live(HeadsGrid(), width=360, height=600)
    page.grid().focus()
    keys = ("Home", "ArrowRight", "ArrowRight", " ", "ArrowDown", "Enter")
    want = HeadsGrid(off=[[0, 2]], selected=[1, 2])
    assert page.press(*keys) == said_of(want)
    page.press("Escape", "ArrowUp", " ")
    assert page.said_at_rest() == said_of(HeadsGrid())
    page.push("Reset")
    off = []
    for label, head in (("The selected head", [1, 3]), ("The compared head", [0, 2])):
        page.get_by_role("grid", name=label).locator("[role=gridcell]").focus()
        page.said()
        before = page.evaluate("scrollY")
        page.press(" ")
        assert page.evaluate("scrollY") == before > 0
        off = sorted([*off, head])
        assert page.said_at_rest() == said_of(HeadsGrid(off=off))


def test_other_letters_and_more_of_them_are_computed_here(live):
    page = live(HeadsGrid())
    before = letters(page)

    def shows(kept, count):
        """Twice so many letters, these first; the sentence is that of all."""
        said, names = page.said_at_rest(), letters(page)[: 2 * count]
        assert names[:count] == names[count:]
        assert len(set(names)) == count
        assert "".join(names).startswith(kept)
        assert said == said_of(HeadsGrid(ids=[ord(name) - 96 for name in names]))

    for key, count, kept in (
        ("ArrowRight", 11, "lrhjtaewuv"),
        ("Home", 2, "lr"),
        ("ArrowRight", 3, "lr"),
    ):
        page.slider("Letters").press(key)
        shows(kept, count)
    page.push("Reset")
    page.push("Other letters")
    assert letters(page) != before
    shows("", 10)


def test_a_link_to_other_letters_waits_for_the_model(visit, put):
    ids = [1, 2, 3, 4, 5] * 2
    wanted = HeadsGrid(ids=ids, off=[[0, 2]])
    patch = {"ids": ids, "tokens": wanted.tokens, "off": [[0, 2]]}
    page = visit()
    file = put(HeadsGrid().html())
    page.follow(f"{page.server}/{file}#heads_grid-1={json.dumps(patch)}")
    runs(page.page)
    assert page.said() == said_of(wanted)


def test_without_the_model_the_stored_numbers_stay(live):
    page = live(HeadsGrid(), model=False)
    assert page.button("Other letters").is_disabled()
    assert "is 2.58 nats per token" in switch(page, 1, 3)  # one head alone was stored
    small(page, 0, 2).click()
    assert "loss unknown here" in switch(page, 0, 2)


def test_pythons_own_model_wins_and_asks_for_no_other(visit, put):
    page = visit()
    asked = asked_for(page.page)
    figure = HeadsGrid.of(sharp(models()[0]), [1, 2, 3, 1, 2, 3], list("abcabc"))
    page.open(put(figure.html()))
    assert page.said() == said_of(figure)
    assert "Computed in Python" in page.locator(".coming").inner_text()
    page.locator("[data-row]").first.click()
    figure.update(selected=[0, 0], shown=[[0, 0], *figure.shown[1:]])
    assert page.said_at_rest() == said_of(figure)
    assert not asked


def test_every_width_fits_and_names_all(live):
    texts = [[*range(1, count // 2 + 1)] * 2 for count in (2, 20, 32)]
    figures = [HeadsGrid(ids=ids, off=FOUR, pair=[1, 0]) for ids in texts]
    ids = [*range(31, 47)] * 2
    long_names = HeadsGrid(ids=ids, shown=[[1, 3]])
    page = live(HeadsGrid(off=[[1, 3]]), *figures, long_names, width=320, height=9000)
    off = page.locator(".tl-figure").first.locator("g.off .caption text")
    last, long = (page.locator(".tl-figure").nth(nth) for nth in (3, 4))
    expect(page.locator("[data-mounted]")).to_have_count(5)
    assert letters(long)[::2] == [str(token) for token in ids[::2]]
    assert set(letters(long)[1::2]) == {""}
    assert long.get_by_text("every 2nd token labeled").is_visible()
    for width in at_widths(page, 320, 360, 1280):
        assert_fits(page, width)
        boxes = page.locator(".caption text:not(:empty)").evaluate_all(BOXES)
        for one, other in itertools.combinations(boxes, 2):
            beside = abs(one["y"] - other["y"]) > 8 or one["right"] <= other["x"]
            assert beside or other["right"] <= one["x"], width
        seen = [text for text in off.all_text_contents() if text]
        assert seen == ["L1 H3", "0.95", "induction", "✗ off"]
        mark, *_, name = (edges(text) for text in reversed(off.all()))
        assert mark.bottom < name.top
        for kind in ("query", "key"):  # each letter at its row and column
            labels = last.locator(f".panel:visible .token.{kind}")
            assert labels.all_text_contents() == figures[-1].tokens * 2
            half = labels.evaluate_all(PLACES)[:32]
            for (x, y), (u, v) in itertools.combinations(half, 2):
                assert abs(x - u) > 6 or abs(y - v) > 11


def test_a_scale_says_which_color_is_which_weight():
    small = shown(HeadsGrid()).geometry["small"]
    assert [text[2] for text in small["scale"]["texts"]] == ["weight 0", "1"]
    fills, maps = (
        [shade["fill"] for each in all_of for shade in each["shades"]]
        for all_of in ([small["scale"]], small["thumbs"])
    )
    colors = np.array([fill[4:-1].split(",") for fill in fills], float)
    wanted = matplotlib.colormaps["cividis"](np.linspace(0, 1, 11))[:, :3]
    np.testing.assert_allclose(colors, 255 * wanted, atol=3)
    assert set(maps) == set(fills)
    places = [float(shade["d"][1:].split()[0]) for shade in small["scale"]["shades"]]
    assert places == sorted(set(places))
