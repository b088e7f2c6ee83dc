"""ShapeLedger: it counts as real decoders and PyTorch do, and says so."""

import random
from dataclasses import replace

import pytest
import torch
from figure_page import (
    edges,
    must_notice,
    must_say,
    page_calls,
    refusals,
    said_of,
    shown,
    with_shown,
)
from touch import FINGER, PHONE, WINDOW_WIDTHS

from transformer_book.figures import ShapeLedger
from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL


def random_ledger(rng: random.Random) -> ShapeLedger:
    """Small sizes, each different from the others where it can be."""
    heads = rng.randint(1, 5)
    length = rng.randint(1, 7)
    return ShapeLedger(
        batch=rng.randint(1, 3),
        length=length,
        d_model=heads * rng.randint(1, 6),
        n_heads=heads,
        n_layers=rng.randint(1, 3),
        vocab_size=rng.randint(1, 40),
        d_ff=rng.choice([0, rng.randint(1, 30)]),
        max_len=length + rng.randint(0, 5),
        tied=rng.random() < 0.5,
        wrong=rng.random() < 0.4,
        selected=rng.choice([[], [5], [rng.randint(0, 18)]]),
    )


def config_of(ledger: ShapeLedger) -> Config:
    state = ledger.state()
    sizes = {name: state[name] for name in state if name in Config.__slots__}
    sizes["d_ff"] = ledger.d_ff or 4 * ledger.d_model
    return replace(GPT2_SMALL, **sizes, dropout=0.0, attention_dropout=0.0)


@pytest.fixture(scope="module")
def pairs():
    rng = random.Random(0)
    return with_shown([ShapeLedger(), *(random_ledger(rng) for _ in range(15))])


def held(*modules):
    return sum(p.numel() for module in modules for p in module.parameters())


def test_copied_pytorch_runs_and_the_table_has_its_lines(pairs):
    """The program asserts shape and bytes of each line, parameters and FLOPs in all."""
    for ledger, page in pairs:
        names, lines = page.run(), page.geometry["lines"]
        assert names["config"] == config_of(ledger)
        assert names["tokens"].shape == (ledger.batch, ledger.length)
        assert len(names["lines"]) == len(lines) == 19
        block, layer, forward = (names[name] for name in ("block", "layer", "forward"))
        params = {line["name"]: line["params"] for line in lines}
        assert params["embedding"] == held(names["model"].embedding)
        assert params["norm(x)"] == held(block.attention.norm)
        qkv = (layer.query, layer.key, layer.value)
        assert params["query, key, value"] == held(*qkv)
        for name, module in (("out", layer), ("up", forward), ("down", forward)):
            assert params[name] == held(getattr(module, name))
        for (_, blocks, shape, size), line, row in zip(
            names["lines"], lines, page.rows[:-1], strict=True
        ):
            copies = f"{line['copies']} × " if line["copies"] > 1 else ""
            sizes = ", ".join(map(str, shape))
            counts = [blocks * line[what] for what in ("params", "flops")]
            said = [line["name"], blocks, f"{copies}({sizes})"]
            assert row == [*said, *counts, size]
        totals = [page.geometry[what] for what in ("params", "flops", "bytes")]
        assert page.rows[-1] == ["sum", "", "", *totals]
        for column in zip(*(row[3:] for row in page.rows), strict=True):
            assert all(type(number) is int for number in column)
            assert sum(column[:-1]) == column[-1]
    counted = ["parameters (count)", "compute (FLOPs)", "activations (bytes)"]
    assert page.table["header"][3:] == counted


def test_copied_pytorch_fails_when_a_number_is_wrong():
    sizes = {"length": 8, "d_model": 12, "n_heads": 3, "n_layers": 2, "vocab_size": 9}
    page = shown(ShapeLedger(**sizes, wrong=True))
    totals = [page.geometry[what] for what in ("params", "flops", "bytes")]
    mistakes = {f"== {total}": f"== {total + 1}" for total in totals} | {
        "8, 9], 288": "8, 8], 288",
        "9], 288": "9], 289",
        "(split, 2, [1, 3, 8, 4]": "(split, 2, [1, 3, 4, 8]",
        "(up, 2, [1, 8, 48], ": "(up, 1, [1, 8, 48], ",
        "own = (bad": "own = (good",
    }
    must_notice(page.pytorch, mistakes)


LONG = {"length": 2048, "max_len": 2048}
BAD = {"wrong": True}
SAID = {
    "124,439,808 parameters, 498 MB: about 32% in embeddings, 23% in attention "
    "and 46% in feed-forward. One forward pass over 1 × 1024 tokens takes 292 "
    "GFLOP, 13% of it between tokens (products that grow with T²).": {},
    "tokens gives (1, 1024): 0 parameters; no matrix product; 8.19 kB of "
    "activations.": {"selected": [0]},
    "query, key, value, in each of 12 blocks, gives 3 × (1, 1024, 768): 1,771,776 "
    "parameters a block, together 17% of all; 43.5 GFLOP in all, 15%; 113 MB of "
    "activations in all.": {"selected": [4]},
    "split_heads, in each of 12 blocks, gives 3 × (1, 12, 1024, 64): 0 parameters; "
    "no matrix product; a view, which copies nothing.": {"selected": [5]},
    # the lesson: scores grow with the square of the length
    "* 0 parameters; 19.3 GFLOP in all, 7%; 604 MB of * in all.": {"selected": [6]},
    "* 77.3 GFLOP in all, 12%; 2.42 GB of * in all.": LONG | {"selected": [6]},
    "logits gives (1, 1024, 50257): 38,597,376 parameters, 24% of all; 79.0 "
    "GFLOP, 27%; 206 MB of activations.": {"selected": [18], "tied": False},
    "Wrong reshape: view without transpose. Shapes, parameters and FLOPs stay the "
    "same, so no error is raised, but tokens are mixed: only 12 of 12,288 slots in "
    "the heads hold their own token. Head 0 reads token 0 at position "
    "1.": BAD | {"selected": [5]},
    "tokens gives *": BAD | {"selected": [0]},
    "*; with one head or one token, nothing moves.": BAD | {"n_heads": 1},
    "* one token, nothing moves.": BAD | {"length": 1},
}


def test_what_is_said():
    must_say((ShapeLedger(**state), said) for said, state in SAID.items())


test_bad_states_say_why = refusals(
    ShapeLedger,
    ({"batch": 0}, "batch must be an integer from 1 to 64, got 0"),
    ({"length": 16_385}, "length must be an integer from 1 to 1024, got 16385"),
    ({"n_heads": 5}, r"n_heads=5, d_model=768; change both by update\(d_model="),
    ({"length": 2048}, "to 1024, got 2048; update.length=..., max_len=.* together"),
    ({"d_ff": -1}, "d_ff must be an integer from 0 to 65536, got -1"),
    ({"selected": [19]}, r"selected\[0\] must be .* 0 to 18, got 19"),
)


def enter(page, label, value):
    field = page.get_by_label(label, exact=True)
    field.fill(str(value))
    field.press("Tab")


def watched(page):
    """What stands under the fields: the three numbers, and what changed."""
    page.said()
    numbers = page.locator(".watch dd").all_inner_texts()
    return numbers, page.locator(".watch .said").inner_text()


@pytest.mark.parametrize("width", [360, 1280])
def test_reset_leaves_what_the_reader_sees_where_it_is(live, width):
    text = "<p style='height: 900px'>What comes after.</p>"
    page = live(ShapeLedger(), text, width=width, height=684)
    page.get_by_label("wrong reshape").check()
    page.said()
    reset = page.button("Reset")
    reset.scroll_into_view_if_needed()
    before = edges(reset).top
    reset.click()
    page.said()
    assert page.locator(".why").count() == 0
    page.said()
    assert edges(reset).top == pytest.approx(before, abs=1)


def test_sizes_that_must_fit_change_together(live):
    page = live(ShapeLedger())
    for label, value, sizes in (
        ("width d", 770, {"d_model": 770, "n_heads": 11}),
        ("tokens T", 2048, {"length": 2048, "max_len": 2048}),
        ("positions P", 100, {"length": 100, "max_len": 100}),
    ):
        enter(page, label, value)
        assert page.said() == said_of(ShapeLedger(**sizes))
        page.get_by_label("Model").select_option("GPT-2 small")
        assert page.said() == said_of(ShapeLedger())
    for width, inner, then in ((64, 256, 100), (128, 100, 512), (32, 128, 128)):
        enter(page, "width d", width)
        page.said()
        assert page.get_by_label("inner f", exact=True).input_value() == str(inner)
        enter(page, "inner f", then)  # 512 is 4 * 128: it follows again


def test_the_lesson_no_number_notices_a_wrong_reshape(live):
    page = live(ShapeLedger())
    page.locator("summary", has_text="Data table").click()
    page.wait_for_selector(".tl-live tr >> nth=19")
    rows = page.locator(".tl-live tr")
    before = rows.all_inner_texts()
    page.get_by_label("wrong reshape").check()
    assert page.said() == said_of(ShapeLedger(wrong=True))
    labels = page.locator("svg[role=img]").evaluate_all(
        "all => all.map(svg => svg.getAttribute('aria-label').split(';')[0])"
    )
    heads = ["head 0 reads tokens 0, 0, 0, 0", "head 0 reads tokens 0, 1, 2, 3"]
    assert labels == heads
    assert rows.all_inner_texts() == before
    assert page.locator("svg text", has_text="✗ view(…)").count() == 1


def test_the_small_picture_is_what_pytorch_does():
    for length, heads in ((3, 2), (2, 3), (4, 4), (1, 3), (3, 1)):
        x = torch.arange(length)[:, None].expand(length, heads)
        views = {True: x.reshape(heads, length), False: x.T}
        asked = [
            {"length": length, "n_heads": heads, "wrong": wrong} for wrong in views
        ]
        pictures = page_calls("shape_ledger/layout", "reshape", asked)
        for picture, view in zip(pictures, views.values(), strict=True):
            assert picture["from"] == view.tolist()
            marks = [
                text["text"][-1] for text in picture["texts"] if "tok" in text["text"]
            ]
            is_own = view == torch.arange(length)
            assert marks == ["✓" if own else "✗" for own in is_own.flatten()]


def test_a_change_has_a_reason_only_where_it_is_one():
    cases = {
        "d 64 → 768, f 100 → 3072": {"d_ff": 100, "d_model": 64, "n_heads": 12},
        "T 512 → 1024, P 2048 → 1024": {"length": 512, "max_len": 2048},
    }
    now = ShapeLedger().state()
    asked = [(now | before, now) for before in cases.values()]
    assert page_calls("shape_ledger/text", "changes", asked) == [*cases]


def test_what_a_change_did_stands_under_the_fields(live):
    page = live(ShapeLedger(), **PHONE)
    note = page.locator(".title small").last.inner_text()
    assert "float32, tokens int64" in note
    start = ["124M", "292G", "604M"], ""
    assert watched(page) == start
    before = page.top_of(".foot")
    enter(page, "tokens T", 2048)
    assert watched(page) == (
        ["124M → 125M", "292G → 661G", "604M → 2.42G"],
        "T 1024 → 2048, P 1024 → 2048: each position needs a row",
    )
    assert page.top_of(".foot") == before
    enter(page, "width d", 1536)
    numbers, change = watched(page)
    assert numbers[2] == "2.42G"
    assert change == "d 768 → 1536, f 3072 → 6144: f stays 4 d"
    enter(page, "width d", 1540)
    equal = "h 12 → 11, f 6144 → 6160: all heads have the same width"
    assert watched(page)[1].endswith(equal)
    page.get_by_label("tied").uncheck()
    assert watched(page)[1] == "no longer tied"
    page.get_by_label("Model").select_option("GPT-3")
    assert watched(page)[1] == "sizes of another model, now tied"
    page.locator("[data-row]").first.click()
    page.get_by_label("wrong reshape").check()
    assert watched(page)[1] == "sizes of another model, now tied"  # as before
    assert page.push("Reset") == said_of(ShapeLedger())
    assert watched(page) == start
    enter(page, "tokens T", 512)
    assert watched(page)[1] == "T 1024 → 512"


def test_a_field_answers_while_one_types_and_is_cut_when_one_leaves(live):
    page = live(ShapeLedger())
    page.get_by_label("positions P", exact=True).select_text()
    page.keyboard.type("2048")
    assert page.said() == said_of(ShapeLedger(max_len=2048))  # T was not cut by "2"
    assert watched(page)[1] == "P 1024 → 2048"
    page.get_by_label("width d", exact=True).select_text()
    page.keyboard.type("1536")
    assert page.said() == said_of(ShapeLedger(max_len=2048, d_model=1536))
    tokens = page.get_by_label("tokens T")
    tokens.fill("100000")
    tokens.press("Tab")
    assert tokens.input_value() == "16384"


CUT = """all => all.filter(n => n.scrollWidth > n.clientWidth)
    .map(n => [n.labels?.[0].textContent, n.value ?? n.textContent])"""
ROOM = """select => { const text = document.createElement("span");
    text.textContent = select.selectedOptions[0].text; select.after(text);
    const { width } = text.getBoundingClientRect(); text.remove();
    return select.clientWidth - 24 - width; }"""


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
@pytest.mark.parametrize("by", [{}, FINGER])
def test_no_number_label_or_choice_of_a_size_is_cut(live, width, by):
    ledger = ShapeLedger(d_model=12_288, n_heads=96)
    page = live(ledger, **by | {"width": width, "height": 684})
    fields, names = page.locator(".sizes [type=number]"), page.locator(".sizes .name")
    assert fields.count() == 7
    assert fields.evaluate_all(CUT) == names.evaluate_all(CUT) == []
    assert page.get_by_label("heads h").evaluate(ROOM) >= 0
    fields.evaluate_all("all => { for (const n of all) n.value = n.max; }")
    assert fields.evaluate_all(CUT) == []


def test_a_wrong_reshape_is_explained_at_its_box(live):
    page = live(ShapeLedger(), **FINGER | {"width": 360, "height": 684})
    box, why = page.get_by_label("wrong reshape"), page.locator(".why")
    box.tap()
    page.said()
    said = why.inner_text()
    assert said.startswith("No number changes: every shape stays the same")
    assert "head 0 reads token 0 at position 1 (✗): tokens are mixed." in said
    first = edges(page.locator("svg[role=img]").first)
    top = edges(box).top
    assert top < edges(why).top < first.top
    assert first.bottom - top < 400
    box.tap()
    page.said()
    assert why.count() == 0
    box.tap()
    page.get_by_label("heads h").select_option("1 × 768")
    page.said()
    assert why.inner_text().endswith("With one head or one token, nothing moves.")


def test_largest_sizes_fit_a_phone_and_what_is_too_large_to_count_has_four_digits(live):
    sizes = {"length": 16_384, "max_len": 16_384, "d_model": 16_384, "n_heads": 128}
    ledger = ShapeLedger(batch=64, n_layers=128, vocab_size=300_000, **sizes)
    want = shown(ledger)
    assert want.rows[-1][4] == f"{want.geometry['flops']:.3e}"
    page = live(ledger, **PHONE)
    assert page.said() == want.sentence
    assert page.wide() <= 320


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
def test_the_frame_of_a_line_is_whole(live, width):
    page = live(ShapeLedger(), width=width, height=900)
    page.grid().focus()
    page.press("ArrowDown")
    ring = page.locator("[data-row='1'] .ring")
    assert ring.evaluate("(ring) => getComputedStyle(ring).strokeWidth") == "2.5px"
    frame, seen = edges(ring), edges(page.locator(".panel .scroll"))
    assert frame.left >= seen.left  # with its stroke
    assert frame.right <= seen.right
    shape = page.locator(".panel text.quiet", has_text="(1, 1024)").first
    assert edges(shape).right + 3 <= frame.right
