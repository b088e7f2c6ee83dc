"""ShapeLedger: it counts as real decoders and PyTorch do, and says so."""

import random

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
    shown_all,
    with_shown,
)
from playwright.sync_api import expect
from torch.utils.flop_counter import FlopCounterMode
from touch import FINGER, PHONE, WINDOW_WIDTHS

from transformer_book.figures import ShapeLedger
from transformer_lib.attention import attention, attention_weights
from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL, Decoder


def random_ledger(rng: random.Random, most: int = 7) -> ShapeLedger:
    """Small sizes, each different from the others where it can be."""
    heads = rng.randint(1, 5)
    length = rng.randint(1, most)
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
    return Config(
        vocab_size=ledger.vocab_size,
        d_model=ledger.d_model,
        n_layers=ledger.n_layers,
        n_heads=ledger.n_heads,
        d_ff=ledger.d_ff or 4 * ledger.d_model,
        max_len=ledger.max_len,
        norm="layer",
        feed_forward="gelu_tanh",
        positions="learned",
        bias=True,
        tied=ledger.tied,
    )


@pytest.fixture(scope="module")
def pairs():
    rng = random.Random(0)
    made = [random_ledger(rng) for _ in range(60)]
    return with_shown([*made, ShapeLedger()])


def n_parameters(config: Config) -> int:
    with torch.device("meta"):
        model = Decoder(config)
    return sum(parameter.numel() for parameter in model.parameters())


def test_gpt2_small_has_its_parameters():
    larger = ShapeLedger(d_model=1600, n_heads=25, n_layers=48)
    small, xl = (page.geometry["params"] for page in shown_all([ShapeLedger(), larger]))
    assert small == n_parameters(GPT2_SMALL) == 124_439_808
    assert xl == n_parameters(config_of(larger)) == 1_557_611_200


def test_totals_are_what_real_decoders_hold_and_pytorch_counts(pairs):
    for ledger, page in pairs[:60]:
        model = Decoder(config_of(ledger), attend=attention)
        tokens = torch.zeros(ledger.batch, ledger.length, dtype=torch.long)
        with FlopCounterMode(display=False) as counter:
            model(tokens)
        assert page.geometry["flops"] == counter.get_total_flops()
        real = sum(parameter.numel() for parameter in model.parameters())
        assert page.geometry["params"] == real


def test_every_line_is_a_result_of_the_real_decoder():
    ledger = ShapeLedger(
        batch=2, length=5, d_model=12, n_heads=3, n_layers=2, vocab_size=31, d_ff=20
    )
    seen: dict[str, tuple[int, ...]] = {}
    held: dict[str, int] = {}

    def note(name, *, given=False):
        def hook(module, inputs, result=None):
            seen.setdefault(name, tuple((inputs[0] if given else result).shape))

        return hook

    def spy(query, key, value, mask=None, *, dropout=0.0):
        weights = attention_weights(query, key, mask)
        result = weights @ value
        seen.setdefault("split_heads", tuple(query.shape))
        seen.setdefault("query @ key.mT", tuple((query @ key.mT).shape))
        seen.setdefault("softmax(scores)", tuple(weights.shape))
        seen.setdefault("weights @ value", tuple(result.shape))
        return result

    model = Decoder(config_of(ledger), attend=spy)
    block = model.stack.blocks[0]
    layer, forward = block.attention.layer, block.feed_forward.layer
    layer.out.register_forward_pre_hook(note("merge_heads", given=True))
    forward.down.register_forward_pre_hook(note("gelu", given=True))
    for name, module in {
        "embedding": model.embedding,
        "x + positions": model.stack.dropout,
        "norm(x)": block.attention.norm,
        "query, key, value": layer.query,
        "out": layer.out,
        "x + attention": block.attention,
        "up": forward.up,
        "down": forward.down,
        "x + feed_forward": block.feed_forward,
    }.items():
        module.register_forward_hook(note(name))
        held[name] = sum(parameter.numel() for parameter in module.parameters())
    tokens = torch.zeros(2, 5, dtype=torch.long)
    seen |= {"tokens": tuple(tokens.shape), "logits": tuple(model(tokens).shape)}
    lines = {line["name"]: line for line in shown(ledger).geometry["lines"]}
    assert {name: tuple(line["shape"]) for name, line in lines.items()} == seen
    held["query, key, value"] *= 3
    for name in ("embedding", "norm(x)", "query, key, value", "out", "up", "down"):
        assert lines[name]["params"] == held[name]
    for name, line in lines.items():
        dtype = torch.long if name == "tokens" else None
        made = torch.empty(line["shape"], dtype=dtype)
        view = name == "split_heads"
        assert line["bytes"] == (0 if view else line["copies"] * made.nbytes)


def test_copied_pytorch_runs_and_the_table_has_its_lines(pairs):
    """The program asserts shape and bytes of each line."""
    for _, page in pairs[::3]:
        names, lines = page.run(), page.geometry["lines"]
        assert len(names["lines"]) == len(lines) == 19
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
        assert names["total"] == page.geometry["bytes"]
    header = page.table["header"]
    assert header[3:] == [
        "parameters (count)",
        "compute (FLOPs)",
        "activations (bytes)",
    ]


def test_a_number_that_is_too_large_to_count_has_four_digits():
    large = ShapeLedger(
        d_model=16_384, n_heads=128, n_layers=128, length=1000, batch=64
    )
    page = shown(large)
    flops = page.geometry["flops"]
    assert page.rows[-1][4] == f"{flops:.3e}" == "5.342e+16"


def test_copied_pytorch_fails_when_a_number_is_wrong():
    mistakes = {
        "parameters == 124439808": "parameters == 124439809",
        "total_flops() == 291648307200": "total_flops() == 291648307201",
        "1024, 50257], 205852672": "1024, 50256], 205852672",
        "50257], 205852672": "50257], 205852673",
        "(split, 12, [1, 12, 1024, 64]": "(split, 12, [1, 12, 64, 1024]",
        "(up, 12, [1, 1024, 3072], ": "(up, 11, [1, 1024, 3072], ",
        "total == 2140483584": "total == 2140483583",
    }
    must_notice(shown(ShapeLedger()).pytorch, mistakes)


def test_copied_wrong_reshape_is_wrong():
    page = shown(ShapeLedger(wrong=True, length=64))
    must_notice(page.pytorch, {"own = (bad": "own = (good"})


SAID = [
    (
        {},
        "124,439,808 parameters, 498 MB: about 32% in embeddings, 23% in attention "
        "and 46% in feed-forward. One forward pass over 1 × 1024 "
        "tokens takes 292 GFLOP, 13% of it between tokens (products that grow with "
        "T²).",
    ),
    (
        {"selected": [0]},
        "tokens gives (1, 1024): 0 parameters; no matrix product; 8.19 kB of "
        "activations.",
    ),
    (
        {"selected": [4]},
        "query, key, value, in each of 12 blocks, gives 3 × (1, 1024, 768): 1,771,776 "
        "parameters a block, together 17% of all; 43.5 GFLOP in all, 15%; 113 MB of "
        "activations in all.",
    ),
    (
        {"selected": [5]},
        "split_heads, in each of 12 blocks, gives 3 × (1, 12, 1024, 64): 0 parameters; "
        "no matrix product; a view, which copies nothing.",
    ),
    # the lesson: scores grow with the square of the length
    (
        {"selected": [6]},
        "* 0 parameters; 19.3 GFLOP in all, 7%; 604 MB of activations in all.",
    ),
    (
        {"selected": [6], "length": 2048, "max_len": 2048},
        "* 77.3 GFLOP in all, 12%; 2.42 GB of activations in all.",
    ),
    (
        {"selected": [13]},
        "up, in each of 12 blocks, gives (1, 1024, 3072): 2,362,368 parameters a "
        "block, together 23% of all; 58.0 GFLOP in all, 20%; 151 MB of activations in "
        "all.",
    ),
    (
        {"selected": [18], "tied": False},
        "logits gives (1, 1024, 50257): 38,597,376 parameters, 24% of all; 79.0 "
        "GFLOP, 27%; 206 MB of activations.",
    ),
    (
        {"wrong": True, "selected": [5]},
        "Wrong reshape: view without transpose. Shapes, parameters and FLOPs stay the "
        "same, so no error is raised, but tokens are mixed: only 12 of 12,288 slots in "
        "the heads hold their own token. Head 0 reads token 0 at position 1.",
    ),
    ({"wrong": True, "selected": [0]}, "tokens gives *"),
    ({"wrong": True, "n_heads": 1}, "*; with one head or one token, nothing moves."),
    ({"wrong": True, "length": 1}, "*; with one head or one token, nothing moves."),
]


def test_what_is_said():
    must_say((ShapeLedger(**state), said) for state, said in SAID)


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
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert edges(reset).top == pytest.approx(before, abs=1)


def test_sizes_that_must_fit_change_together(live):
    page = live(ShapeLedger())
    expected = ShapeLedger()
    for label, value, sizes in (
        ("width d", 770, {"d_model": 770, "n_heads": 11}),
        ("tokens T", 2048, {"length": 2048, "max_len": 2048}),
        ("positions P", 100, {"length": 100, "max_len": 100}),
        ("inner f", 500, {"d_ff": 500}),
    ):
        enter(page, label, value)
        expected.update(**sizes)
        assert page.said() == said_of(expected)
    page.get_by_label("Model").select_option("GPT-2 small")
    assert page.said() == said_of(ShapeLedger())


def test_the_inner_width_follows_the_width_until_it_is_changed(live):
    page = live(ShapeLedger())
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


@pytest.mark.parametrize(("length", "heads"), [(3, 2), (2, 3), (4, 4), (1, 3), (3, 1)])
def test_the_small_picture_is_what_pytorch_does(live, length, heads):
    sizes = {"length": length, "d_model": 6 * heads, "n_heads": heads}
    page = live(ShapeLedger(wrong=True, **sizes))
    x = torch.arange(length)[:, None].expand(length, heads)
    pictures = page.locator("svg[role=img]").all()
    views = [x.reshape(heads, length), x.T]
    for picture, view in zip(pictures, views, strict=True):
        assert picture.get_attribute("aria-label") == "; ".join(
            f"head {j} reads tokens {str(tokens)[1:-1]}"
            for j, tokens in enumerate(view.tolist())
        )
        wrong = int((view != torch.arange(length)).sum())
        assert picture.locator("text", has_text="✗").count() == wrong


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
    limit = page.get_by_role("status").filter(has_text="only 1 to 16384")
    tokens = page.get_by_label("tokens T")
    tokens.fill("100000")
    tokens.press("Tab")
    assert tokens.input_value() == "16384"
    assert limit.is_visible()
    page.push("Reset")
    expect(limit).to_have_count(0)


@pytest.mark.parametrize("width", WINDOW_WIDTHS)
@pytest.mark.parametrize("by", [{}, FINGER])
def test_no_number_of_a_size_is_cut(live, width, by):
    page = live(ShapeLedger(), **by | {"width": width, "height": 684})
    fields = page.locator(".sizes [type=number]")
    cut = """all => all.filter(n => n.scrollWidth > n.clientWidth)
        .map(n => [n.labels[0].textContent, n.value])"""
    assert fields.count() == 7
    assert fields.evaluate_all(cut) == []
    fields.evaluate_all("all => { for (const n of all) n.value = n.max; }")
    assert fields.evaluate_all(cut) == []


@pytest.mark.parametrize("width", WINDOW_WIDTHS[:2])
def test_no_label_and_no_choice_of_a_size_is_cut(live, width):
    ledger = ShapeLedger(d_model=12_288, n_heads=96)
    page = live(ledger, width=width, height=684)
    names = page.locator(".sizes .name")
    assert names.evaluate_all("all => all.every(n => n.scrollWidth <= n.offsetWidth)")
    needed = """select => { const text = document.createElement("span");
        text.textContent = select.selectedOptions[0].text; select.after(text);
        const width = text.getBoundingClientRect().width; text.remove();
        return [width, select.clientWidth - 24]; }"""
    text, room = page.get_by_label("heads h").evaluate(needed)
    assert text <= room


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


def test_largest_sizes_fit_a_phone(live):
    sizes = {"length": 16_384, "max_len": 16_384, "d_model": 16_384, "n_heads": 128}
    ledger = ShapeLedger(batch=64, n_layers=128, vocab_size=300_000, **sizes)
    page = live(ledger, **PHONE)
    assert page.said() == said_of(ledger)
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
