"""HeadsGrid: its numbers are PyTorch's, and what it says of them."""

import itertools
import json
import random

import matplotlib
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from figure_page import (
    assert_fits,
    must_notice,
    refusals,
    run_script,
    said_of,
    shown,
    shown_all,
)
from playwright.sync_api import expect
from tolerances import PAGE_TOLERANCE, assert_near
from touch import PHONE
from weights_page import runs

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
function counted({ maps, scores, first, loss }, { off }) {
  const alone = maps.map((layer, l) => layer.map((_, h) => loss([[l, h]])));
  return { maps, scores, first, loss: loss(off), on: loss([]), alone };
}
function said(state) {
  const geometry = layout(state, 680, runner);
  return {
    sentence: sentence(geometry, locked(state)),
    table: table(geometry), pytorch: pytorch(state, geometry),
  };
}
done(states.map((state) => ({
  ...counted(numbers(state, runner), state), ...(saying ? said(state) : {}),
})));
"""
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


def loss(figure, off):
    """The loss that Python computed with these heads off."""
    return next(each for heads, each in figure.stored["losses"] if heads == off)


def score(figure, head, name):
    """The score that Python computed of a head."""
    layer, number = head
    place = ["entropy", "previous", "induction"].index(name)
    return figure.stored["scores"][layer][number][place]


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
    period = period_of(figure.ids)

    def losses(off):
        chosen = {}
        for layer, head in off:
            chosen.setdefault(names[layer], []).append(head)
        with (
            torch.no_grad(),
            ablate_heads(model, chosen),
            record_attention(model) as record,
        ):
            logits = model(tokens)
        each = F.cross_entropy(logits[0, :-1], tokens[0, 1:], reduction="none")
        return each, [record[name] for name in names]

    all_on, _ = losses([])
    now, maps = losses(figure.off)
    heads = heads_of(figure)
    scores = [torch.stack([previous_token_score(layer) for layer in maps])]
    if period:
        scores.append(torch.stack([induction_score(layer, period) for layer in maps]))
    alone = torch.stack([losses([head])[0][period:].mean() for head in heads])
    return {
        "maps": torch.cat(maps),
        "scores": torch.stack(scores, dim=-1),
        "entropy": torch.cat([torch.special.entr(m).sum(-1).mean(-1) for m in maps]),
        "now": now[period:].mean(),
        "on": all_on[period:].mean(),
        "first": all_on[: period - 1].mean() if period else None,
        "alone": alone.view(len(maps), -1),
    }


def full(maps):
    """Maps of rows that end with the query's own token, as one tensor."""
    rows = [row for layer in maps for head in layer for row in head]
    n = len(maps[0][0])
    assert [len(row) for row in rows] == list(range(1, n + 1)) * (len(rows) // n)
    padded = [row + [0.0] * (n - len(row)) for row in rows]
    return torch.tensor(padded).view(len(maps), -1, n, n)


def assert_same(got, want):
    """Compare maps, scores and losses, wherever they were computed."""
    assert (got["first"] is None) == (want["first"] is None)
    scores = torch.tensor(got["scores"])
    pairs = [
        (full(got["maps"]), want["maps"]),
        (scores[..., 0], want["entropy"]),
        (scores[..., 1:], want["scores"]),
        (torch.tensor(got["alone"]), want["alone"]),
        (torch.tensor(got["loss"]), want["now"]),
        (torch.tensor(got["on"]), want["on"]),
        (torch.tensor(got["first"] or 0.0), want["first"] or torch.tensor(0.0)),
    ]
    for mine, theirs in pairs:
        assert_near(mine, theirs, PAGE_TOLERANCE)


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
    """Each figure of the shipped model and what the page makes of it, running it."""
    made = ask_page(shipped_figures, pack("induction-2"))
    return list(zip(shipped_figures, made, strict=True))


def test_the_numbers_are_those_of_inspection(pages, computed):
    """Those that Python stored, and those that the page computes itself."""
    known = {}
    for (figure, model, stored), live in itertools.zip_longest(pages, computed):
        asked = str((id(model), figure.ids, figure.off))
        want = known[asked] = known.get(asked) or read_by(figure, model)
        assert_same(stored, want)
        if live:
            assert live[0] is figure
            assert_same(live[1], want)
            assert live[1]["sentence"] == stored["sentence"]


def test_the_page_computes_any_model_of_that_kind(own):
    for figure, model in own[1::2]:
        (answer,) = ask_page([figure], pack_model(model), source="somewhere")
        assert_same(answer, read_by(figure, model))


def in_order(figure, scores, alone):
    """Heads by place, by low entropy, by a high score, or by a high loss."""

    def rank(head):
        i, j = head
        entropy, previous, *induction = scores[i][j]
        ranks = {"layer": 0, "entropy": entropy, "previous": -previous}
        ranks |= {"induction": -sum(induction), "loss": -alone[i][j]}
        return ranks[figure.sort]

    return sorted(heads_of(figure), key=rank)


def test_the_table_says_each_head_in_the_order_of_the_sort(pages):
    for figure, _, answer in pages:
        scores, alone = answer["scores"], answer["alone"]
        names = ["entropy", "previous token", "induction"][: len(scores[0][0])]
        heading = ["head", "now", *names, "loss with it off"]
        assert answer["table"]["header"] == heading
        assert answer["table"]["rows"] == [
            [f"layer {i}, head {j}", "off" if [i, j] in figure.off else "on"]
            + [f"{x:.4f}" for x in (*scores[i][j], alone[i][j])]
            for i, j in in_order(figure, scores, alone)
        ]


def test_the_sentence_in_full(computed):
    said = [answer["sentence"] for _, answer in computed]
    assert said[: len(SAID)] == list(SAID)


def test_stored_scores_of_other_heads_are_said_to_be_so():
    held = {}, {"selected": [1, 0]}, {"pair": [5, 4]}
    states = [HeadsGrid().state() | {"off": [[1, 3]]} | state for state in held]
    for answer in run_script(RUN, [states, True]):
        assert ", not recomputed." in answer["sentence"]


def test_no_induction_score_is_shown_where_nothing_repeats():
    small = shown(HeadsGrid(ids=[5, 5, 6], sort="induction")).geometry["small"]
    texts = [text[2] for thumb in small["thumbs"] for text in thumb["texts"]]
    assert not {"induction", "0.00"} & {*texts}


def test_copied_pytorch_runs_and_asserts_the_state(pages, computed):
    for figure, *_, answer in [*pages, *computed]:
        names = {}
        exec(answer["pytorch"], names)
        assert ("model" in names) == (figure.source != "Python")


def test_copied_pytorch_fails_when_a_number_is_wrong(pages):
    periodic = [page for page in pages if period_of(page[0].ids)]
    mistakes = {"_score(weights, ": "_score(0.5 * weights, "}
    mistakes["_score(weights)"] = "_score(0.5 * weights)"
    must_notice(periodic[-1][-1]["pytorch"], mistakes, match="not close")
    mistakes["(loss, torch.tensor("] = "(2 * loss, torch.tensor("
    must_notice(periodic[0][-1]["pytorch"], mistakes, match="not close")


def test_a_period_is_found_only_in_what_repeats_to_its_end():
    known = (
        ([1, 2, 3, 1, 2, 3], 3),
        ([1, 2, 3, 1, 2, 3, 1], 3),
        ([1, 2, 3, 1, 2, 4], 0),
        ([7, 7, 7, 7], 2),
        ([1, 2, 1], 0),
        ([1, 2, 3, 4, 1], 0),
    )
    pages = shown_all([HeadsGrid(ids=ids) for ids, _ in known])
    for (ids, period), page in zip(known, pages, strict=True):
        assert period_of(ids) == page.geometry["period"] == period


def test_the_lesson_equal_stripes_matter_differently():
    figure = HeadsGrid()
    for head in ([1, 0], [1, 2], [1, 3]):
        assert score(figure, head, "induction") > 0.85
    assert score(figure, [1, 1], "induction") < 0.2
    assert loss(figure, []) < 0.1
    assert figure.stored["first"] > 4
    stripes = {head: loss(figure, [[1, head]]) for head in range(4)}
    assert stripes[3] > 8 * max(stripes[0], stripes[2])
    assert stripes[1] > 1.5 * stripes[0]
    assert score(figure, [0, 3], "previous") > 0.5
    assert loss(figure, [[0, 3]]) < loss(figure, [])
    assert figure.shown == [[1, 3], [0, 2]]

    one_layer = HeadsGrid(source="induction-1")
    assert max(score(one_layer, h, "induction") for h in heads_of(one_layer)) < 0.2
    assert loss(one_layer, []) > 3

    first, before = figure.stored["scores"][0], score(figure, [1, 0], "induction")
    figure.off = [[0, 2]]  # without the previous-token head the stripe fades
    assert score(figure, [1, 0], "induction") < 0.75 * before
    assert figure.stored["scores"][0] == first


def test_python_answers_with_the_readers_own_model(own):
    figure, model = own[1]
    figure.update(ids=[9, 8, 7, 9, 8, 7], tokens=list("abcabc"), off=[], pair=[])
    assert figure.source == "Python"
    assert_same(*ask_page([figure]), read_by(figure, model))
    figure.off = [[2 - 1, 1], [0, 0]]
    assert figure.off == [[0, 0], [1, 1]]
    assert_same(*ask_page([figure]), read_by(figure, model))


def test_a_model_is_left_as_it_was_and_its_dropout_plays_no_part():
    model = Decoder(config(dropout=0.5, attention_dropout=0.5)).train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    ids, tokens = torch.tensor([[1, 2, 3]]), ["a", "b", "c"]
    one, other = (
        HeadsGrid.of(model, ids, tokens=tokens, off=[[0, 1]]) for _ in range(2)
    )
    assert one.stored == other.stored
    assert model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
        assert value.dtype == torch.float32
    attends = [layer.attend.__name__ for layer in attention_layers(model).values()]
    assert set(attends) == {"fused_attention"}


def test_tokens_are_numbers_unless_given_and_tensors_are_unpacked():
    for ids in ([4, 5], torch.tensor([4, 5]), torch.tensor([[4, 5]])):
        figure = HeadsGrid.of(MODEL, ids)
        assert (figure.ids, figure.tokens) == ([4, 5], ["4", "5"])
    assert HeadsGrid.of(MODEL, [4, 5], ["a", "b"]).tokens == ["a", "b"]
    assert HeadsGrid(ids=[1, 26, 27]).tokens == ["a", "z", "27"]


def test_a_refused_model_changes_nothing():
    first, second = models()[:2]
    figure = HeadsGrid.of(first, [1, 2, 3])
    before = figure.state()
    with pytest.raises(ValueError, match=r"selected\[1\] must be .* 0 to 1, got 2"):
        figure.update(model=second, ids=[1, 2], selected=[2, 2])
    assert figure.state() == before
    figure.off = [[0, 0], [1, 3]]  # of the first model still
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


MODEL = Decoder(config())
STORED = HeadsGrid.of(MODEL, [1, 2, 3]).state()


def with_stored(**part):
    return {**STORED, "stored": {**STORED["stored"], **part}}


test_bad_states_say_why = refusals(
    HeadsGrid,
    (
        {"ids": [1, 64], "tokens": ["a", "b"]},
        r"ids\[1\] must be .* from 0 to 63, got 64",
    ),
    ({"ids": [1, -1]}, r"ids\[1\] must be .* from 0 to 63, got -1"),
    ({"ids": [1]}, "length of tokens must be .* 2 to 32, got 1"),
    (
        {"ids": [1, 2, 3], "tokens": ["a", "b"]},
        "length of ids must be 2, got 3; .* together",
    ),
    ({"off": [[2, 0]]}, r"off\[0\]\[0\] must be .* 0 to 1, got 2"),
    ({"off": [[0, 4]]}, r"off\[0\]\[1\] must be .* 0 to 3, got 4"),
    ({"off": [[0]]}, r"length of off\[0\] must be 2, got 1"),
    ({"off": [[0, 1], [0, 1]]}, "off must be a list of different entries, got"),
    ({"selected": [0, -1]}, r"selected\[1\] must be .* 0 to 3, got -1"),
    ({"shown": []}, "length of shown must be .* 1 to 2, got 0"),
    ({"shown": [[0, 0], [0, 1], [0, 2]]}, "length of shown must be .*, got 3"),
    ({"shown": [[0, 0.5]]}, r"shown\[0\]\[1\] must be .*, got 0.5"),
    ({"pair": [20, 0]}, r"pair\[0\] must be .* 0 to 19, got 20"),
    ({"pair": [1]}, "length of pair must be 2, got 1"),
    ({"source": "induction-1", "shown": [[1, 3]]}, r"shown\[0\]\[0\] must be 0, got 1"),
    ({"sort": "size"}, "expected any of"),
    ({"source": "gpt2"}, "expected any of"),
    ({"source": "Python"}, "stored.source must be .*; HeadsGrid.of"),
    ({**STORED, "ids": [1, 2, 4]}, r"those of the stored maps, got \[1, 2, 4\]; a"),
    (with_stored(maps=[]), "length of stored.maps must be .* 1 to 99, got 0"),
    (with_stored(maps=[[], []]), r"length of stored.maps\[0\] must be 1, got 0"),
    (
        with_stored(maps=[[[1] * 6], [[1] * 6] * 2]),
        r"length of stored.maps\[1\] must be 1, got 2",
    ),
    (with_stored(maps=[[[1] * 5 + [10_001]] * 4] * 2), "from 0 to 10000, got 10001"),
    (with_stored(maps=[[[1] * 5 + [0.5]] * 4] * 2), "an integer .*, got 0.5"),
    (with_stored(scores=[[[1.0] * 4] * 4] * 2), "must be .* 2 to 3, got 4"),
    later=False,
)


def switch(page, layer, head, now="off"):
    """Click on the button that switches a head; what is said of the whole then."""
    page.push(f"Switch layer {layer}, head {head} {now}")
    page.mouse.move(0, 0)
    return page.said()


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
    one = HeadsGrid(off=[[1, 3]])
    assert switch(page, 1, 3) == said_of(one)
    assert "Off: layer 1, head 3. The loss on later copies is 2.58" in said_of(one)
    label = losses(page).get_attribute("aria-label")
    assert label.endswith("layer 1, head 3 off: 2.58")
    assert page.locator("g.off").count() == 1
    page.locator("[data-row='1'][data-col='0']").first.click()
    both = HeadsGrid(off=[[1, 0], [1, 3]], selected=[1, 0])
    assert switch(page, 1, 0) == said_of(both)  # no number of this pair was stored
    page.button("All on").focus()
    said = page.press("Enter")
    assert "Off now" not in said
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
    page.locator("[data-row='1'][data-col='3']").first.click()
    page.said_at_rest()
    strokes = "ring => ['stroke', 'strokeWidth'].map((k) => getComputedStyle(ring)[k])"
    (held, wide), (compared, narrow) = (
        page.locator(f"{place} .ring").first.evaluate(strokes)
        for place in ("[data-row='1'][data-col='3']", "[data-row='0'][data-col='2']")
    )
    assert len({"none", held, compared}) == 3  # told from each other by frames
    assert wide > narrow
    names = [m.get_attribute("aria-label") for m in page.locator(".shown").all()]
    assert [name[:15] for name in names] == ["Layer 0, head 2", "Layer 1, head 3"]
    assert page.get_by_text("Framed: enlarged").is_visible()


def test_a_phone_shows_switch_losses_and_maps_at_once(live):
    # as wide as in the book at 360 pixels
    size = {"width": 344, "height": 684}
    page = live(HeadsGrid(), more=False, has_touch=True, is_mobile=True, **size)
    page.locator("[data-row='1'][data-col='3']").first.tap()
    page.button("Switch layer 1, head 3 off").tap()
    page.said()
    bars = losses(page)
    assert bars.locator(".strong").all_text_contents() == ["4.16", "0.07", "2.58"]
    top = page.locator(".controls").first.bounding_box()["y"]
    switched = page.button("Switch layer 1, head 3 on").bounding_box()
    bars = bars.bounding_box()
    assert 0 < bars["y"] - switched["y"] - switched["height"] < 50
    for captions in page.locator(".caption").all():
        box = captions.bounding_box()
        assert bars["y"] < box["y"] < box["y"] + box["height"] <= top + 684


def test_a_bar_keeps_its_length_while_its_number_stays(live):
    page = live(HeadsGrid(shown=[[0, 1]], off=[[0, 2], [1, 0], [1, 3]]))
    bars = losses(page).locator("rect")
    widths = []
    for name in (None, "Switch layer 0, head 1 off", "All on"):
        if name:
            page.push(name)
        widths.append([bar.get_attribute("width") for bar in bars.all()])
    first, *_, now = zip(*widths, strict=True)
    assert (len(set(first)), len(set(now))) == (1, 3)


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
        grid = page.get_by_role("grid", name=label)
        grid.locator("[role=gridcell]").focus()
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
        page.evaluate("document.activeElement.blur()")
        said, names = page.said(), letters(page)[: 2 * count]
        assert names[:count] == names[count:]
        assert len(set(names)) == count
        assert "".join(names).startswith(kept)
        ids = [ord(letter) - 96 for letter in names]
        assert said == said_of(HeadsGrid(ids=ids))

    for key, count, kept in (
        ("ArrowRight", 11, "lrhjtaewuv"),
        ("Home", 2, "lr"),
        ("ArrowRight", 3, "lr"),
    ):
        page.slider("Letters").focus()
        page.press(key)
        shows(kept, count)
    page.push("Reset")
    assert letters(page) == before
    page.push("Other letters")
    page.mouse.move(0, 0)
    assert letters(page) != before
    shows("", 10)


def test_a_link_to_other_letters_waits_for_the_model(visit, put):
    ids = [1, 2, 3, 4, 5] * 2
    wanted = HeadsGrid(ids=ids, off=[[0, 2]])
    patch = {"ids": ids, "tokens": wanted.tokens, "off": [[0, 2]]}
    page = visit()
    file = put(HeadsGrid().html())
    page.goto(f"{page.server}/{file}#heads_grid-1={json.dumps(patch)}")
    page.wait_for_selector(".fig")
    runs(page.page)
    assert page.said() == said_of(wanted)


def test_without_the_model_the_stored_numbers_stay(live):
    page = live(HeadsGrid(), model=False)
    assert page.said() == said_of(HeadsGrid())
    assert page.button("Other letters").is_disabled()
    assert "is 2.58 nats per token" in switch(page, 1, 3)  # one head alone was stored
    page.locator("[data-row='0'][data-col='2']").first.click()
    assert "loss unknown here" in switch(page, 0, 2)


def test_pythons_own_model_wins_and_asks_for_no_other(visit, put):
    page = visit()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    figure = HeadsGrid.of(sharp(models()[0]), [1, 2, 3, 1, 2, 3], list("abcabc"))
    page.open(put(figure.html()))
    assert page.said() == said_of(figure)
    assert "Computed in Python" in page.locator(".coming").inner_text()
    assert not [url for url in asked if "weights" in url]
    page.locator("[data-row]").first.click()
    page.mouse.move(0, 0)
    figure.update(selected=[0, 0], shown=[[0, 0], *figure.shown[1:]])
    assert page.said().startswith(said_of(figure))


def test_every_width_fits(live):
    texts = [list(range(1, count // 2 + 1)) * 2 for count in (2, 20, 32)]
    figures = [HeadsGrid(ids=ids, off=FOUR, pair=[1, 0]) for ids in texts]
    page = live(*figures, width=320, height=9000)
    expect(page.locator("[data-mounted]")).to_have_count(len(figures))
    for width in (320, 360, 1280):
        page.set_viewport_size({"width": width, "height": 9000})
        page.said()
        assert_fits(page, width)
        boxes = page.locator(".caption text:not(:empty)").evaluate_all(BOXES)
        for one, other in itertools.combinations(boxes, 2):
            beside = abs(one["y"] - other["y"]) > 8 or one["right"] <= other["x"]
            assert beside or other["right"] <= one["x"], width


def test_a_scale_says_which_color_is_which_weight(live):
    page = live(HeadsGrid(), **PHONE)
    scale = page.locator(".caption", has_text="weight 0").locator("..")
    assert scale.locator("text").all_text_contents() == ["weight 0", "1"]
    fills, maps = (
        paths.evaluate_all("all => all.map(path => path.getAttribute('fill'))")
        for paths in (
            scale.locator("path[fill]"),
            page.locator(".panel path[fill^=rgb]"),
        )
    )
    colors = np.array([fill[4:-1].split(",") for fill in fills], float)
    wanted = matplotlib.colormaps["cividis"](np.linspace(0, 1, 11))[:, :3]
    np.testing.assert_allclose(colors, 255 * wanted, atol=3)
    assert set(maps) == set(fills)
    places = [box.bounding_box()["x"] for box in scale.locator("path[fill]").all()]
    assert places == sorted(set(places))


def test_what_is_named_at_each_width(live):
    off = HeadsGrid(off=[[1, 3]])
    named = HeadsGrid(ids=list(range(1, 17)) * 2, shown=[[1, 3]])
    page = live(off, named, width=320, height=2000)
    expect(page.locator("[data-mounted]")).to_have_count(2)
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 2000})
        page.said()
        texts = page.locator("g.off .caption text")
        shown = [text for text in texts.all_text_contents() if text]
        assert shown == ["L1 H3", "0.95", "induction", "✗ off"]
        mark, *_, name = (t.bounding_box() for t in reversed(texts.all()))
        assert mark["y"] + mark["height"] < name["y"]
        for kind in ("query", "key"):  # each letter at its row and column
            second = page.locator(".tl-figure").nth(1)
            labels = second.locator(f".panel:visible .token.{kind}")
            assert labels.all_text_contents() == named.tokens
            places = labels.evaluate_all(
                "all => all.map(t => [t.getBBox().x, +t.getAttribute('y')])"
            )
            assert all(
                abs(x - u) > 6 or abs(y - v) > 11
                for (x, y), (u, v) in itertools.combinations(places, 2)
            )


def test_longer_names_that_are_left_out_are_said_to_be(live):
    ids = list(range(31, 47)) * 2
    page = live(HeadsGrid(ids=ids, shown=[[1, 3]]), **PHONE)
    assert letters(page)[::2] == [str(token) for token in ids[::2]]
    assert set(letters(page)[1::2]) == {""}
    assert page.get_by_text("every 2nd token labeled").is_visible()
