"""Beam search: by hand, against all texts there are, and at width 1."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from samples import normal
from tolerances import TOLERANCE, assert_near

from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    beam_step,
    beam_translate,
    generate,
    length_penalty,
    pad_left,
    translate,
)

TINY = Config(
    vocab_size=4,
    d_model=8,
    n_layers=1,
    n_heads=2,
    d_ff=8,
    max_len=16,
    positions="learned",  # the waves of the others are in float32
    tied=False,
)
END, N = 3, 3
PROMPT = [1, 2]


def test_a_step_extends_the_likeliest_texts():
    shares = torch.tensor([[0.5, 0.25, 0.25], [0.9, 0.05, 0.05]])
    scores = torch.tensor([[0.6, 0.3]]).log()
    best, beams, tokens = beam_step(scores, shares.log()[None] + 7, 2)
    # 0.6 * 0.5 = 0.3, 0.3 * 0.9 = 0.27; the next would be 0.6 * 0.25 = 0.15
    assert_near(best.exp(), torch.tensor([[0.3, 0.27]]))
    assert beams.tolist() == [[0, 1]]
    assert tokens.tolist() == [[0, 0]]


@pytest.mark.parametrize("width", [1, 4, 15, 99])
def test_a_step_takes_the_best_of_all_extensions(width):
    scores, logits = normal(0, 2, 3), normal(1, 2, 3, 5, dtype=torch.bfloat16)
    best, beams, tokens = beam_step(scores, logits, width)
    for row in range(2):
        log_p = logits[row].float().log_softmax(-1)
        longer = [
            (float(scores[row, beam] + log_p[beam, token]), beam, token)
            for beam, token in product(range(3), range(5))
        ]
        want, from_beams, added = zip(*sorted(longer)[::-1][:width], strict=True)
        assert_near(best[row], torch.tensor(want))
        assert beams[row].tolist() == list(from_beams)
        assert tokens[row].tolist() == list(added)


def model(family=Decoder, seed=0, **changes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return family(replace(TINY, **changes)).double().eval()


ALL = list(product(range(TINY.vocab_size), repeat=N))


def every_text(log_p, alpha, end_id):
    """Return the best score and text, of N tokens or fewer with an end.

    ``log_p`` are those of each token of each text in ALL.
    """
    scored = {}
    for whole, terms in zip(ALL, log_p.tolist(), strict=True):
        n = whole.index(end_id) + 1 if end_id in whole else N
        scored[whole[:n]] = sum(terms[:n]) / length_penalty(n, alpha)
    return max((score, text) for text, score in scored.items())


@torch.no_grad()
def after(decoder, prompt, texts=ALL):
    """Return the log-probability of each token of each text behind the prompt."""
    texts = torch.tensor(texts)
    prompts = torch.tensor(prompt).expand(len(texts), -1)
    log_p = decoder(torch.cat((prompts, texts), dim=1)).log_softmax(-1)
    return log_p[:, len(prompt) - 1 : -1].gather(2, texts[..., None])[..., 0]


@torch.no_grad()
def after_source(full, source):
    """Return the log-probability of each token of each text as a target."""
    texts = torch.tensor(ALL)
    sources = torch.tensor(source).expand(len(texts), -1)
    starts = torch.zeros(len(texts), 1, dtype=torch.int64)
    log_p = full(sources, torch.cat((starts, texts), dim=1)).log_softmax(-1)
    return log_p[:, :-1].gather(2, texts[..., None])[..., 0]


WAVES = TOLERANCE[torch.float32]
WIDE = TINY.vocab_size**N
CASES = [
    (seed, alpha, end_id)
    for seed in range(4)
    for alpha in (0.0, 0.6, 2.0)
    for end_id in (None, END)
]


@pytest.mark.parametrize(("seed", "alpha", "end_id"), CASES)
def test_a_beam_that_is_wide_enough_finds_the_best_text(seed, alpha, end_id):
    decoder = model(seed=seed)
    score, text = every_text(after(decoder, PROMPT), alpha, end_id)
    found = beam_search(
        decoder,
        torch.tensor([PROMPT]),
        width=WIDE,
        max_new_tokens=N,
        alpha=alpha,
        end_id=end_id,
    )
    assert found.tokens.tolist() == [list(text)]
    assert_near(found.scores, torch.tensor([score], dtype=torch.float64))


def test_the_cases_have_short_and_long_winners():
    winners = {
        len(every_text(after(model(seed=seed), PROMPT), alpha, end_id)[1])
        for seed, alpha, end_id in CASES
    }
    assert len(winners) > 1


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_wide_beam_finds_the_best_target_of_each_source(alpha):
    full = model(EncoderDecoder)
    sources, lengths = torch.tensor([[1, 2, 3], [2, 0, 0]]), torch.tensor([3, 1])
    found = beam_translate(
        full,
        sources,
        lengths,
        start_id=0,
        end_id=END,
        width=WIDE,
        max_new_tokens=N,
        alpha=alpha,
    )
    for row, source in enumerate([[1, 2, 3], [2]]):
        score, text = every_text(after_source(full, source), alpha, END)
        assert found.tokens[row].tolist()[: len(text)] == list(text)
        assert_near(found.scores[row], torch.tensor(score, dtype=torch.float64))


def test_what_stands_behind_an_end_is_padding():
    prompts = torch.tensor([[1, 2], [2, 2], [0, 1], [3, 0], [1, 1], [2, 0]])
    seen = set()
    for pad_id in (0, 2):
        found = beam_search(
            model(), prompts, width=WIDE, max_new_tokens=N, end_id=END, pad_id=pad_id
        )
        for prompt, got in zip(prompts.tolist(), found.tokens.tolist(), strict=True):
            _, text = every_text(after(model(), prompt), 0.6, END)
            assert got == [*text, *[pad_id] * (len(got) - len(text))]
            seen.add(len(text))
    assert len(seen) > 1
    assert found.tokens.shape[1] == max(seen)


def searched_slowly(decoder, prompt, width, n):
    """Search with lists: what ends leaves its place to the likeliest that goes on."""
    beam, finished = [(0.0, ())], []
    for length in range(1, n + 1):
        longer = sorted(
            (score + log_p, (*text, token))
            for score, text in beam
            for token, log_p in enumerate(
                decoder(torch.tensor([[*prompt, *text]]))[0, -1]
                .log_softmax(-1)
                .tolist()
            )
        )[::-1]
        ended = [pair for pair in longer[:width] if pair[1][-1] == END]
        beam = [pair for pair in longer if pair[1][-1] != END][:width]
        finished += [
            (score / length_penalty(length, 2.0), text)
            for score, text in ended + (beam if length == n else [])
        ]
    return list(max(finished)[1])


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", [7, 19, 33, 51])  # a lost place would show
def test_an_ended_text_leaves_its_place_in_the_beam(seed, width):
    decoder = model(seed=seed, vocab_size=6)
    settings = {"max_new_tokens": 6, "alpha": 2.0, "end_id": END}
    found = beam_search(decoder, torch.tensor([PROMPT]), width=width, **settings)
    want = searched_slowly(decoder, PROMPT, width, 6)
    assert found.tokens[0].tolist() == want


LARGER = {"vocab_size": 30, "n_layers": 2}


@pytest.mark.parametrize("end_id", [None, *range(8)])
def test_width_1_is_greedy(end_id):
    prompts = torch.tensor([[1, 2], [20, 4], [9, 9]])
    settings = {"max_new_tokens": 9, "end_id": end_id, "pad_id": 29}
    found = beam_search(model(seed=3, **LARGER), prompts, width=1, **settings)
    steps = generate(model(seed=3, **LARGER), prompts, **settings)
    assert found.tokens.equal(torch.stack(list(steps), dim=1))
    full = model(EncoderDecoder, seed=3, **LARGER)
    found = beam_translate(full, prompts, start_id=1, width=1, **settings)
    steps = translate(full, prompts, start_id=1, **settings)
    assert found.tokens.equal(torch.stack(list(steps), dim=1))


def log_p_of(decoder, prompt, text):
    return float(after(decoder, prompt, [text]).sum())


def test_a_wider_beam_finds_likelier_texts():
    gains = []
    for seed in range(5):
        decoder = model(seed=seed, **LARGER)
        narrow, wide = (
            beam_search(
                decoder, torch.tensor([PROMPT]), width=w, max_new_tokens=6, alpha=0.0
            )
            for w in (1, 12)
        )
        for found in (narrow, wide):
            want = log_p_of(decoder, PROMPT, found.tokens[0].tolist())
            assert_near(found.scores, torch.tensor([want], dtype=torch.float64))
        gains.append(float(wide.scores - narrow.scores))
    assert min(gains) >= 0
    assert sum(gain > 0.1 for gain in gains) > 2


@pytest.mark.parametrize("changes", [{}, {"window": 3}, {"positions": "rotary"}])
def test_a_batch_of_beams_equals_single_beams(changes):
    decoder = model(seed=2, **LARGER, **changes)
    prompts = [[7], [1, 2, 3, 4, 5, 6], [8, 9]]
    settings = {"width": 4, "max_new_tokens": 8}
    together = beam_search(decoder, *pad_left(prompts), **settings)
    for row, prompt in enumerate(prompts):
        alone = beam_search(decoder, torch.tensor([prompt]), **settings)
        assert together.tokens[row].equal(alone.tokens[0])
        assert_near(together.scores[row], alone.scores[0], WAVES)
        want = log_p_of(decoder, prompt, alone.tokens[0].tolist())
        want = torch.tensor([want / length_penalty(8, 0.6)], dtype=torch.float64)
        assert_near(alone.scores, want, WAVES)  # so the caches moved with the beams


def test_it_stops_when_no_text_can_still_win():
    n_read = []
    for seed in range(6):
        decoder, calls = model(seed=seed), []
        decoder.stack.register_forward_hook(lambda *_, calls=calls: calls.append(1))
        beam_search(
            decoder, torch.tensor([PROMPT]), width=2, max_new_tokens=9, end_id=END
        )
        n_read.append(len(calls))
    assert min(n_read) < 9
    assert max(n_read) <= 9


def test_the_found_is_an_ordinary_tensor():
    found = beam_search(model(), torch.tensor([PROMPT]), width=2, max_new_tokens=2)
    assert not found.tokens.is_inference()
    assert not found.scores.is_inference()


def test_length_penalty():
    assert length_penalty(7, 0.5) == math.sqrt(2)
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(40, 0.0) == 1


def searched(**changes):
    settings = {"width": 2, "max_new_tokens": 2} | changes
    return lambda: beam_search(model(), torch.tensor([PROMPT]), **settings)


def broken():
    decoder = model()
    decoder.stack.norm.weight.data.fill_(torch.nan)
    return beam_search(decoder, torch.tensor([PROMPT]), width=2, max_new_tokens=2)


REFUSED = {
    "no beam": (searched(width=0), "a beam needs a width of at least 1, got 0"),
    "prized length": (
        searched(alpha=-0.1),
        r"alpha must be at least 0 \(no penalty\), got -0.1",
    ),
    "alpha that is no number": (
        searched(alpha=math.nan),
        "alpha must be at .* got nan",
    ),
    "a broken model": (broken, "the largest logit of each row must be finite, got nan"),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_searched_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
