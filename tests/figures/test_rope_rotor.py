"""RoPERotor: its numbers are the library's, the lesson, and what it says."""

import io
import math
import re

import numpy as np
import pytest
import torch
from figure_page import (
    assert_fits,
    edges,
    fixed,
    must_notice,
    must_say,
    refusals,
    with_shown,
)
from PIL import Image
from playwright.sync_api import expect
from touch import FINGER, swipe

from transformer_book.figures import RoPERotor
from transformer_lib.positions import apply_rotary, frequencies


def random_rotor(rng):
    """A state anywhere in the ranges, with and without a pair held."""
    half = int(rng.integers(1, 9))
    size = float(rng.choice([0.01, 1, 900]))
    query, key = np.round(rng.uniform(-size, size, (2, 2 * half)), 4)
    if rng.random() < 0.2:
        query[[0, half]] = 0
    m, n = map(int, rng.integers(32, size=2))
    base = float(rng.choice([1, 10, 316, 10_000, 1_000_000]))
    return RoPERotor(query, key, m=m, n=n, base=base, pair=int(rng.integers(-1, 8)))


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    return with_shown(random_rotor(rng) for _ in range(60))


def hands_of(rotor):
    """Query and key as the library turns them: a complex number for each pair."""
    turned = []
    for vector, place in ((rotor.query, rotor.m), (rotor.key, rotor.n)):
        x, at = (torch.tensor(x, dtype=torch.float64) for x in ([vector], [place]))
        turned.append(torch.complex(*apply_rotary(x, at, base=rotor.base)[0].chunk(2)))
    return torch.stack(turned)


def round_of(speed):
    """The positions in which a clock goes round once."""
    steps = 2 * math.pi / speed
    return fixed(steps, 1) if steps < 100 else f"{math.floor(steps + 0.5):,}"


HEADER = ["pair", "dimensions", "positions per turn", "query turned by (degrees)"]
HEADER += ["key turned by (degrees)", "angle between them (degrees)", "contribution"]


def test_the_numbers_are_the_librarys(pairs):
    """The hands, and what the table and the sentence say of them."""
    sentences = []
    for rotor, page in pairs:
        half, hands = len(rotor.query) // 2, hands_of(rotor)
        drawn = [[clock[name] for clock in page.geometry["pairs"]] for name in "qk"]
        drawn = torch.view_as_complex(torch.tensor(drawn, dtype=torch.float64))
        torch.testing.assert_close(drawn, hands, rtol=1e-9, atol=1e-9)
        products = hands[0] * hands[1].conj()
        parts, total = products.real.tolist(), products.real.sum()
        apart = torch.rad2deg(products.angle().abs()) * (products != 0)
        speeds = frequencies(2 * half, base=rotor.base).tolist()
        rounds = [round_of(speed) for speed in speeds]
        rows = [
            [i, f"{i}, {i + half}", rounds[i]]
            + [fixed(math.degrees(at * speeds[i]), 1) for at in (rotor.m, rotor.n)]
            + [fixed(apart[i], 1), fixed(parts[i], 4)]
            for i in range(half)
        ]
        assert page.table["header"] == HEADER
        assert page.rows == [*rows, ["sum", *[""] * 5, fixed(total, 4)]]

        i = rotor.pair
        said = f"Query at position {rotor.m}, key at {rotor.n}: the dot product is "
        if 0 <= i < half:
            are = f"Query and key are {fixed(apart[i], 0)}° apart"
            said = f"Pair {i}, dimensions {i} and {i + half} (one from each half): "
            said += f"one turn every {rounds[i]} positions. "
            said += f"{are if products[i] else 'Query or key is 0'}; "
            said += f"this pair adds {fixed(parts[i])} to the dot product of "
        assert page.sentence.startswith(f"{said}{fixed(total)}.")
        sentences.append(page.sentence)
    assert "Query or key is 0" in " ".join(sentences)


def test_the_copied_program_asserts_the_pages_numbers(pairs):
    for _, page in pairs[::4]:
        page.run()
    mistakes = {
        "expected = torch": "expected = 1 + torch",
        "parts(m + 5, n + 5)": "parts(m + 5, n + 4)",
    }
    must_notice(pairs[0][1].pytorch, mistakes, match="not close")


def test_the_rule_names_only_places_that_there_are():
    stays = "and it stays the same: only m − n"
    rules = {
        (26, 4): f"Shift both by 5, to 31 and 9, {stays} = 22 matters.",
        (31, 5): f"Shift both back by 5, to 26 and 0, {stays} = 26 matters.",
        (4, 27): "Only m − n = -23 matters.",
    }
    must_say((RoPERotor(m=m, n=n), f"*. {rule}") for (m, n), rule in rules.items())


def test_tensors_are_unpacked_and_rounded():
    query = torch.tensor([1.23456, -0.00001])
    assert RoPERotor(query, query).query == [1.2346, 0.0]


test_bad_states_say_why = refusals(
    RoPERotor,
    ({"query": [1.0] * 3, "key": [1.0] * 3}, "an even integer from 2 to 16, got 3"),
    ({"query": [], "key": []}, "2 to 16, got 0"),
    ({"n": -1}, "n must be an integer from 0 to 31, got -1"),
    ({"base": 0.5}, "base must be a number from 1 to 1000000, got 0.5"),
    ({"pair": 8}, "pair must be an integer from -1 to 7, got 8"),
)


def gap_to_curve(page, apart):
    """Pixels from the dot to the point of the curve at this m - n."""
    dot, curve = page.locator(".dot"), page.locator("path.total").get_attribute("d")
    points = re.findall(r"[ML](\S+?) ([^ML]+)", curve)
    assert len(points) == 8 * 31 + 1  # in steps of 1/4
    on_it = zip(("cx", "cy"), points[4 * (apart + 31)], strict=True)
    return max(abs(float(dot.get_attribute(at)) - float(end)) for at, end in on_it)


def hands(page):
    """Where the hands of all clocks point."""
    return page.locator(".hand").evaluate_all(
        "(all) => all.map((hand) => hand.getAttribute('d'))"
    )


def readout(page):
    """What stands below the buttons: the difference, the product, both before."""
    page.said()
    return page.locator(".both > *").all_inner_texts()


def test_the_lesson_a_shift_turns_all_hands_and_keeps_the_score(live):
    page = live(RoPERotor())
    score = page.locator("[role=img]")
    before, turned = score.get_attribute("aria-label"), hands(page)
    assert readout(page) == ["m − n = 3", "dot product 0.53", "", ""]
    said = page.push("+ 5")
    assert "Query at position 17, key at 14: the dot product is 0.53" in said
    assert score.get_attribute("aria-label") == before
    assert gap_to_curve(page, apart=3) < 0.01
    assert readout(page)[2:] == ["before: 3", "before: 0.53, unchanged"]
    assert all(a != b for a, b in zip(hands(page), turned, strict=True))
    page.push("− 5")
    assert hands(page) == turned


def test_keys_move_one_of_them_and_before_is_where_their_press_began(live):
    page = live(RoPERotor())
    query = page.slider("Query")
    turned = hands(page)
    query.focus()
    for _ in range(3):  # without a keyup between them: a key that repeats
        page.keyboard.down("ArrowRight")
    moved = "dot product 2.52"
    assert readout(page) == ["m − n = 6", moved, "before: 3", "before: 0.53"]
    page.keyboard.up("ArrowRight")
    for pressed, m in (("ArrowRight", 16), ("PageUp", 21), ("End", 31), ("Home", 0)):
        page.press(pressed)
        assert query.get_attribute("aria-valuenow") == str(m)
    assert readout(page)[2] == "before: 22"
    page.press("Tab", "ArrowLeft", "PageDown")
    assert "Query at position 0, key at 3: the dot product" in page.said()
    assert gap_to_curve(page, apart=-3) < 0.01
    assert all(a != b for a, b in zip(hands(page), turned, strict=True))
    page.slider("Base").focus()
    page.press("Home")  # other clocks: what was before says nothing
    assert readout(page)[2:] == ["", ""]


def lane(page, name):
    """The middle of a lane's knob, and the x of the last position."""
    lane = page.locator(".lane", has=page.slider(name))
    knob, band = edges(lane.locator(".knob")), edges(lane.locator("> rect"))
    place = ((knob.left + knob.right) / 2, (knob.top + knob.bottom) / 2)
    return place, band.right - 18


def test_a_drag_moves_one_of_them_and_before_is_where_it_began(live):
    page = live(RoPERotor(), width=360, height=1400)
    (x, y), end = lane(page, "Key")
    page.mouse.move(x, y)
    page.mouse.down()
    for share in (0.3, 0.6, 1):
        page.mouse.move(x + share * (end + 15 - x), y + 90 * share)
        assert readout(page)[2:] == ["before: 3", "before: 0.53"]
    assert "Query at position 12, key at 31: the dot product" in page.said()
    page.mouse.move(x, y)
    assert readout(page) == ["m − n = 3", "dot product 0.53", "", ""]
    page.mouse.move(end, y)
    page.mouse.up()
    page.mouse.move(100, y)
    page.push("− 5")
    assert readout(page)[2] == "before: -19"


def test_a_finger_moves_one_of_them_from_where_it_came_down(live):
    page = live(RoPERotor(m=25, n=9), **FINGER | {"height": 1400})
    page.touchscreen.tap(*lane(page, "Key")[0])  # another handle has the focus
    (x, y), end = lane(page, "Query")
    step = (end - x) / (31 - 25)
    stops = [(x - at * step, y + at / 4) for at in (6, 11, 17, 21, 22)]
    swipe(page.page, (x, y), *stops)
    assert page.said().startswith("Query at position 3, key at 9: ")
    assert readout(page)[2:] == ["before: 16", "before: -1.22"]
    note = page.locator(".title small").nth(1)
    assert note.inner_text() == "before: -1.22 at 16"
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]


def test_a_phone_shows_shift_product_and_clocks_and_a_held_pairs_curve(live):
    phone = FINGER | {"width": 344, "height": 660}  # as in the book at 360
    page = live(RoPERotor(), "<p>after</p>" * 60, more=False, **phone)
    shift = page.button("+ 5")
    shift.evaluate("(node) => scrollTo(0, node.getBoundingClientRect().top - 64)")
    shift.tap()  # it stands below a header of 56 pixels
    page.said()
    both, told, query, curve = (
        edges(page.locator(part))
        for part in (".both", ".told", ".lane[data-part=query]", "svg[role=img]")
    )
    faces = [edges(face) for face in page.locator("circle.thin").all()]
    assert both.top > 64
    assert both.bottom < min(face.top for face in faces)
    assert max(face.bottom for face in faces) < told.top
    assert curve.bottom - query.top < 478
    clocks, part = page.locator(".panel").first, page.locator("path.part")
    before = edges(clocks), part.get_attribute("d")
    page.locator("[data-col='1']").dispatch_event("click")
    assert page.said().startswith("Pair 1, ")
    assert before == (edges(clocks), "")
    assert part.get_attribute("d").startswith("M48 ")
    assert "dashed: pair 1" in page.locator(".title small").last.inner_text()


CLEARED = """() => [...document.querySelector(".tl-live").shadowRoot
  .querySelectorAll(".clear")].map((node) => {
    node.style.setProperty("fill", "transparent", "important");
    node.ownerSVGElement.scrollIntoView({ block: "center" });
    const { left, top } = node.ownerSVGElement.getBoundingClientRect();
    const { x, y, width, height } = node.getBBox();
    return { x: left + x, y: top + y, width, height }; })"""


@pytest.mark.parametrize("options", [{}, FINGER], ids=["wide", "phone"])
@pytest.mark.parametrize("places", [{"m": 12, "n": 9}, {"m": 0, "n": 31}])
def test_no_line_runs_through_a_label(live, places, options):
    page = live(RoPERotor(**places), **options)
    for theme in ("light", "dark"):
        page.turn(theme)
        labels = page.evaluate(CLEARED)
        assert len(labels) == 3
        for place in labels:
            picture = Image.open(io.BytesIO(page.screenshot(clip=place)))
            tones = picture.convert("L").getextrema()
            assert tones[1] - tones[0] <= 3  # the ground is smooth to a shade or two


def test_shift_stops_at_the_ends(live):
    page = live(RoPERotor(m=27, n=4))
    for name in ("− 5", "+ 5"):
        assert page.button(name).is_disabled()
    why = page.get_by_role("group", name="Shift both by 5").locator(".name").last
    assert why.inner_text() == "only 0 to 31"
    page.slider("Key").focus()
    page.press("ArrowRight")
    assert page.button("− 5").is_enabled()
    page.slider("Query").focus()
    page.press("ArrowLeft")
    assert why.inner_text() == ""


@pytest.mark.parametrize("width", [320, 1280])
def test_every_number_of_clocks_fits_and_zeros_are_drawn(live, width):
    vectors = [[0.0] * 4, *([0.0, *[1.0] * (2 * half - 1)] for half in (1, 3, 8))]
    rotors = [RoPERotor(vector, vector[::-1], m=31, n=0) for vector in vectors]
    page = live(*rotors, width=width, height=7000)
    expect(page.locator(".hand")).to_have_count(sum(map(len, vectors)))
    assert_fits(page, width)
