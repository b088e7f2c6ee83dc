"""BlockFlow: its numbers are PyTorch's, what it says of them, and what it teaches."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from figure_examples import patched
from figure_page import (
    edges,
    fixed,
    must_notice,
    must_say,
    percent,
    refusals,
    run_script,
    said_of,
    shown,
    with_shown,
)
from inference_jobs import shipped
from models import model as tiny_model
from models import tiny
from samples import double
from tolerances import PAGE_TOLERANCE, assert_near
from touch import FINGER, PHONE
from weights_page import runs

from transformer_book.figures.block_flow import streams
from transformer_book.figures.block_flow.figure import BlockFlow
from transformer_book.figures.weights import dequantized, pack
from transformer_lib.blocks import Config, Stack
from transformer_lib.decoder import Decoder
from transformer_lib.inspection import logit_lens
from transformer_lib.tokens import Tokenizer

BOTH = ("attention", "feed-forward")
NAMES = ["embedding", *(f"block {b}, {name}" for b in range(1, 13) for name in BOTH)]
FOLLOW = """
import { createFlow } from "./transformer_book/figures/block_flow/numbers.mjs";
const page = createFlow(model);
done(job.map(([prompt, position]) => ({
  flow: page.flow(prompt, position),
  logits: page.logits(prompt, position),
})));
"""
ASKED = [
    ["It is a refere", 7],
    ["It is a refere", 3],
    ["It is a refer", 63],
    ["It was a long way", 4],
    ["the " * 31 + "the", streams.TOKENS - 1],  # as many tokens as fit
    ["東京 שלום 👩‍👩‍👧‍👦 \x00", 9],
]


def own_decoder(n_layers=3, **changes):
    """A learner's decoder, with a tokenizer of its own."""
    tokenizer = Tokenizer.train("the theme of the thesis", 260)
    config = tiny(vocab_size=264, n_layers=n_layers, **changes)
    return deepcopy(tiny_model(Decoder, config, torch.float32)), tokenizer


def own_flow(prompt="the theme", position=-1, **changes):
    """A figure of a learner's decoder."""
    return BlockFlow(**BlockFlow.followed(*own_decoder(**changes), prompt, position))


def test_page_and_python_measure_what_the_copied_program_computes():
    answers = run_script(FOLLOW, ASKED, pack("manual-lm"))
    rounded_model = dequantized(shipped("manual-lm").model)
    made = [BlockFlow(prompt, position=at) for prompt, at in ASKED]
    for (figure, page), answer in zip(with_shown(made), answers, strict=True):
        ran, flow = page.run(), figure.flow
        assert flow["position"] == min(figure.position, len(flow["tokens"]) - 1)
        depths = torch.tensor(answer["logits"])
        lens = logit_lens(rounded_model, ran["tokens"])[:, 0, flow["position"]]
        assert len(depths) == 2 * len(lens) + 1
        assert float((depths[2::2] - lens).abs().max()) <= PAGE_TOLERANCE
        best = depths[-1].argmax()
        want = {
            "lengths": torch.stack(ran["length"]),
            "changes": torch.stack(ran["change_length"]),
            "cosines": torch.stack(ran["cosine"]),
            "answer": depths.softmax(dim=-1)[:, best],
        }
        probability = torch.stack(ran["probability"])
        for measured in (answer["flow"], flow):
            for name in ("prompt", "position", "tokens", "norm"):
                assert measured[name] == flow[name]
            for name, numbers in want.items():
                assert_near(torch.tensor(measured[name]), numbers, PAGE_TOLERANCE)
            assert [row[0][0] for row in measured["top"]] == ran["said"]
            shares = torch.tensor([row[0][1] for row in measured["top"]])
            assert_near(shares, probability, PAGE_TOLERANCE)


def test_a_post_norm_model_is_put_back_to_one_length():
    _, tokenizer = own_decoder()
    model = Decoder(tiny(vocab_size=264, residual="post"))  # its scales are still 1
    flow = streams.follow(model, tokenizer, "the theme")
    assert flow["norm"] == "post"
    root = model.config.d_model**0.5
    assert flow["lengths"][1:] == pytest.approx([root] * 4, rel=PAGE_TOLERANCE)


def test_following_switches_dropout_off_and_leaves_no_trace():
    model, tokenizer = own_decoder(dropout=0.5)
    at_rest = streams.follow(model.eval(), tokenizer, "the theme")
    assert streams.follow(model.train(), tokenizer, "the theme") == at_rest
    assert model.training
    state = torch.get_rng_state()
    streams.random_stacks.cache_clear()
    streams.random_stacks()
    assert torch.equal(torch.get_rng_state(), state)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["pre", "post"])
def test_random_stacks_are_the_librarys_blocks(kind):
    names = {"norm": "layer", "feed_forward": "relu", "positions": "none"}
    sizes = {"d_model": 64, "n_layers": streams.BLOCKS, "n_heads": 4, "d_ff": 256}
    config = Config(vocab_size=1, max_len=16, residual=kind, **sizes, **names)
    torch.manual_seed(0)
    stack = Stack(config).double()
    x = torch.randn(1, 16, 64, dtype=torch.float64) / 4
    lengths = [x.norm(dim=-1).mean()]
    for block in stack.blocks:
        x = block(x, mask="causal")
        lengths.append(x.norm(dim=-1).mean())
    got = double(streams.random_stacks()[kind]["lengths"][::2])
    assert_near(got, torch.stack(lengths), PAGE_TOLERANCE)


def test_the_lesson_of_the_random_stacks():
    pre, post = (streams.random_stacks()[kind] for kind in ("pre", "post"))
    squares = torch.tensor(pre["lengths"]) ** 2
    depth = torch.arange(len(squares), dtype=torch.float32)
    # the root of depth: its square is a straight line
    assert float(torch.corrcoef(torch.stack([squares, depth]))[0, 1]) > 0.98
    assert all(7.99 < x < 8.01 for x in post["lengths"][1:])
    assert sum(pre["shares"][-6:]) < sum(pre["shares"][:6]) / 2
    assert sum(post["shares"][-6:]) > sum(post["shares"][:6])
    pairs = zip(pre["shares"], pre["shares"][1:], strict=False)
    assert any(later > one for one, later in pairs)  # not each time


def test_the_program_runs_and_the_table_has_a_row_for_each_depth_of_both():
    stacks = deepcopy(BlockFlow().stacks)
    stacks["post"]["shares"][0] += 0.1
    made = [BlockFlow(), BlockFlow(residual="post")]
    made += [BlockFlow("שלום \u202e", residual="post", stacks=stacks)]
    own = [{"dropout": 0.5}, {"d_head": 6}, {"residual": "post"}]
    made += [own_flow(**changes) for changes in own]
    for figure, page in with_shown(made):
        page.run()
        flow, stack = figure.flow, figure.stacks[figure.residual]
        depths = len(flow["lengths"])
        own, random = page.rows[:depths], page.rows[depths:]
        angles = np.degrees(np.arccos(flow["cosines"]))
        for r, row in enumerate(own):
            added = [fixed(flow["changes"][r - 1]), f"{angles[r - 1]:.0f}°"]
            assert row[:2] == [NAMES[r], fixed(flow["lengths"][r])]
            assert row[2:4] == (added if r else ["", ""])
            shares = [*(share for _, share in flow["top"][r]), flow["answer"][r]]
            said = [cell.split(" ")[-1] for cell in row[4:]]
            assert said == [fixed(share, 4) for share in shares]
        start = f"random {figure.residual}-norm stack: "
        said = ["", *(f"{percent(share)} of the sum" for share in stack["shares"])]
        columns = NAMES, map(fixed, stack["lengths"]), said
        rows = [[start + name, *cells] for name, *cells in zip(*columns, strict=True)]
        assert [row[:3] for row in random] == rows
    table = shown(BlockFlow()).table
    head = ["after", "length", "addition", "angle", "no. 1", "no. 2", "no. 3"]
    assert table["header"] == [*head, "answer “nce”"]
    assert [table["rows"][r][4] for r in (0, 7)] == ["re 1.0000", "nce 0.9475"]


def test_copied_pytorch_would_notice_a_wrong_number():
    mistakes = {
        '"d", "nce"': '"e", "nce"',
        "(-1)[best]": "(-1)[best] + 0.1",
        " length.append(": " length.append(0.1 + ",
        "change_length.append(": "change_length.append(0.1 + ",
        "cosine.append(": "cosine.append(0.1 + ",
    }
    must_notice(shown(BlockFlow()).pytorch, mistakes)
    mistakes = {
        "0 <= probability": "1 <= probability",
        "length[:-1]": "length[:-1] + 0.1",
        " + change**2": "",
        "* cosine)": "* (cosine + 0.1))",
    }
    must_notice(shown(own_flow()).pytorch, mistakes)


def test_copied_pytorch_of_ones_own_model_says_how_to_compute_it():
    model, tokenizer = own_decoder(residual="post")
    figure = BlockFlow(**BlockFlow.followed(model, tokenizer, "the theme", 1))
    code = shown(figure).pytorch.splitlines()
    why, how = (line.removeprefix("# ") for line in code if line.startswith("#"))
    assert why.startswith("your model is not on this page, so its numbers are only")
    names = {"BlockFlow": BlockFlow, "model": model, "tokenizer": tokenizer}
    exec(f"computed = {how}", names)
    assert names["computed"]["flow"] == figure.flow


def altered(path, value, **state):
    """The book's figure with another part of its flow."""
    figure = BlockFlow(**state)
    figure.update(**patched(figure.state(), {"path": f"flow {path}", "put": value}))
    return figure


def led_by(leaders):
    """The book's figure, with other tokens that lead the lens."""
    return altered("top", [[[leader, 0.5]] * 3 for leader in leaders])


def turned(cosine):
    """The book's figure, with another angle of the addition that is held."""
    return altered("cosines 6", cosine, selected=[7])


def test_what_is_said():
    post = own_flow(residual="post")
    post.selected = [2]
    wanted = [
        (
            BlockFlow(),
            "Token 8 of 8, “re”: 8 additions take its stream from length 17.1 to 74.3. "
            "At first the logit lens reads “re”, then “d”; “nce” leads from block 4's "
            "attention on, and ends at more than 99%.",
        ),
        (led_by("xxxxxxxxx"), "* The logit lens reads “x” from the embedding on, *"),
        (
            led_by("abbcdxxxx"),
            "* reads “a”, then “b”, finally “d”; “x” leads from block 3's attention *",
        ),
        (led_by("aaaaaaaax"), "* “a”; “x” leads from block 4's feed-forward on, *"),
        (
            BlockFlow(selected=[0]),
            "The embedding of token 8 of 8, “re”, has length 17.1. The lens reads “re” "
            "(more than 99%), “* (less than 1%), “* (less than 1%).",
        ),
        (
            BlockFlow(selected=[7]),
            "Block 4, attention, adds a vector of length 35.3 at 92°, nearly "
            "perpendicular to the stream of length 52.0; the sum has length 61.8. The "
            "lens reads “nce” (95%), “d” (2%), “re” (1%).",
        ),
        (
            altered("changes 6", 0.0, selected=[7]),
            "Block 4, attention, adds nothing to the *",
        ),
        (turned(0.35), "* at 70°, partly along the stream *"),
        (turned(0.33), "* at 71°, nearly perpendicular to the *"),
        (turned(-0.33), "* at 109°, nearly perpendicular to the *"),
        (turned(-0.35), "* at 110°, partly against the stream *"),
        (post, "Block 1, feed-forward, *; the norm rescales the sum to *. The *"),
    ]
    must_say(wanted)


def test_a_new_prompt_is_followed_in_python_unless_the_numbers_are_ones_own():
    figure = BlockFlow()
    figure.prompt = "The method is cal"
    assert figure.flow == streams.follow_shipped("The method is cal", 7)
    assert figure.flow["position"] == 4
    own = BlockFlow.followed(*own_decoder(), "the theme", 1)
    figure.update(**own)
    assert (figure.source, figure.flow, figure.position) == ("Python", own["flow"], 1)
    figure.position = 2
    assert figure.flow == own["flow"]
    with pytest.raises(ValueError, match=r"prompt must be the flow's, got 'other'; "):
        figure.prompt = "other"
    figure.source = "page"
    assert figure.flow == streams.follow_shipped("the theme", 2)


test_bad_states_say_why = refusals(
    BlockFlow,
    ({"prompt": ""}, "prompt must be 1 to 64 tokens, got 0"),
    ({"prompt": "a b " * 40}, r"prompt must be 1 to 64 tokens, got \d+"),
    ({"prompt": "a" * 301}, "length of prompt .* to 300, got 301; show its end"),
    ({"prompt": "a\ud800"}, "prompt must be valid Unicode text, got "),
    ({"position": 64}, "position must be an integer from 0 to 63, got 64"),
    ({"selected": [1, 2]}, "length of selected must be 1, got 2"),
    ({"selected": [9]}, r"selected\[0\] must be .* 0 to 8, got 9"),
    ({"flow": {"tokens": []}}, "flow.norm must be .*; BlockFlow.followed.* makes one"),
    ({"stacks": {}}, "stacks.pre must be an object, got null"),
)


def test_bad_flows_and_models_say_why():
    flow = BlockFlow().flow
    for change, message in (
        ({"position": 8}, "flow.position must be .* 0 to 7, got 8"),
        ({"tokens": []}, "length of flow.tokens must be .* 1 to 64, got 0"),
        ({"top": [[["a", 1.0]]] * 9}, r"length of flow.top\[0\] must be 3, got 1"),
        ({"top": [[["a", "b"]] * 3] * 9}, r"\[1\] must be a finite number, got .b"),
    ):
        with pytest.raises(ValueError, match=message):
            BlockFlow(flow=flow | change)
    with pytest.raises(ValueError, match="at most 12 blocks, got 13"):
        own_flow(n_layers=13)


def test_the_readers_own_prompt_is_answered_by_the_page(live):
    page = live(BlockFlow())
    line, field = page.locator(".coming"), page.get_by_label("Your prompt")
    assert "1.8535 bits per byte instead of 1.85" in line.inner_text()
    assert line.inner_text().endswith("a uniform guess scores 8.")
    field.focus()
    page.press("End")
    for key, text in (("n", "It is a referen"), ("c", "It is a referenc")):
        assert page.press(key) == said_of(BlockFlow(text))
        assert field.input_value() == text
    page.press("Backspace")
    assert field.input_value() == "It is a referen"
    for prompt in ("The method is cal", "a", "two dots means up one pack"):
        field.fill(prompt)
        assert page.said() == said_of(BlockFlow(prompt))
    page.locator("[data-row]").nth(7).click()
    assert page.said_at_rest() == said_of(BlockFlow(prompt, selected=[7]))
    field.fill("two")  # the row is held no more
    assert page.said() == said_of(BlockFlow("two"))
    assert page.locator(".locked").count() == 0
    a_prompt_that_cannot_be_read_is_kept_and_explained(page, field)


def test_arrows_home_and_end_choose_a_token_and_move_nothing(live):
    page = live(BlockFlow(), width=1280, height=720)
    tokens = page.locator(".tokens input")
    tokens.nth(3).click()
    assert page.said() == said_of(BlockFlow(position=3))
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 50")
    page.press("ArrowLeft")  # brings the picture into the window
    before = page.evaluate("scrollY")
    assert before > 50
    last = tokens.count() - 1
    for key, position in (("Home", 0), ("End", last), ("ArrowLeft", last - 1)):
        page.press(key)
        page.mouse.move(0, 0)
        assert page.said() == said_of(BlockFlow(position=position))
        assert page.evaluate("scrollY") == before
        assert tokens.nth(position).is_checked()
        assert page.locator(".tokens input:checked").count() == 1


def a_prompt_that_cannot_be_read_is_kept_and_explained(page, field):
    field.fill("")
    assert page.said() == said_of(BlockFlow("two"))
    status = page.locator(".controls [role=status]")
    assert status.inner_text() == (
        "A prompt must be 1 to 300 characters, this one has 0: type a letter. "
        "The previous prompt is shown."
    )
    assert field.input_value() == ""
    field.fill("I")
    assert page.said() == said_of(BlockFlow("I"))
    assert status.inner_text() == ""
    field.fill("a b " * 40)
    assert status.inner_text().startswith(
        "A prompt must be 1 to 64 tokens, this one has 81: delete some. "
    )
    page.press("Tab")
    assert (field.input_value(), status.inner_text()) == ("I", "")
    field.evaluate("field => { field.value = 'a\\ud83d'; }")  # half a character
    field.dispatch_event("input")
    assert page.said() == said_of(BlockFlow("a\ufffd"))


def test_ones_own_deepest_model_fits_a_phone_until_the_books_model_is_asked(live):
    own = own_flow("the theme " * 12, n_layers=streams.BLOCKS)
    book = said_of(BlockFlow("the theme " * 12))
    page = live(own, model=None, **PHONE)
    assert page.said() == said_of(own)
    assert page.get_by_text("These numbers come from your own model.").is_visible()
    assert page.get_by_label("Your prompt").is_disabled()
    assert page.locator(".tokens input:enabled").count() == 0
    assert page.locator("[data-row]").count() == 25
    assert page.wide() <= 320
    loaded = "performance.getEntriesByType('resource').map((file) => file.name).join()"
    assert "weights" not in page.evaluate(loaded)
    page.locator("[data-row]").last.click()  # a row that the book's model has not
    page.push("Use the book's model")
    runs(page.page)
    assert "weights" in page.evaluate(loaded)
    assert page.said_at_rest() == book
    assert page.push("Reset") == said_of(own)
    own.selected = [24]
    own.source = "page"
    assert said_of(own) == book


def test_the_norm_switch_shows_the_other_stack_and_what_is_seen_is_explained(live):
    page = live(BlockFlow())
    caption, picture = page.locator("p.stack"), page.locator("svg[role=img]")
    said = caption.inner_text()
    assert "roughly with the square root of depth, from 2.0 to 24.6 in 12" in said
    assert "On the whole, though not at every step, additions matter less" in said
    assert "the first has 87% of the length of the sum, the last 22%." in said
    root = picture.locator(".root")
    assert root.get_attribute("d") != ""
    before = page.top_of(".foot")
    page.get_by_label("post-norm").check()
    page.said()
    assert "resets the stream to the same length, 8.0." in caption.inner_text()
    assert picture.get_attribute("aria-label") == caption.inner_text()
    assert root.get_attribute("d") == ""
    assert page.top_of(".foot") == before
    said = page.get_by_role("note", include_hidden=True).all_text_contents()
    assert "at 90°, something new; beyond that, it partly subtracts." in said[0]
    assert said[1].startswith("It reads each depth as if it were the last: ")
    assert (
        "does its final guess, in bold, begin in an earlier row?"
        in page.locator(".steps").inner_text()
    )


END = """say => { const range = document.createRange();
    range.selectNodeContents(say); return range.getBoundingClientRect().bottom; }"""


def test_a_phone_shows_all_at_once_and_a_finger_can_do_what_is_to_be_tried(live):
    page = live(BlockFlow(), **FINGER | {"width": 360, "height": 684})
    tokens = edges(page.locator(".tokens")).top
    assert edges(page.locator(".picture").first).bottom - tokens < 740
    assert edges(page.locator("rect.answer").last).bottom - tokens < 640
    choice = edges(page.locator(".tokens .options")).top
    assert page.locator(".say").evaluate(END) - choice < 684
    assert page.locator("[data-part] .token").count() == 27
    page.locator("[data-row]").nth(7).tap()
    assert page.said() == said_of(BlockFlow(selected=[7]))
    page.locator(".tokens label").nth(3).tap()
    assert page.said() == said_of(BlockFlow(position=3))
    page.locator(".options label", has_text="post-norm").tap()
    page.said()
    assert "resets the stream to" in page.locator("p.stack").inner_text()


def test_the_followed_token_is_in_sight_and_those_out_of_sight_are_hinted_at(live):
    page = live(BlockFlow(), **FINGER)
    line, legend = page.locator(".tokens .options"), page.locator(".tokens legend")

    def signs():
        page.wait_for_timeout(50)
        return line.evaluate(
            """(node) => ["--before", "--after"].map((end) =>
                getComputedStyle(node).getPropertyValue(end)).join()"""
        )

    page.get_by_label("Your prompt").fill("It is a")
    page.said()
    assert (legend.inner_text(), signs()) == ("Follow token 4 of 4", ",")
    prompt = "The method is called with the argument of the"
    page.get_by_label("Your prompt").fill(prompt)
    page.said()
    assert (legend.inner_text(), signs()) == ("Follow token 11 of 11", "#0000,")
    tokens, room = page.locator(".tokens label"), edges(line)
    last, before = (edges(tokens.nth(i)) for i in (-1, -2))
    assert room.left <= last.left
    assert last.right <= room.right + 1
    assert before.right <= last.left + 1
    word, cell = tokens.locator("span", has_text="argument"), tokens.nth(8)
    assert word.bounding_box()["width"] < cell.bounding_box()["width"]
    for left, wanted in ((60, "#0000,#0000"), (0, ",#0000")):
        line.evaluate("(node, left) => { node.scrollLeft = left; }", left)
        assert signs() == wanted
    covers = """(node) => ["::before", "::after"].map((end) =>
        getComputedStyle(node, end).content)"""
    assert line.evaluate(covers) == ["none", "none"]
    assert "linear-gradient" in line.evaluate("(n) => getComputedStyle(n).maskImage")
    page.touchscreen.tap(room.left + 8, room.top + 20)
    assert page.said() == said_of(BlockFlow(prompt, position=0))
