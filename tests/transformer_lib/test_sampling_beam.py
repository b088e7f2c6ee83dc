"""Beam search: by hand, against all texts there are, and at width 1."""

import math
from itertools import product

import pytest
import torch
from refusals import refused
from sampled import model, texts
from samples import normal
from tolerances import assert_near

from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    beam_step,
    beam_translate,
    generate,
    length_penalty,
    translate,
)

SIZES = {"vocab_size": 4, "d_model": 8, "n_layers": 1, "d_ff": 8, "max_len": 16}
END, N = 3, 3
PROMPT = [1, 2]
ALL = torch.tensor(list(product(range(4), repeat=N)))
WIDE = len(ALL)


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


@torch.no_grad()
def every_text(net, start, alpha, end_id, **source):
    """Return the best score and text behind a start, of N tokens or fewer with an end.

    The net is a decoder, or an encoder-decoder with a source.
    """
    whole = torch.cat((torch.tensor(start).expand(WIDE, -1), ALL), dim=1)
    given = [torch.tensor(s).expand(WIDE, -1) for s in source.values()]
    log_p = net(*given, whole)[:, len(start) - 1 : -1].log_softmax(-1)
    scored = {}
    terms_of_each = log_p.gather(2, ALL[..., None])[..., 0].tolist()
    for text, terms in zip(ALL.tolist(), terms_of_each, strict=True):
        n = text.index(end_id) + 1 if end_id in text else N
        scored[tuple(text[:n])] = sum(terms[:n]) / length_penalty(n, alpha)
    return max((score, list(text)) for text, score in scored.items())


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("end_id", [None, END])
def test_a_beam_that_is_wide_enough_finds_the_best_text(alpha, end_id):
    lengths = set()
    for seed in range(4):
        decoder = model(seed=seed, **SIZES)
        score, text = every_text(decoder, PROMPT, alpha, end_id)
        options = {"width": WIDE, "max_new_tokens": N, "alpha": alpha, "end_id": end_id}
        found = beam_search(decoder, torch.tensor([PROMPT]), **options)
        assert found.tokens.tolist() == [text]
        assert_near(found.scores, torch.tensor([score], dtype=torch.float64))
        lengths.add(len(text))
    assert len(lengths) > 1 or end_id is None


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_wide_beam_finds_the_best_target_of_each_source(alpha):
    full = model(EncoderDecoder, seed=0, **SIZES)
    sources, lengths = torch.tensor([[1, 2, 3], [2, 0, 0]]), torch.tensor([3, 1])
    options = {"width": WIDE, "max_new_tokens": N, "alpha": alpha, "end_id": END}
    found = beam_translate(full, sources, lengths, start_id=0, **options)
    assert not any(tensor.is_inference() for tensor in found)
    for row, source in enumerate([[1, 2, 3], [2]]):
        score, text = every_text(full, [0], alpha, END, source=source)
        assert found.tokens[row].tolist()[: len(text)] == text
        assert_near(found.scores[row], torch.tensor(score, dtype=torch.float64))


def searched_slowly(decoder, width, n):
    """Search with lists: what ends leaves its place to the likeliest that goes on."""
    beam, finished = [(0.0, [])], []
    for length in range(1, n + 1):
        longer = []
        for score, text in beam:
            log_p = decoder(torch.tensor([PROMPT + text]))[0, -1].log_softmax(-1)
            longer += [(score + p, [*text, t]) for t, p in enumerate(log_p.tolist())]
        longer.sort(reverse=True)
        ended = [pair for pair in longer[:width] if pair[1][-1] == END]
        beam = [pair for pair in longer if pair[1][-1] != END][:width]
        finished += [
            (score / length_penalty(length, 2.0), text)
            for score, text in ended + (beam if length == n else [])
        ]
    return max(finished)[1]


# a lost place would show
@pytest.mark.parametrize(("seed", "width"), [(7, 2), (33, 2), (19, 3), (45, 3)])
def test_an_ended_text_leaves_its_place_in_the_beam(seed, width):
    decoder = model(seed=seed, **SIZES | {"vocab_size": 6})
    settings = {"max_new_tokens": 6, "alpha": 2.0, "end_id": END}
    found = beam_search(decoder, torch.tensor([PROMPT]), width=width, **settings)
    assert found.tokens[0].tolist() == searched_slowly(decoder, width, 6)


@pytest.mark.parametrize("end_id", [None, *range(8)])
def test_width_1_is_greedy(end_id):
    prompts = torch.tensor([[1, 2], [20, 4], [9, 9]])
    settings = {"max_new_tokens": 9, "end_id": end_id, "pad_id": 29}
    decoder = model(seed=3, vocab_size=30)
    found = beam_search(decoder, prompts, width=1, **settings)
    assert found.tokens.tolist() == texts(generate(decoder, prompts, **settings))
    full, settings["start_id"] = model(EncoderDecoder, seed=3, vocab_size=30), 1
    found = beam_translate(full, prompts, width=1, **settings)
    assert found.tokens.tolist() == texts(translate(full, prompts, **settings))


def test_it_stops_when_no_text_can_still_win():
    n_read = []
    for seed in range(6):
        decoder, calls = model(seed=seed, **SIZES), []
        decoder.stack.register_forward_hook(lambda *_, calls=calls: calls.append(1))
        options = {"width": 2, "max_new_tokens": 9, "end_id": END}
        beam_search(decoder, torch.tensor([PROMPT]), **options)
        n_read.append(len(calls))
    assert min(n_read) < 9
    assert max(n_read) <= 9


def test_length_penalty():
    assert length_penalty(7, 0.5) == math.sqrt(2)
    assert length_penalty(1, 0.6) == 1
    assert length_penalty(40, 0.0) == 1


def test_what_cannot_be_searched_is_refused():
    prompts, options = torch.tensor([PROMPT]), {"width": 2, "max_new_tokens": 2}
    with refused("a beam needs a width of at least 1, got 0"):
        beam_search(model(), prompts, **options | {"width": 0})
    for alpha in (-0.1, math.nan):
        with refused(rf"alpha must be at least 0 \(no penalty\), got {alpha}"):
            beam_search(model(), prompts, **options, alpha=alpha)
