"""HeadsGrid: its numbers are PyTorch's, and what it says of them."""

import itertools
import json
import random

import pytest
import torch
import torch.nn.functional as F
import traitlets
from figure_page import run_node, shown, shown_all
from tolerances import PAGE_TOLERANCE, assert_near
from touch import tab_stops

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
import { readFileSync } from "node:fs";
import { unpack } from "./transformer_book/figures/engine/index.mjs";
import figure from "./transformer_book/figures/heads_grid/view.mjs";
import {
  createRunner, numbers,
} from "./transformer_book/figures/heads_grid/numbers.mjs";
const { layout, locked, pytorch, sentence, table } = figure;
const [packed, states, saying] = JSON.parse(readFileSync(0, "utf8"));
const runner = packed ? createRunner(unpack(readFileSync(packed))) : undefined;
const plain = (_, value) => (value instanceof Float32Array ? [...value] : value);
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
console.log(JSON.stringify(states.map((state) => ({
  ...counted(numbers(state, runner), state), ...(saying ? said(state) : {}),
})), plain));
"""
PHONE = {"viewport": {"width": 320, "height": 640}}


def config(**sizes):
    return Config(
        **{
            "vocab_size": 64,
            "d_model": 16,
            "n_layers": 2,
            "n_heads": 4,
            "d_ff": 24,
            "max_len": 32,
            **sizes,
        }
    )


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


def said(figure):
    return shown(figure).sentence


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
    heads = heads_of(figure)
    figure.update(
        off=draw.sample(heads, draw.randint(0, min(5, len(heads)))),
        selected=draw.choice([[], draw.choice(heads)]),
        shown=draw.sample(heads, draw.randint(1, min(2, len(heads)))),
        sort=draw.choice(["place", "entropy", "previous", "induction", "loss"]),
        pair=draw.choice([[], [draw.randrange(len(figure.ids)) for _ in range(2)]]),
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
    heads = range(maps[0].shape[1])
    scores = [[previous_token_score(layer)] for layer in maps]
    if period:
        for mine, layer in zip(scores, maps, strict=True):
            mine.append(induction_score(layer, period))
    return {
        "maps": torch.cat(maps),
        "scores": torch.stack([torch.stack(s, dim=-1) for s in scores]),
        "entropy": torch.cat([torch.special.entr(m).sum(-1).mean(-1) for m in maps]),
        "now": now[period:].mean(),
        "on": all_on[period:].mean(),
        "first": all_on[: period - 1].mean() if period else None,
        "alone": torch.stack(
            [
                torch.stack([losses([(i, j)])[0][period:].mean() for j in heads])
                for i in range(len(maps))
            ]
        ),
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


def ask_page(figures, folder=None, packed=None, **traits):
    """What the page makes of each figure; with a packed model, by running it."""
    if packed:
        (folder / "packed").write_bytes(packed)
    states = [figure.state() | traits for figure in figures]
    file = str(folder / "packed") if packed else None
    job = json.dumps([file, states, not traits])
    return json.loads(run_node("--input-type=module", "-e", RUN, stdin=job))


@pytest.fixture(scope="module")
def shipped_figures():
    draw = random.Random(0)
    letters = [draw.sample(range(1, 27), n) * 2 for n in (10, 2, 16, 9)]
    texts = [*letters, [5, 5, 6], draw.choices(range(64), k=17), [0, 63]]
    made = [HeadsGrid()]
    made += [varied(HeadsGrid(ids=ids), draw) for ids in texts for _ in range(2)]
    many = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]
    made += [
        HeadsGrid(off=many),
        *(HeadsGrid(pair=[q, k]) for q, k in ((13, 4), (5, 4), (9, 0))),
    ]
    return made


@pytest.fixture(scope="module")
def own():
    """Models of the reader's own, and a figure of each."""
    draw = random.Random(1)
    made = []
    for model in map(sharp, models()):
        for ids in ([3, 1, 4, 1, 5], [9, 2, 6, 5, 35, 8] * 2 + [9]):
            figure = HeadsGrid.of(model, ids)
            made.append((varied(figure, draw), model))
    return made


@pytest.fixture(scope="module")
def pages(shipped_figures, own):
    """Each figure, its model, and what the page makes of its stored numbers."""
    model = pretrained.load("induction-2").model
    pairs = [*((figure, model) for figure in shipped_figures), *own]
    made = ask_page([figure for figure, _ in pairs])
    return [(*pair, answer) for pair, answer in zip(pairs, made, strict=True)]


@pytest.fixture(scope="module")
def computed(shipped_figures, tmp_path_factory):
    """Each figure of the shipped model and what the page makes of it, running it."""
    folder = tmp_path_factory.mktemp("heads")
    made = ask_page(shipped_figures, folder, pack("induction-2"))
    return list(zip(shipped_figures, made, strict=True))


def test_the_numbers_are_those_of_inspection(pages, computed):
    """Those that Python stored, and those that the page computes itself."""
    shipped = pretrained.load("induction-2").model
    for figure, model, answer in pages:
        assert_same(answer, read_by(figure, model))
    for figure, answer in computed:
        assert_same(answer, read_by(figure, shipped))


def test_the_page_computes_any_model_of_that_kind(own, tmp_path):
    for figure, model in own:
        unlike_stored = {"source": "somewhere"}
        (answer,) = ask_page([figure], tmp_path, pack_model(model), **unlike_stored)
        assert_same(answer, read_by(figure, model))


def test_what_is_said_stays_when_the_model_comes(pages, computed):
    sentences = [answer["sentence"] for *_, answer in pages]
    for words in ("may not look", "Now off", "and 1 more", "token before:", "copy:"):
        assert any(words in sentence for sentence in sentences), words
    for (figure, _, stored), (same, live) in zip(pages, computed, strict=False):
        assert figure is same
        assert stored["sentence"] == live["sentence"]


SAID = {
    "With all 8 heads on, the loss on the second copy is 0.07 nats per token, 4.16 on "
    "the first. Layer 0, head 2 looks most at the token before (0.78), layer 1, head 3 "
    "at the token after the earlier copy (0.95).": {},
    "Query 13 “j” and key 4 “t”, the token after the earlier copy: layer 1, head 3 "
    "gives it 97 %; layer 0, head 2 gives it 0 %.": {"pair": [13, 4]},
    "Query 3 “j” may not look at key 4 “t”, which comes later.": {"pair": [3, 4]},
    "Layer 1, head 0, off: induction 0.88, token before 0.06, entropy 0.48 nats. Off "
    "alone, it changes the loss from 0.07 to 0.29.": {
        "off": [[1, 0]],
        "selected": [1, 0],
    },
}


def test_the_sentence_in_full():
    pages = shown_all([HeadsGrid(**state) for state in SAID.values()])
    assert [page.sentence for page in pages] == list(SAID)


def test_before_the_second_copy_nothing_follows_an_earlier_copy():
    assert "the earlier copy" in said(HeadsGrid(pair=[10, 1]))
    assert "the earlier copy" not in said(HeadsGrid(pair=[9, 0]))


def test_the_table_says_each_head_in_order():
    table = shown(HeadsGrid(sort="loss", off=[[0, 1]])).table
    assert table["header"] == [
        *("head", "now", "entropy", "token before", "induction", "loss, off alone")
    ]
    losses = [float(row[-1]) for row in table["rows"]]
    assert losses == sorted(losses, reverse=True)
    (off,) = [row for row in table["rows"] if row[1] == "off"]
    assert off == ["layer 0, head 1", "off", "1.9015", "0.1494", "0.0968", "0.0306"]


def test_copied_pytorch_runs_and_asserts_the_state(pages, computed):
    for figure, *_, answer in [*pages, *computed]:
        names = {}
        exec(answer["pytorch"], names)
        assert ("model" in names) == (figure.source != "Python")


@pytest.mark.parametrize("own_model", [False, True])
def test_copied_pytorch_fails_when_a_number_is_wrong(pages, own_model):
    code = next(
        answer["pytorch"]
        for figure, _, answer in pages
        if period_of(figure.ids) and (figure.source == "Python") == own_model
    )
    breaks = ["induction_score(weights, ", "previous_token_score(weights)"]
    breaks += [] if own_model else ["(loss, torch.tensor("]
    for right in breaks:
        wrong = right.replace("(loss,", "(2 * loss,").replace(
            "(weights", "(0.5 * weights"
        )
        assert right in code
        with pytest.raises(AssertionError, match="not close"):
            exec(code.replace(right, wrong), {})


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


def test_one_layer_has_no_induction():
    figure = HeadsGrid(source="induction-1")
    assert max(score(figure, h, "induction") for h in heads_of(figure)) < 0.2
    assert loss(figure, []) > 3


def test_without_the_previous_token_head_the_stripe_fades():
    figure = HeadsGrid()
    before = score(figure, [1, 0], "induction")
    figure.off = [[0, 2]]
    assert score(figure, [1, 0], "induction") < 0.75 * before
    assert figure.stored["scores"][0] == HeadsGrid().stored["scores"][0]


def test_python_answers_with_the_readers_own_model(own):
    figure, model = own[1]
    figure.update(ids=[9, 8, 7, 9, 8, 7], tokens=list("abcabc"), off=[], pair=[])
    assert figure.source == "Python"
    assert_same(*ask_page([figure]), read_by(figure, model))
    figure.off = [[2 - 1, 1], [0, 0]]
    assert figure.off == [[0, 0], [1, 1]]
    assert_same(*ask_page([figure]), read_by(figure, model))


def test_a_model_is_left_as_it_was():
    model = models()[0].train()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    HeadsGrid.of(model, torch.tensor([[1, 2, 3]]), tokens=["a", "b", "c"], off=[[0, 1]])
    assert model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
        assert value.dtype == torch.float32
    assert all(
        layer.attend.__name__ == "fused_attention"
        for layer in attention_layers(model).values()
    )


def test_dropout_plays_no_part():
    model = Decoder(config(dropout=0.5, attention_dropout=0.5)).train()
    one, other = (HeadsGrid.of(model, [1, 2, 3]) for _ in range(2))
    assert one.stored == other.stored


def test_tokens_are_numbers_unless_given_and_tensors_are_unpacked():
    model = models()[0]
    for ids in ([4, 5], torch.tensor([4, 5]), torch.tensor([[4, 5]])):
        figure = HeadsGrid.of(model, ids)
        assert (figure.ids, figure.tokens) == ([4, 5], ["4", "5"])
    assert HeadsGrid.of(model, [4, 5], ["a", "b"]).tokens == ["a", "b"]
    assert HeadsGrid(ids=[1, 26, 27]).tokens == ["a", "z", "27"]


def test_a_refused_model_changes_nothing():
    first, second = models()[:2]
    figure = HeadsGrid.of(first, [1, 2, 3])
    before = figure.state()
    with pytest.raises(ValueError, match="selected must name heads"):
        figure.update(model=second, ids=[1, 2], selected=[2, 2])
    assert figure.state() == before
    figure.off = [[0, 0], [1, 3]]  # of the first model still
    assert_same(*ask_page([figure]), read_by(figure, first.eval()))


def test_many_heads_fit_and_too_many_are_refused():
    wide = Decoder(config(n_layers=4))
    figure = HeadsGrid.of(wide, random.Random(0).choices(range(64), k=20))
    assert len(heads_of(figure)) == 16
    wider = Decoder(config(n_layers=12, n_heads=8))
    with pytest.raises(ValueError, match=r"at most 20000 bytes, got \d+"):
        HeadsGrid.of(wider, random.Random(0).choices(range(64), k=20))


MODEL = Decoder(config())
STORED = HeadsGrid.of(MODEL, [1, 2, 3]).state()


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (
            {"ids": [1, 64], "tokens": ["a", "b"]},
            r"ids must be .* from 0 to 63, got \[",
        ),
        ({"ids": [1, -1]}, "ids must be .* from 0 to 63, got"),
        ({"ids": [1]}, "tokens must be 2 to 32, got 1"),
        ({"ids": list(range(33))}, "tokens must be 2 to 32, got 33"),
        ({"ids": [1, 2, 3], "tokens": ["a", "b"]}, "equally many, got 3 and 2; change"),
        (
            {"off": [[2, 0]]},
            r"off must name heads .* 2 layers and 4 heads.* got \[2, 0\]",
        ),
        ({"off": [[0, 4]]}, r"off must name heads .* got \[0, 4\]"),
        ({"off": [[0]]}, r"off must name heads .* got \[0\]"),
        ({"off": [[0, 1], [0, 1]]}, "off must name a head once, got"),
        ({"selected": [0, -1]}, r"selected must name heads .* got \[0, -1\]"),
        ({"shown": []}, r"shown must be one or two heads, got \[\]"),
        ({"shown": [[0, 0], [0, 1], [0, 2]]}, "shown must be one or two heads, got"),
        ({"shown": [[0, 0.5]]}, r"shown and .* must name heads .* got \[0, 0.5\]"),
        ({"pair": [20, 0]}, r"pair must be .* from 0 to 19, or \[\], got \[20, 0\]"),
        ({"pair": [1]}, r"pair must be .* got \[1\]"),
        ({"source": "induction-1", "shown": [[1, 3]]}, "of 1 layers and 4 heads"),
        ({"source": "Python"}, r"stored must hold .*got \[\]; HeadsGrid.of"),
        ({**STORED, "ids": [1, 2, 4]}, r"those of the stored maps, got \[1, 2, 4\]; a"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        HeadsGrid(**state)


@pytest.mark.parametrize("state", [{"sort": "size"}, {"source": "gpt2"}])
def test_unknown_words_are_refused(state):
    with pytest.raises(traitlets.TraitError, match="expected any of"):
        HeadsGrid(**state)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("maps", [], r"layers must have equally many heads, got \[\]"),
        ("maps", [[], []], r"equally many heads, got \[0, 0\]"),
        ("maps", [[[1] * 6], [[1] * 6] * 2], r"equally many heads, got \[1, 2\]"),
        ("maps", [[[1] * 5] * 4] * 2, r"map of 3 tokens must be 6 weights, got 5"),
        ("maps", [[[1] * 5 + [10_001]] * 4] * 2, "from 0 to 10000, got 10001"),
        ("maps", [[[1] * 5 + [0.5]] * 4] * 2, "whole numbers .*, got 0.5"),
        ("maps", [[[5000] * 6] * 4] * 2, "sum to 1 in each row, got 0.5000 in row 0"),
        ("scores", [[[1.0] * 3] * 4] * 2, "scores must be as many as .*, got .*3, 3"),
        (
            "losses",
            [[[], float("nan")]],
            r"losses\[0\]\[1\] must hold finite numbers, got nan",
        ),
    ],
)
def test_bad_stored_numbers_say_why(part, value, message):
    with pytest.raises(ValueError, match=message):
        HeadsGrid(**{**STORED, "stored": {**STORED["stored"], part: value}})


def test_more_than_one_sequence_is_refused():
    with pytest.raises(ValueError, match="ids must be one sequence, got 2"):
        HeadsGrid.of(MODEL, torch.tensor([[1, 2], [3, 4]]))
    with pytest.raises(ValueError, match="ids must be whole numbers from 0 to 63"):
        HeadsGrid.of(MODEL, [1, 64])


def here(page):
    """Wait until the model runs in the page."""
    page.page.wait_for_function(
        """() => document.querySelector(".tl-live").shadowRoot
            .querySelector(".coming").textContent.includes("runs in this page")"""
    )
    return page


def button(page, name):
    return page.page.get_by_role("button", name=name)


def test_the_lesson_a_head_is_switched_off_and_the_loss_jumps(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    bars = page.page.locator("svg[aria-label*='copy']").first
    assert bars.get_attribute("aria-label").endswith("no head is off: unknown")
    button(page, "Switch layer 1, head 3 off").click()
    page.page.mouse.move(0, 0)
    assert page.said().startswith(
        "Off: layer 1, head 3. The loss on the second copy is 2.58"
    )
    assert bars.get_attribute("aria-label").endswith("layer 1, head 3 off: 2.58")
    assert page.page.locator("g.off").count() == 1
    page.page.locator("[data-row='1'][data-col='0']").first.click()
    button(page, "Switch layer 1, head 0 off").click()
    page.page.mouse.move(0, 0)
    both = HeadsGrid(off=[[1, 0], [1, 3]], selected=[1, 0])
    assert page.said() == said(both)  # no number of this pair was stored
    assert f"loss {loss(both, both.off):.2f}" in page.said()
    button(page, "All on").click()
    assert "Now off" not in page.said()
    assert page.page.locator("g.off").count() == 0


def test_a_phone_shows_tip_switch_losses_and_maps_at_once(visit, put):
    page = visit(has_touch=True, is_mobile=True, viewport={"width": 344, "height": 684})
    page.open(put(HeadsGrid().html()))  # as wide as in the book at 360 pixels
    here(page)
    page.page.locator("[data-row='1'][data-col='3']").first.tap()
    button(page, "Switch layer 1, head 3 off").tap()
    page.said()
    losses = page.page.locator("svg[aria-label*='copy']").first
    assert losses.locator(".strong").all_text_contents() == ["4.16", "0.07", "2.58"]
    top = page.page.locator(".try").first.bounding_box()["y"]
    switch = button(page, "Switch layer 1, head 3 on").bounding_box()
    bars = losses.bounding_box()
    assert 0 < bars["y"] - switch["y"] - switch["height"] < 50
    for captions in page.page.locator(".caption").all():
        box = captions.bounding_box()
        assert bars["y"] < box["y"] < box["y"] + box["height"] <= top + 684


def test_a_bar_keeps_its_length_while_its_number_stays(visit, put):
    page = visit()
    page.open(put(HeadsGrid(shown=[[0, 1]], off=[[0, 2], [1, 0], [1, 3]]).html()))
    here(page)
    bar = page.page.locator("svg[aria-label*='copy'] rect")
    widths = {bar.first.get_attribute("width")}
    now = {bar.last.get_attribute("width")}
    for name in ("Switch layer 0, head 1 off", "All on"):
        button(page, name).click()
        page.said()
        widths.add(bar.first.get_attribute("width"))
        now.add(bar.last.get_attribute("width"))
    assert (len(widths), len(now)) == (1, 3)


def test_up_to_four_heads_that_are_off_are_named():
    off = [[0, 0], [0, 1], [1, 2], [1, 3]]
    named = "layer 0, head 0; layer 0, head 1; layer 1, head 2; layer 1, head 3"
    assert said(HeadsGrid(off=off)).startswith(f"Off: {named}. The loss")
    five = HeadsGrid(off=[*off[:2], [1, 0], *off[2:]])
    assert "; layer 1, head 2 and 1 more. The loss" in said(five)


def test_the_held_map_is_told_from_the_compared_one(visit, put):
    page = visit()
    page.open(put(HeadsGrid(selected=[1, 3]).html()))
    here(page)
    (held, wide), (other, narrow) = (
        page.page.locator(f"[data-row='{i}'][data-col='{j}'] .ring").first.evaluate(
            "(ring) => ['stroke', 'strokeWidth'].map((k) => getComputedStyle(ring)[k])"
        )
        for i, j in ((1, 3), (0, 2))
    )
    assert len({"none", held, other}) == 3
    assert wide > narrow


def test_space_switches_a_head_by_keyboard_alone(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    page.grid().focus()
    for key in ("Home", "ArrowRight", "ArrowRight", " ", "ArrowDown", "Enter"):
        page.page.keyboard.press(key)
    assert page.said() == said(HeadsGrid(off=[[0, 2]], selected=[1, 2]))
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("ArrowUp")
    page.page.keyboard.press(" ")
    page.page.evaluate("document.activeElement.blur()")
    assert page.said() == said(HeadsGrid())


def test_space_in_a_large_map_switches_its_head_and_scrolls_nothing(visit, put):
    page = visit(viewport={"width": 360, "height": 600})
    page.open(put(HeadsGrid(shown=[[1, 3], [0, 2]]).html()))
    here(page)
    off = []
    for label, head in (("The head on show", [1, 3]), ("The other head", [0, 2])):
        grid = page.page.get_by_role("grid", name=label)
        grid.locator("[role=gridcell]").focus()
        page.said()
        before = page.page.evaluate("scrollY")
        page.page.keyboard.press(" ")
        page.said()
        assert page.page.evaluate("scrollY") == before > 0
        off = sorted([*off, head])
        page.page.evaluate("document.activeElement.blur()")
        assert page.said() == said(HeadsGrid(off=off))


def test_the_frames_of_small_maps_are_explained(visit, put):
    page = visit()
    page.open(put(HeadsGrid(shown=[[1, 3], [0, 2]]).html()))
    here(page)
    page.page.mouse.move(0, 0)
    page.said()
    names = [m.get_attribute("aria-label") for m in page.page.locator(".shown").all()]
    assert [name[:15] for name in names] == ["Layer 0, head 2", "Layer 1, head 3"]
    assert page.page.get_by_text("Framed: shown large below").is_visible()


def test_tab_reaches_each_part_once(visit, put):
    page = visit()
    page.open(put(HeadsGrid(off=[[0, 0]]).html()))
    here(page)
    stops = ["button", "button", "gridcell", "select", "select", "input", "button"]
    stops += ["gridcell", "gridcell", "button", "summary", "summary"]
    assert tab_stops(page.page) == stops


def test_other_letters_are_computed_here(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    before = page.page.locator(".token.key").all_text_contents()
    button(page, "Other letters").click()
    page.page.mouse.move(0, 0)
    after = page.page.locator(".token.key").all_text_contents()
    assert after != before
    letters = after[:20]
    assert letters[:10] == letters[10:]
    assert len(set(letters)) == 10
    ids = [ord(letter) - 96 for letter in letters]
    assert page.said() == said(HeadsGrid(ids=ids))


def test_more_letters_keep_the_first_ones(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    page.page.get_by_role("slider", name="Letters").focus()
    steps = [
        ("ArrowRight", 11, "lrhjtaewuv"),
        ("Home", 2, "lr"),
        ("ArrowRight", 3, "lr"),
    ]
    for key, count, kept in steps:
        page.page.keyboard.press(key)
        page.said()
        names = page.page.locator(".token.key").all_text_contents()[: 2 * count]
        shown = "".join(names)
        assert shown[:count] == shown[count:]
        assert shown.startswith(kept)
        ids = [ord(letter) - 96 for letter in shown]
        page.page.evaluate("document.activeElement.blur()")
        assert page.said() == said(HeadsGrid(ids=ids))
        page.page.get_by_role("slider", name="Letters").focus()


def test_a_link_to_other_letters_waits_for_the_model(visit, put):
    ids = [1, 2, 3, 4, 5] * 2
    wanted = HeadsGrid(ids=ids, off=[[0, 2]])
    patch = {"ids": ids, "tokens": wanted.tokens, "off": [[0, 2]]}
    page = visit()
    file = put(HeadsGrid().html())
    page.page.goto(f"{page.server}/{file}#heads_grid-1={json.dumps(patch)}")
    page.page.wait_for_selector(".fig")
    here(page)
    assert page.said() == said(wanted)


def test_without_the_model_the_stored_numbers_stay(visit, put):
    page = visit()
    page.page.route("**/weights/**", lambda route: route.abort())
    page.open(put(HeadsGrid().html()))
    line = page.page.locator(".coming").first
    line.get_by_text("did not come").wait_for()
    assert page.said() == said(HeadsGrid())
    assert button(page, "Other letters").is_disabled()
    button(page, "Switch layer 1, head 3 off").click()
    page.page.mouse.move(0, 0)
    assert "is 2.58 nats per token" in page.said()  # one head alone was stored
    page.page.locator("[data-row='0'][data-col='2']").first.click()
    button(page, "Switch layer 0, head 2 off").click()
    assert "loss unknown here" in page.said()
    assert all("ERR_FAILED" in error for error in page.errors)
    page.errors.clear()


def test_pythons_own_model_wins_and_asks_for_no_other(visit, put):
    page = visit()
    asked = []
    page.page.on("request", lambda request: asked.append(request.url))
    figure = HeadsGrid.of(sharp(models()[0]), [1, 2, 3, 1, 2, 3], list("abcabc"))
    page.open(put(figure.html()))
    assert page.said() == said(figure)
    assert "Numbers by Python" in page.page.locator(".coming").inner_text()
    assert not [url for url in asked if "weights" in url]
    page.page.locator("[data-row]").first.click()
    page.page.mouse.move(0, 0)
    figure.update(selected=[0, 0], shown=[[0, 0], *figure.shown[1:]])
    assert page.said().startswith(said(figure))


def test_two_maps_are_compared_and_a_pair_is_held_in_both(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    page.page.get_by_label("Compare with").select_option(label="layer 1, head 1")
    cell = page.page.locator("[role=grid][aria-label^='The head on show'] [data-row]")
    cell.focus()
    for key in (
        "End",
        "ArrowLeft",
        *["ArrowDown"] * 13,
        "Home",
        *["ArrowRight"] * 4,
        "Enter",
    ):
        page.page.keyboard.press(key)
    wanted = HeadsGrid(shown=[[1, 3], [1, 1]], pair=[13, 4])
    assert page.said() == said(wanted)
    other = page.page.locator("[role=grid][aria-label^='The other head'] [data-row]")
    assert other.get_attribute("aria-selected") == "true"
    page.page.get_by_label("Compare with").select_option(label="nothing")
    assert not other.is_visible()


def test_sorting_moves_the_thumbnails(visit, put):
    page = visit()
    page.open(put(HeadsGrid().html()))
    here(page)
    figure = HeadsGrid()
    orders = {
        "loss if off": lambda head: -loss(figure, [head]),
        "entropy, low first": lambda head: score(figure, head, "entropy"),
    }
    for label, rank in orders.items():
        page.page.get_by_label("Sort by").select_option(label=label)
        page.said()
        wanted = [f"L{i} H{j}" for i, j in sorted(heads_of(figure), key=rank)]
        names = page.page.locator("[aria-hidden] .strong").all_text_contents()
        assert names == wanted


@pytest.mark.parametrize("width", [320, 360, 1280])
@pytest.mark.parametrize("count", [2, 20, 32])
def test_every_width_fits(visit, put, width, count):
    page = visit(viewport={"width": width, "height": 640})
    ids = list(range(1, count // 2 + 1)) * 2
    off = [[0, 0], [0, 1], [1, 2], [1, 3]]
    page.open(put(HeadsGrid(ids=ids, off=off, pair=[1, 0]).html()))
    here(page)
    assert page.page.locator(".error").is_hidden()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    room = page.page.locator(".fig").bounding_box()
    for text in page.page.locator(".picture text").all():
        box = text.bounding_box()
        if box and box["width"]:
            assert box["x"] >= room["x"] - 1
            assert box["x"] + box["width"] <= room["x"] + room["width"] + 1
    captions = page.page.locator(".caption text:not(:empty)").all()
    boxes = [text.bounding_box() for text in captions]
    for one, other in itertools.combinations(boxes, 2):
        beside = abs(one["y"] - other["y"]) > 8 or one["x"] + one["width"] <= other["x"]
        assert beside or other["x"] + other["width"] <= one["x"]


def test_a_scale_says_which_color_is_which_weight(visit, put):
    page = visit(**PHONE)
    page.open(put(HeadsGrid().html()))
    scale = page.page.locator(".caption", has_text="weight 0").locator("..")
    assert scale.locator("text").all_text_contents() == ["weight 0", "1"]
    boxes = scale.locator("path[fill]")
    fills = boxes.evaluate_all("all => all.map(path => path.getAttribute('fill'))")
    light = [sum(map(int, fill[4:-1].split(","))) for fill in fills]
    assert len(fills) == 11
    assert light == sorted(set(light))
    maps = page.page.locator(".panel path[fill^=rgb]").evaluate_all(
        "all => all.map(path => path.getAttribute('fill'))"
    )
    assert set(maps) == set(fills)
    places = [box.bounding_box()["x"] for box in boxes.all()]
    assert places == sorted(set(places))


@pytest.mark.parametrize("options", [PHONE, {}])
def test_a_head_that_is_off_keeps_its_number(visit, put, options):
    page = visit(**options)
    page.open(put(HeadsGrid(off=[[1, 3]]).html()))
    texts = page.page.locator("g.off .caption text")
    shown = [text for text in texts.all_text_contents() if text]
    assert shown == ["L1 H3", "0.95", "induction", "✗ off"]
    mark, *_, name = (t.bounding_box() for t in reversed(texts.all()))
    assert mark["y"] + mark["height"] < name["y"]


@pytest.mark.parametrize("width", [320, 1280])
def test_every_letter_is_named_at_its_row_and_column(visit, put, width):
    page = visit(viewport={"width": width, "height": 700})
    ids = list(range(1, 17)) * 2
    page.open(put(HeadsGrid(ids=ids, shown=[[1, 3]]).html()))
    for kind in ("query", "key"):
        labels = page.page.locator(f".panel:visible .token.{kind}")
        assert labels.all_text_contents() == HeadsGrid(ids=ids).tokens
        places = labels.evaluate_all(
            "all => all.map(t => [t.getBBox().x, +t.getAttribute('y')])"
        )
        assert all(
            abs(x - u) > 6 or abs(y - v) > 11
            for (x, y), (u, v) in itertools.combinations(places, 2)
        )


def test_longer_names_that_are_left_out_are_said_to_be(visit, put):
    page = visit(**PHONE)
    ids = list(range(31, 47)) * 2
    page.open(put(HeadsGrid(ids=ids, shown=[[1, 3]]).html()))
    labels = page.page.locator(".panel:visible .token.key").all_text_contents()
    assert labels[::2] == [str(token) for token in ids[::2]]
    assert set(labels[1::2]) == {""}
    assert page.page.get_by_text("every 2nd token is named").is_visible()
