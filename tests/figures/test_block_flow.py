"""BlockFlow: its numbers are PyTorch's, what it says of them, and what it teaches."""

import json
from copy import deepcopy

import pytest
import torch
from figure_examples import HOSTILE
from figure_page import READY, run_node, shown, shown_all
from inference_jobs import shipped
from models import model as tiny_model
from models import tiny
from test_figures_python import Tags
from tolerances import PAGE_TOLERANCE, assert_near
from touch import FINGER

from transformer_book.figures.block_flow.figure import BlockFlow
from transformer_book.figures.block_flow.streams import (
    BLOCKS,
    TOKENS,
    follow,
    follow_shipped,
    random_stacks,
    shipped_ids,
)
from transformer_book.figures.weights import dequantized, pack
from transformer_lib.blocks import Config, Stack
from transformer_lib.decoder import Decoder
from transformer_lib.inspection import logit_lens
from transformer_lib.tokens import Tokenizer

PHONE = {"viewport": {"width": 320, "height": 700}}
FOLLOW = """
import { readFileSync } from "node:fs";
import { createFlow } from "./transformer_book/figures/block_flow/numbers.mjs";
import { unpack } from "./transformer_book/figures/engine/index.mjs";
const { packed, asked } = JSON.parse(readFileSync(0, "utf8"));
const page = createFlow(unpack(readFileSync(packed)));
console.log(JSON.stringify(asked.map(([prompt, position]) => ({
  flow: page.flow(prompt, position),
  logits: page.logits(prompt, position).map((row) => [...row]),
}))));
"""
ASKED = [
    ["It is a refere", 7],
    ["It is a refere", 3],
    ["It is a refer", 0],
    ["It is a refer", 63],
    ["It was a long way", 4],
    ["", 0],  # replaced below: a prompt of as many tokens as fit
    ["The method is cal", 4],
    ["東京 שלום 👩‍👩‍👧‍👦 \x00", 9],
]
ASKED[5] = ["the " * 31 + "the", TOKENS]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What one page says to one prompt after another."""
    packed = tmp_path_factory.mktemp("block") / "packed"
    packed.write_bytes(pack("manual-lm"))
    job = json.dumps({"packed": str(packed), "asked": ASKED})
    return json.loads(run_node("--input-type=module", "-e", FOLLOW, stdin=job))


@pytest.fixture(scope="module")
def rounded_model():
    """The book's model with the numbers that the page has."""
    return dequantized(shipped("manual-lm").model)


def own_decoder(**changes):
    """A learner's decoder, with a tokenizer of its own."""
    tokenizer = Tokenizer.train("the theme of the thesis", 260)
    config = tiny(vocab_size=264, n_layers=3, **changes)
    return deepcopy(tiny_model(Decoder, config, torch.float32)), tokenizer


def said(figure):
    return shown(figure).sentence


def numbers(flow, name):
    return torch.tensor(flow[name], dtype=torch.float64)


def test_the_page_reads_the_same_logits_as_the_logit_lens(answers, rounded_model):
    for (prompt, position), answer in zip(ASKED, answers, strict=True):
        lens = logit_lens(rounded_model, torch.tensor([shipped_ids(prompt)]))
        place = min(position, lens.shape[2] - 1)
        depths = torch.tensor(answer["logits"])
        assert len(depths) == 2 * len(lens) + 1
        gap = (depths[2::2] - lens[:, 0, place]).abs().max()
        assert float(gap) <= PAGE_TOLERANCE


@torch.no_grad()
def inspected(model, tokenizer, prompt, place):
    """What hooks on a pre-norm model's layers say of one token, and its lens."""
    tokens = torch.tensor([tokenizer.encode(prompt)])
    place = min(place, tokens.shape[1] - 1)
    layers = [
        x.layer for b in model.stack.blocks for x in (b.attention, b.feed_forward)
    ]
    added = []
    hooks = [x.register_forward_hook(lambda *a: added.append(a[2])) for x in layers]
    model(tokens)
    for hook in hooks:
        hook.remove()
    changes = torch.stack(added)[:, 0, place]
    first = model.embedding(tokens)[0, place]
    states = torch.cat([first[None], first + changes.cumsum(0)])
    shares = model.unembedding.logits(model.stack.norm(states[None]))[0].softmax(-1)
    shares = shares[:, : tokenizer.vocab_size]
    best = shares.max(dim=-1)
    return {
        "lengths": states.norm(dim=-1),
        "changes": changes.norm(dim=-1),
        "cosines": torch.cosine_similarity(changes, states[:-1], dim=-1),
        "answer": shares[:, best.indices[-1]],
        "best": best.values,
        "leaders": [tokenizer.decode([int(i)]) for i in best.indices],
    }


def test_page_and_python_measure_what_the_layers_add(answers, rounded_model):
    tokenizer = shipped("manual-lm").tokenizer
    for asked, answer in zip(ASKED, answers, strict=True):
        want = inspected(rounded_model, tokenizer, *asked)
        for flow in (answer["flow"], follow_shipped(*asked)):
            assert flow["prompt"] == asked[0]
            assert (
                flow["tokens"][flow["position"]] == flow["tokens"][: asked[1] + 1][-1]
            )
            for name in ("lengths", "changes", "cosines", "answer"):
                assert_near(numbers(flow, name).float(), want[name], PAGE_TOLERANCE)
            best = torch.tensor([row[0][1] for row in flow["top"]])
            assert_near(best, want["best"], PAGE_TOLERANCE)
            assert [row[0][0] for row in flow["top"]] == want["leaders"]


@pytest.mark.parametrize("changes", [{}, {"dropout": 0.5}, {"d_head": 6}])
def test_additions_of_a_pre_norm_model_add_up(changes):
    flow = follow(*own_decoder(**changes), "the theme", 1)
    before, after = numbers(flow, "lengths")[:-1], numbers(flow, "lengths")[1:]
    change, cosine = numbers(flow, "changes"), numbers(flow, "cosines")
    total = (before**2 + change**2 + 2 * before * change * cosine).sqrt()
    assert_near(total, after, PAGE_TOLERANCE)
    assert len(flow["changes"]) == 6


def test_a_post_norm_model_is_put_back_to_one_length():
    _, tokenizer = own_decoder()
    model = Decoder(tiny(vocab_size=264, residual="post"))  # its scales are still 1
    flow = follow(model, tokenizer, "the theme")
    lengths = numbers(flow, "lengths")[1:]
    assert flow["norm"] == "post"
    root = torch.tensor(model.config.d_model**0.5, dtype=torch.float64)
    assert_near(lengths, root.expand_as(lengths), PAGE_TOLERANCE)
    figure = BlockFlow(**BlockFlow.followed(*own_decoder(residual="post"), "the"))
    figure.selected = [2]
    assert ", and the norm makes the sum " in said(figure)


def test_following_switches_dropout_off_and_leaves_no_trace():
    model, tokenizer = own_decoder(dropout=0.5)
    at_rest = follow(model.eval(), tokenizer, "the theme")
    assert follow(model.train(), tokenizer, "the theme") == at_rest
    assert model.training
    assert not any(m._forward_hooks for m in model.modules())
    state = torch.get_rng_state()
    random_stacks.cache_clear()
    random_stacks()
    assert torch.equal(torch.get_rng_state(), state)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["pre", "post"])
def test_random_stacks_are_the_librarys_blocks(kind):
    names = {"norm": "layer", "feed_forward": "relu", "positions": "none"}
    sizes = {"d_model": 64, "n_layers": BLOCKS, "n_heads": 4, "d_ff": 256}
    config = Config(vocab_size=1, max_len=16, residual=kind, **sizes, **names)
    torch.manual_seed(0)
    stack = Stack(config).double()
    x = torch.randn(1, 16, 64, dtype=torch.float64) / 4
    lengths = [x.norm(dim=-1).mean()]
    for block in stack.blocks:
        x = block(x, mask="causal")
        lengths.append(x.norm(dim=-1).mean())
    got = torch.tensor(random_stacks()[kind]["lengths"][::2], dtype=torch.float64)
    assert_near(got, torch.stack(lengths), PAGE_TOLERANCE)


def test_the_lesson_of_the_random_stacks():
    pre, post = (random_stacks()[kind] for kind in ("pre", "post"))
    squares = torch.tensor(pre["lengths"]) ** 2
    depth = torch.arange(len(squares), dtype=torch.float32)
    # the root of depth: its square is a straight line
    assert float(torch.corrcoef(torch.stack([squares, depth]))[0, 1]) > 0.98
    assert all(7.99 < x < 8.01 for x in post["lengths"][1:])
    assert sum(pre["shares"][-6:]) < sum(pre["shares"][:6]) / 2
    assert sum(post["shares"][-6:]) > sum(post["shares"][:6])
    pairs = zip(pre["shares"], pre["shares"][1:], strict=False)
    assert any(later > one for one, later in pairs)  # not each time


def figures():
    """States of all kinds: rows held, both norms, models of one's own, odd texts."""
    made = [BlockFlow(selected=[r]) for r in (0, 1, 8)]
    made += [BlockFlow(), BlockFlow(residual="post"), BlockFlow("The method is cal")]
    made += [BlockFlow(text) for text in ("a", "b c", "שלום \u202e", "</script>")]
    for residual in ("pre", "post"):
        own = BlockFlow.followed(*own_decoder(residual=residual), "the theme")
        made += [BlockFlow(**own), BlockFlow(**own | {"selected": [3]})]
    return made


@pytest.fixture(scope="module")
def pages():
    return shown_all(figures())


def test_the_table_has_a_row_for_each_depth_of_both(pages):
    table = pages[3].table
    assert table["header"][:6] == [
        *("after", "length", "addition", "angle", "no. 1", "no. 2")
    ]
    assert table["header"][-1] == "answer “nce”"
    assert len(table["rows"]) == 9 + 25
    assert table["rows"][0][:5] == ["embedding", "17.14", "", "", "re 1.0000"]
    assert table["rows"][7][:5] == [
        *("block 4, attention", "61.80", "35.34", "92°", "nce 0.9475")
    ]
    assert table["rows"][-1][:3] == [
        "random pre-norm stack: block 12, feed-forward",
        *("24.59", "22 % of stream + addition"),
    ]


def test_copied_pytorch_runs(pages):
    for page in pages:
        exec(page.pytorch, {})


@pytest.mark.parametrize("what", ["lengths", "changes", "cosines", "top"])
@pytest.mark.parametrize("own", [False, True])
def test_copied_pytorch_would_notice_a_wrong_number(what, own):
    figure = BlockFlow()
    if own:
        figure = BlockFlow(**BlockFlow.followed(*own_decoder(), "the theme"))
    flow = deepcopy(figure.flow)
    if what == "top":
        flow["top"][4][0][1] = 1.5
    else:
        flow[what][3] = 0.3 + 1.5 * flow[what][3]
    figure.flow = flow
    with pytest.raises(AssertionError):
        exec(shown(figure).pytorch, {})


@pytest.mark.parametrize("residual", ["pre", "post"])
def test_copied_pytorch_of_ones_own_model_says_how_to_compute_it(residual):
    model, tokenizer = own_decoder(residual=residual)
    figure = BlockFlow(**BlockFlow.followed(model, tokenizer, "the theme", 1))
    why, how = (
        line.removeprefix("# ")
        for line in shown(figure).pytorch.splitlines()
        if line.startswith("#")
    )
    assert why.startswith("your model is not in this page, so its numbers are only")
    names = {"BlockFlow": BlockFlow, "model": model, "tokenizer": tokenizer}
    exec(f"computed = {how}", names)
    assert names["computed"]["flow"] == figure.flow


def test_copied_pytorch_would_notice_another_leader():
    code = shown(BlockFlow()).pytorch
    assert '"d", "nce"' in code
    with pytest.raises(AssertionError):
        exec(code.replace('"d", "nce"', '"e", "nce"'), {})


def test_the_answer_emerges():
    figure = BlockFlow()
    assert said(figure) == (
        "Token 8 of 8, “re”: 8 additions take its stream from length 17.1 to 74.3. At "
        "first the lens reads “re”, then “d”; “nce” leads from block 4's attention on, "
        "and ends at more than 99 %."
    )
    figure.selected = [7]
    assert said(figure) == (
        "Block 4, attention, adds 35.3 at 92°, nearly across, to a stream of 52.0, "
        "which is then 61.8 long. The lens reads “nce” (95 %), “d” (2 %), “re” (1 %)."
    )


def test_a_new_prompt_is_followed_in_python():
    figure = BlockFlow()
    figure.prompt = "The method is cal"
    assert figure.flow == follow_shipped("The method is cal", 7)
    assert figure.flow["position"] == 4
    figure.position = 2
    assert figure.flow == follow_shipped("The method is cal", 2)


def test_own_numbers_stay_until_the_page_is_asked():
    own = BlockFlow.followed(*own_decoder(), "the theme", 1)
    figure = BlockFlow()
    figure.update(**own)
    assert (figure.source, figure.flow, figure.position) == ("Python", own["flow"], 1)
    figure.position = 2
    assert figure.flow == own["flow"]
    with pytest.raises(ValueError, match=r"prompt must be the flow's, got 'other'; "):
        figure.prompt = "other"
    figure.source = "page"
    assert figure.flow == follow_shipped("the theme", 2)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"prompt": ""}, "prompt must be 1 to 64 tokens, got 0"),
        ({"prompt": "a b " * 40}, r"prompt must be 1 to 64 tokens, got \d+"),
        ({"prompt": "a" * 301}, "at most 300 signs, got 301; show its end"),
        ({"prompt": "a\ud800"}, "must be valid Unicode: .*lone surrogate"),
        ({"position": 64}, r"position must be one number from 0 to 63, got \[64\]"),
        ({"selected": [9]}, r"selected must be one number from 0 to 8, got \[9\]"),
        ({"selected": [1, 2]}, r"from 0 to 8, got \[1, 2\]"),
        ({"flow": {"tokens": []}}, "what BlockFlow.followed returns, got one without"),
        ({"stacks": {}}, r"stacks.pre must be a dict with .*, got None"),
    ],
)
def test_bad_states_say_why(state, message):
    with pytest.raises(ValueError, match=message):
        BlockFlow(**state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"changes": [1.0]}, r"two layers for each of 1 to 12 blocks, got .*'changes'"),
        (
            {"lengths": [1.0, float("nan")] * 4 + [1.0]},
            r"flow.lengths\[1\] must hold finite",
        ),
        ({"position": 8}, r"position must be one number from 0 to 7, got \[8\]"),
        ({"tokens": []}, "tokens must be 1 to 64, got 0"),
        ({"top": [[["a", 1.0]]] * 9}, "tokens must be 3 to 3, got 1"),
        (
            {"top": [[["a", "b"]] * 3] * 9},
            r"top\[0\]\[0\]\[1\] must hold finite numbers, got 'b'",
        ),
    ],
)
def test_bad_flows_say_why(change, message):
    with pytest.raises(ValueError, match=message):
        BlockFlow(flow=BlockFlow().flow | change)


def test_a_model_of_too_many_blocks_is_refused():
    model, tokenizer = own_decoder()
    deep = Decoder(tiny(vocab_size=264, n_layers=13))
    with pytest.raises(ValueError, match="at most 12 blocks, got 13"):
        BlockFlow.followed(deep, tokenizer, "the")
    assert BlockFlow.followed(model, tokenizer, "the")["source"] == "Python"


def alive(page):
    """Wait until the model is here."""
    page.wait_for_function(
        """() => document.querySelector(".tl-live").shadowRoot
            .querySelector(".coming")?.textContent.includes("runs in this page")"""
    )


@pytest.fixture
def opened(visit, put):
    """Open a figure, and wait for the model."""

    def start(figure=None, **options):
        page = visit(**options)
        page.open(put((figure or BlockFlow()).html()))
        alive(page)
        return page

    return start


def test_the_readers_own_prompt_is_answered_by_the_page(opened):
    page = opened()
    line = page.locator(".coming").inner_text()
    assert "unseen text: 1.8535 bits per byte, before 1.85" in line
    assert line.endswith("knowing nothing is 8.")
    for prompt in ("The method is cal", "a", "two dots means up one pack"):
        page.get_by_label("Your prompt").fill(prompt)
        assert page.said() == said(BlockFlow(prompt))
    row = page.locator("[data-row]").nth(7)
    row.hover()
    want = BlockFlow("two dots means up one pack", selected=[7])
    assert page.said() == said(want)


def test_tokens_are_chosen_by_arrows_and_by_touch(opened):
    page = opened()
    tokens = page.locator(".tokens input")
    tokens.nth(7).focus()
    page.press("ArrowLeft", "ArrowLeft")
    assert page.said() == said(BlockFlow(position=5))
    tokens.nth(1).click()
    assert page.said() == said(BlockFlow(position=1))
    assert page.locator(".tokens input:checked").count() == 1


def test_home_and_end_go_to_the_ends_of_the_tokens(opened):
    page = opened(viewport={"width": 1280, "height": 720})
    tokens = page.locator(".tokens input")
    tokens.nth(3).click()
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY > 50")
    page.press("ArrowLeft")  # brings the picture into the window
    before = page.evaluate("scrollY")
    assert before > 50
    last = tokens.count() - 1
    for key, position in (("Home", 0), ("End", last), ("ArrowLeft", last - 1)):
        page.press(key)
        page.mouse.move(0, 0)
        assert page.said() == said(BlockFlow(position=position))
        assert page.evaluate("scrollY") == before
        assert tokens.nth(position).is_checked()


def test_a_prompt_that_cannot_be_read_is_kept_and_explained(opened):
    page = opened()
    field = page.get_by_label("Your prompt")
    field.fill("")
    assert page.said() == said(BlockFlow())
    status = page.locator(".controls [role=status]")
    assert status.inner_text() == (
        "A prompt must be 1 to 300 characters, this one has 0: type a letter. "
        "Shown is the prompt before."
    )
    assert field.input_value() == ""
    field.fill("I")
    assert page.said() == said(BlockFlow("I"))
    assert status.inner_text() == ""
    field.fill("a b " * 40)
    assert status.inner_text().startswith(
        "A prompt must be 1 to 64 tokens, this one has 81: delete some. "
    )
    page.press("Tab")
    page.said()
    assert (field.input_value(), status.inner_text()) == ("I", "")


def test_half_a_character_is_shown_as_unknown(opened):
    page = opened()
    page.get_by_label("Your prompt").evaluate(
        """(field) => { field.value = "a\\ud83d";
            field.dispatchEvent(new Event("input")); }"""
    )
    assert page.said() == said(BlockFlow("a\ufffd"))


def test_a_held_row_ends_with_its_token_and_its_prompt(opened):
    page = opened()
    row = page.locator("[data-row]").nth(7)
    for change, want in (
        (
            lambda: page.locator(".tokens input").nth(2).click(),
            BlockFlow(position=2),
        ),
        (lambda: page.get_by_label("Your prompt").fill("two"), BlockFlow("two")),
    ):
        row.click()
        page.BLUR()
        assert page.said().startswith("Block 4, attention, adds")
        change()
        assert page.said() == said(want)
        assert page.locator(".locked").count() == 0


def test_a_row_that_the_books_model_does_not_have_is_let_go(live):
    tokenizer = Tokenizer.train("the theme of the thesis", 260)
    deep = tiny_model(Decoder, tiny(vocab_size=264, n_layers=12), torch.float32)
    own = BlockFlow(**BlockFlow.followed(deep, tokenizer, "the theme"))
    own.selected = [24]
    page = live(own)
    page.button("Ask the book's model").click()
    alive(page)
    assert page.said() == said(BlockFlow("the theme"))
    own.selected = [24]
    own.source = "page"
    assert said(own) == said(BlockFlow("the theme"))


def test_a_share_says_what_it_is_a_share_of(opened):
    page = opened()
    caption = page.locator("p.stack").inner_text()
    assert "the first is 87 % as long as stream + addition, the last 22 %." in caption
    shares = random_stacks()["pre"]["shares"]
    assert (round(100 * shares[0]), round(100 * shares[-1])) == (87, 22)


def test_the_link_keeps_prompt_and_token(opened, visit):
    page = opened()
    page.get_by_label("Your prompt").fill("<b>&'\"#=%</script> é")
    page.locator(".tokens input").nth(3).click()
    before = page.said()
    page.locator("summary", has_text="Export").click()
    page.button("Copy link").click()
    link = page.locator("textarea").input_value()
    again = visit()
    again.goto(link)
    again.wait_for_selector(READY)
    alive(again)
    assert again.said() == before
    assert before == said(BlockFlow("<b>&'\"#=%</script> é", position=3))


def test_a_prompt_can_be_typed_key_by_key(opened):
    page = opened()
    field = page.get_by_label("Your prompt")
    field.focus()
    page.press("End")
    for key, text in (("n", "It is a referen"), ("c", "It is a referenc")):
        page.press(key)
        assert page.said() == said(BlockFlow(text))
        assert field.input_value() == text
    page.press("Backspace")
    page.said()
    assert field.input_value() == "It is a referen"


def test_stored_numbers_stay_where_no_model_comes(visit, put):
    page = visit()
    page.route("**/weights/**", lambda route: route.abort())
    page.open(put(BlockFlow().html()))
    line = page.locator(".coming")
    line.get_by_text("did not come").wait_for()
    reason = 'the model "manual-lm" did not come'
    assert line.inner_text() == f"Stored numbers: {reason}. Try again"
    assert page.said() == said(BlockFlow())
    assert page.get_by_label("Your prompt").is_disabled()
    assert page.locator(".tokens input:enabled").count() == 0
    page.grid().focus()
    page.press("End", "ArrowDown")
    assert page.said() == said(BlockFlow(selected=[1]))
    assert all("ERR_FAILED" in error for error in page.errors)
    page.errors.clear()


def test_own_numbers_are_said_to_be_ones_own(visit, put):
    asked = []
    own = BlockFlow(**BlockFlow.followed(*own_decoder(), "the theme"))
    page = visit()
    page.on("request", lambda request: asked.append(request.url))
    page.open(put(own.html()))
    assert page.said() == said(own)
    assert page.get_by_text("Numbers from Python: your own model.").is_visible()
    assert page.get_by_label("Your prompt").is_disabled()
    assert not any("weights" in url for url in asked)
    page.button("Ask the book's model").click()
    alive(page)
    assert page.said() == said(BlockFlow("the theme"))
    page.button("Reset").click()
    assert page.said() == said(own)


def test_the_norm_switch_shows_the_other_stack(opened):
    page = opened()
    caption, picture = page.locator("p.stack"), page.locator("svg[role=img]")
    assert (
        "grows about like the root of depth, 2.0 to 24.6 in 12" in caption.inner_text()
    )
    assert "On the whole, though not each time, additions count less" in (
        caption.inner_text()
    )
    root = picture.locator(".root")
    assert root.get_attribute("d") != ""
    top = "node => node.offsetTop"
    before = page.locator(".foot").evaluate(top)
    page.get_by_label("post-norm").check()
    page.said()
    assert "puts the stream back to the same length, 8.0." in caption.inner_text()
    assert picture.get_attribute("aria-label") == caption.inner_text()
    assert root.get_attribute("d") == ""
    assert page.locator(".foot").evaluate(top) == before


def test_a_finger_can_do_what_is_to_be_tried(opened):
    page = opened(**FINGER)
    page.locator("[data-row]").nth(7).tap()
    assert page.said() == said(BlockFlow(selected=[7]))
    page.locator(".tokens label").nth(3).tap()
    assert page.said() == said(BlockFlow(position=3))
    page.locator(".options label", has_text="post-norm").tap()
    page.said()
    caption = page.locator("p.stack").inner_text()
    assert "puts the stream back to the same length, 8.0." in caption


def test_tokens_and_stream_are_seen_together_on_a_phone(opened):
    page = opened(**FINGER)
    top = page.locator(".tokens").bounding_box()["y"]
    stream = page.locator(".picture").bounding_box()
    assert stream["y"] + stream["height"] - top < 740


def test_the_followed_token_comes_into_sight(opened):
    page = opened(**FINGER)
    prompt = "The method is called with the argument of the"
    page.get_by_label("Your prompt").fill(prompt)
    page.said()
    line = page.locator(".tokens .options").bounding_box()
    tokens = page.locator(".tokens label")
    last, before = (tokens.nth(i).bounding_box() for i in (-1, -2))
    assert line["x"] <= last["x"]
    assert last["x"] + last["width"] <= line["x"] + line["width"] + 1
    assert before["x"] + before["width"] <= last["x"] + 1
    word = tokens.locator("span", has_text="argument").bounding_box()
    cell = tokens.filter(has_text="argument").bounding_box()
    assert word["width"] < cell["width"]


def test_tokens_out_of_sight_are_hinted_at(opened):
    page = opened(**FINGER)
    line = page.locator(".tokens .options")
    legend = page.locator(".tokens legend")

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
    for left, wanted in ((60, "#0000,#0000"), (0, ",#0000")):
        line.evaluate("(node, left) => { node.scrollLeft = left; }", left)
        assert signs() == wanted
    covers = """(node) => ["::before", "::after"].map((end) =>
        getComputedStyle(node, end).content)"""
    assert line.evaluate(covers) == ["none", "none"]
    assert "linear-gradient" in line.evaluate("(n) => getComputedStyle(n).maskImage")
    ends = line.bounding_box()
    page.touchscreen.tap(ends["x"] + 8, ends["y"] + 20)
    assert page.said() == said(BlockFlow(prompt, position=0))


def test_a_blank_keeps_clear_of_the_number_below_it_on_a_phone(opened):
    page = opened(**FINGER)
    names = page.locator("[data-part] .token")
    assert names.count() == 27
    for name in names.all():
        token, share = name.evaluate(
            "(t) => [t, t.nextElementSibling].map((one) => +one.getAttribute('y'))"
        )
        assert share - token >= 15  # a line of 12.5 pixels, and clear ground


@pytest.mark.parametrize("options", [{}, PHONE])
def test_no_row_moves_what_is_below_it(opened, options):
    page = opened(**options)
    tops = set()
    page.grid().focus()
    for row in range(9):
        assert page.said() == said(BlockFlow(selected=[row]))
        tops.add(page.locator(".foot").evaluate("node => node.offsetTop"))
        page.press("ArrowDown")
    assert len(tops) == 1
    assert page.wide() <= max(320, page.viewport_size["width"])


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_prompts_stay_text(kind):
    if kind in ("empty", "long"):
        with pytest.raises(ValueError, match="prompt must be"):
            BlockFlow(HOSTILE[kind])
        return
    figure = BlockFlow(HOSTILE[kind][:30])
    assert set(Tags(figure.html()).tags) == {"div", "p"}


def test_hostile_prompts_are_inert_in_the_page(opened):
    page = opened(**PHONE)
    field = page.get_by_label("Your prompt")
    for kind, text in HOSTILE.items():
        field.fill(text)
        assert page.said(), kind
        assert page.locator(".error").is_hidden(), kind
        assert page.locator("img").count() == 0, kind
        assert page.wide() <= 320, kind
    assert "</script>" in BlockFlow(HOSTILE["script"]).flow["prompt"]


def test_the_deepest_model_fits_a_phone(live):
    tokenizer = Tokenizer.train("the theme of the thesis", 260)
    config = tiny(vocab_size=264, n_layers=BLOCKS)
    model = tiny_model(Decoder, config, torch.float32)
    figure = BlockFlow(**BlockFlow.followed(model, tokenizer, "the theme " * 12))
    page = live(figure, **PHONE)
    assert page.said() == said(figure)
    assert page.locator("[data-row]").count() == 25
    assert page.wide() <= 320


def test_the_lens_and_the_angle_are_explained_above_the_stream(live):
    page = live(BlockFlow())
    note = page.locator(".title small").first.inner_text()
    assert "at 0° more of the same, at 90° all new, beyond it takes away. " in note
    assert note.endswith("The lens reads as if at the end")
    tip = page.locator(".try").first.inner_text()
    assert "the bold bar (bold: what it ends with)?" in tip


END = """say => { const range = document.createRange();
    range.selectNodeContents(say); return range.getBoundingClientRect().bottom; }"""


def test_tokens_and_their_answer_are_seen_together_on_a_phone(opened):
    page = opened(**FINGER | {"viewport": {"width": 360, "height": 684}})
    tokens = page.locator(".tokens").bounding_box()
    bars = page.locator("rect.answer").all()[-1].bounding_box()
    assert bars["y"] + bars["height"] - tokens["y"] < 640
    choice = page.locator(".tokens .options").bounding_box()
    end = page.locator(".say").evaluate(END)
    assert end - choice["y"] < 684
