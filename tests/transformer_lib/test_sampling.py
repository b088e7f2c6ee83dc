"""sampling: choices, generation and beams, and every refusal."""

import math
import re
from collections import Counter
from functools import partial
from itertools import islice, product

import pytest
import torch
from models import tiny
from refusals import refused
from sampled import SMALL, broken_model, model, texts
from samples import normal, seeded
from tolerances import assert_near
from torch import nn

from transformer_lib.attention import fused_attention
from transformer_lib.cache import LayerCache
from transformer_lib.checkpoints import load_model, save_model
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    beam_step,
    beam_translate,
    column_major,
    filter_logits,
    generate,
    greedy,
    length_penalty,
    pad_left,
    sample,
    translate,
)
from transformer_lib.sampling.validation import check_prompts

SHARES = torch.tensor([0.1, 0.4, 0.2, 0.3])
LOGITS = SHARES.log()


def kept(logits):
    return (~logits.isneginf()).nonzero().flatten().tolist()


def test_equal_logits_stay_together():
    tied = torch.tensor([2.0, 1.0, 2.0, -1.0, 2.0])
    smallest = [("top_k", 1), ("top_k", 2), ("top_p", 0.1), ("min_p", 1.0)]
    for name, value in [*smallest, ("temperature", 0.0)]:
        assert kept(filter_logits(tied, **{name: value})) == [0, 2, 4], name


def test_half_precision_is_restricted_in_float32():
    logits = normal(0, 3, 500, dtype=torch.bfloat16)
    want = filter_logits(logits.float(), top_p=0.9)
    assert filter_logits(logits, top_p=0.9).equal(want)


def test_top_p_takes_the_fewest_even_where_the_sum_is_exact():
    logits = torch.tensor([-1000.0, 0.0])  # shares of exactly 0 and 1
    assert kept(filter_logits(logits, top_p=1.0)) == [1]
    assert kept(filter_logits(LOGITS, top_p=1e-12)) == [1]


def test_what_was_cut_before_stays_cut():
    logits = torch.tensor([-torch.inf, 0.0, -torch.inf, 1.0])
    for settings in ({"top_k": 4}, {"top_p": 1.0}, {"min_p": 0.01}):
        assert kept(filter_logits(logits, temperature=0.7, **settings)) == [1, 3]


def test_greedy_takes_the_likeliest_and_of_equals_the_first():
    assert greedy(torch.tensor([[0.0, 3.0, 3.0], [1.0, 0.0, -1.0]])).tolist() == [1, 0]
    assert greedy(LOGITS).item() == 1


def test_samples_have_the_stated_frequencies_and_no_cut_token_is_among_them():
    n, places, logits = 5_000, [1, 2, 4, 5], torch.full((7,), -torch.inf)
    logits[places] = LOGITS
    drawn = Counter(sample(logits.expand(n, 7), seeded(0)).tolist())
    assert sorted(drawn) == places
    wanted = zip(places, SHARES.tolist(), strict=True)
    excess = sum((drawn[i] - n * p) ** 2 / (n * p) for i, p in wanted)
    assert excess < 16.27  # the chi-square of 3 degrees passes this once in 1000


def test_the_extreme_numbers_hit_no_cut_token(monkeypatch):
    logits = torch.tensor([[-torch.inf, 0.3, -torch.inf, 0.1, 0.2, -torch.inf]])
    for number, token in ((0.0, 4), (1 - 2**-53, 1)):
        drawn = torch.full((1, 1), number, dtype=torch.float64)
        monkeypatch.setattr(torch, "rand", lambda *_, drawn=drawn, **__: drawn)
        assert sample(logits).item() == token


def test_large_logits_do_not_overflow():
    assert sample(torch.tensor([[1e30, 3e30, 1e30]]), seeded(0)).item() == 1
    assert sample(torch.tensor([[-1e30, -3e30, -2e30]]), seeded(0)).item() == 0


def test_a_row_follows_its_own_generator_or_one_for_all_or_the_global_one():
    logits = normal(0, 4, 50)
    together = sample(logits, [seeded(i) for i in range(4)])
    alone = [sample(logits[i : i + 1], seeded(i)).item() for i in range(4)]
    assert together.tolist() == alone
    assert len(set(alone)) > 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        assert sample(logits).equal(sample(logits, seeded(5)))
    assert not sample(logits, seeded(5)).equal(sample(logits, seeded(6)))
    with refused("one generator for all rows or one per row, got 2 for 4 rows"):
        sample(logits, [seeded(0), seeded(1)])


def test_a_setting_out_of_range_is_refused():
    hot = r"finite and at least 0 \(greedy\)"
    for name, values, rule in (
        ("temperature", (-0.5, math.inf, math.nan), hot),
        ("top_k", (0,), "at least 1"),
        ("top_p", (0.0, 1.1), "above 0 and at most 1"),
        ("min_p", (math.nan, 2.0), "above 0 and at most 1"),
    ):
        way_out = "" if name == "temperature" else "; None keeps all"
        for value in values:
            with refused(f"{name} must be {rule}, got {value}{way_out}"):
                filter_logits(LOGITS, **{name: value})


NAN = torch.tensor([[0.0, 1.0], [math.nan, 1.0]])


def test_a_row_without_a_finite_peak_is_refused():
    lukewarm = partial(filter_logits, temperature=1e-39)  # so low that it overflows
    for choose, logits, got in (
        (filter_logits, NAN, "nan; check the model"),
        (partial(filter_logits, temperature=0.0), NAN, "nan"),
        (lukewarm, LOGITS + 5, "inf; .* temperature=0"),
        (greedy, NAN, "nan"),
        (greedy, torch.tensor([0.0, math.inf]), "inf"),
        (sample, NAN, "nan"),
        (sample, torch.full((1, 3), -math.inf), "-inf"),
    ):
        with refused(f"the largest logit of each row must be finite, got {got}"):
            choose(logits)


PROMPTS = torch.tensor([[3, 1, 4, 1], [5, 9, 2, 6]])


def test_translation_equals_reading_everything_again():
    full, seen = model(EncoderDecoder), []

    def choose(logits):
        seen.append(logits.clone())
        return greedy(logits)

    sources, lengths = torch.tensor([[3, 1, 4, 1], [5, 9, 0, 0]]), torch.tensor([4, 2])
    settings = {"start_id": 1, "end_id": None, "max_new_tokens": 8, "choose": choose}
    target = torch.full((2, 1), 1)
    for step, token in enumerate(translate(full, sources, lengths, **settings)):
        with torch.no_grad():
            logits = full(sources, target, source_lengths=lengths)[:, -1]
        assert_near(seen[step], logits)
        assert token.equal(logits.argmax(-1))
        target = torch.cat((target, token[:, None]), dim=1)
    assert target.shape == (2, 9)


def test_behind_an_end_stands_0_unless_told_otherwise():
    settings = {"max_new_tokens": 2, "end_id": 2}
    settings["choose"] = lambda _: torch.tensor([2, 5])
    assert texts(generate(model(), PROMPTS, **settings)) == [[2, 0], [5, 5]]
    both_end = settings | {"choose": lambda _: torch.tensor([2, 2])}
    assert texts(generate(model(), PROMPTS, **both_end)) == [[2], [2]]
    targets = translate(model(EncoderDecoder), PROMPTS, start_id=1, **settings)
    assert texts(targets) == [[2, 0], [5, 5]]


def lengths_read(module, action):
    """Return how many tokens went through the module in each of its calls."""
    seen = []
    hook = module.register_forward_hook(lambda _, args, __: seen.append(args[0].shape))
    action()
    hook.remove()
    return [shape[1] for shape in seen]


def test_no_more_is_read_scored_masked_and_kept_than_must_be(monkeypatch):
    masks, made, scored = [], [], []

    def watch(query, key, value, mask=None, *, dropout=0.0):
        masks.append(mask)
        return fused_attention(query, key, value, mask)

    class Stores(LayerCache):
        def __init__(self, *shape, **kinds):
            super().__init__(*shape, **kinds)
            made.append(self.key.shape)

    decoder = Decoder(SMALL, attend=watch)
    last, logits = decoder.unembedding, decoder.unembedding.logits
    monkeypatch.setattr(last, "logits", lambda x: scored.append(x.shape) or logits(x))
    lengths, settings = torch.tensor([4, 4]), {"max_new_tokens": 5, "layer": Stores}
    steps = generate(decoder, PROMPTS, lengths, **settings)
    # every token once, and the last never
    assert lengths_read(decoder.stack, lambda: texts(steps)) == [4, 1, 1, 1, 1]
    assert scored == [(2, 1, 16)] * 5
    assert masks == ["causal"] * 10
    assert made == [(2, 2, 9, 8)] * 2


def test_the_source_is_read_and_remembered_once():
    full = model(EncoderDecoder)
    steps = translate(full, PROMPTS, start_id=1, end_id=None, max_new_tokens=5)
    cross = full.decoder.blocks[0].cross.layer
    assert lengths_read(full.encoder, lambda: texts(islice(steps, 3))) == [4]
    assert lengths_read(cross.key, lambda: texts(steps)) == []


def test_dropout_is_off_and_every_part_gets_its_mode_back_however_it_ends():
    decoder = model(dropout=0.5).train()  # a dropout that would show
    decoder.stack.blocks[1].eval()

    def modes():
        return [part.training for part in decoder.modules()]

    before, options = modes(), {"max_new_tokens": 9}
    got = texts(generate(decoder, PROMPTS, **options))
    assert modes() == before
    with pytest.raises(ZeroDivisionError):
        next(generate(decoder, PROMPTS, **options, choose=lambda _: 1 / 0))
    assert modes() == before
    found = beam_search(decoder, PROMPTS, width=2, **options).tokens
    assert modes() == before
    steps = generate(decoder, PROMPTS, **options)
    assert modes() == before  # nothing happens before the first token
    next(steps)
    assert not any(modes())
    del steps
    assert modes() == before
    assert got == texts(generate(decoder.eval(), PROMPTS, **options))
    assert found.equal(beam_search(decoder, PROMPTS, width=2, **options).tokens)


def test_what_is_yielded_is_the_readers_own_and_so_are_its_gradients():
    decoder, got = model(), []
    for token in generate(decoder, PROMPTS, max_new_tokens=6):
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()
        decoder(token[:, None]).sum().backward()  # saves the token
        got.append(token.tolist())
        token.zero_()
    assert decoder.embedding.weight.grad.abs().sum() > 0
    want = texts(generate(model(), PROMPTS, max_new_tokens=6))
    assert [list(row) for row in zip(*got, strict=True)] == want


def test_pad_left():
    tokens, lengths = pad_left([[1, 2], [3], [4, 5, 6]], pad_id=9)
    assert tokens.tolist() == [[9, 1, 2], [9, 9, 3], [4, 5, 6]]
    assert lengths.tolist() == [2, 1, 3]
    assert tokens.dtype == lengths.dtype == torch.int64
    assert pad_left([[1], [2, 3]])[0].tolist() == [[0, 1], [2, 3]]
    with refused(r"pad_left needs prompts of at least one token, got lengths \[\]"):
        pad_left([])
    with refused(r"least one token, got lengths \[2, 0\]; begin each with a start tok"):
        pad_left([[1, 2], []])


TARGETS = {"start_id": 1, "end_id": 2}
WAYS = {
    generate: (Decoder, {}),
    beam_search: (Decoder, {"width": 2}),
    translate: (EncoderDecoder, TARGETS),
    beam_translate: (EncoderDecoder, {**TARGETS, "width": 2}),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_fit_is_refused_before_the_first_token(way):
    family, settings = WAYS[way]
    net = model(family)

    def refuse(message, texts=PROMPTS, lengths=None, **changes):
        with refused(message):
            way(net, texts, lengths, **{"max_new_tokens": 3, **settings, **changes})

    empty = "needs sequences of at least one token, got a batch of shape"
    refuse(rf"{empty} \(2, 0\)", PROMPTS[:, :0])
    refuse(rf"{empty} \(0, 4\)", PROMPTS[:0])
    ids = "ids must be from 0 to vocab_size - 1 = 12, got "
    refuse(f"{ids}largest id 17", PROMPTS + 8)
    refuse(f"{ids}least id -1", PROMPTS - 2)
    refuse(f"{ids}end id 13", end_id=13)
    refuse(f"{ids}pad id -1", pad_id=-1)
    refuse("max_new_tokens must be at least 1, got 0", max_new_tokens=0)
    for lengths in ([0, 4], [4, 5]):
        message = f"lengths must be from 1 to the width 4 of the batch, got {lengths}"
        refuse(re.escape(message), lengths=torch.tensor(lengths))
    with refused(r"one length per sequence, got lengths of shape \(1,\) for 2 seq"):
        check_prompts(SMALL, PROMPTS, torch.tensor([4]), 1)
    n_read = 4 if family is Decoder else 1
    long = rf"prompt and new tokens must fit max_len=40, got {n_read} \+ {41 - n_read}"
    refuse(f"{long}; shorten them, or build", max_new_tokens=41 - n_read)
    way(net, PROMPTS, **settings, max_new_tokens=40 - n_read)
    if family is EncoderDecoder:
        refuse(f"{ids}start id 99", start_id=99)
        source = torch.zeros(1, 41, dtype=torch.int64)
        refuse("a source must fit max_len=40, got 41 tokens", source)


def test_a_choice_that_is_no_token_per_row_and_a_broken_model_are_refused():
    for choose in (torch.argmax, lambda logits: logits.amax(-1)):
        steps = generate(model(), PROMPTS, max_new_tokens=3, choose=choose)
        with refused("choose must return one token id per row"):
            next(steps)
    with refused("the largest logit of each row must be finite, got nan"):
        next(generate(broken_model(), PROMPTS, max_new_tokens=3))
    with refused("the largest logit of each row must be finite, got nan"):
        beam_search(broken_model(), PROMPTS, width=2, max_new_tokens=2)


def test_only_matrices_turn_and_keep_numbers_ties_and_texts(tmp_path):
    torch.manual_seed(0)
    before = Decoder(tiny(bias=True)).eval()
    torch.manual_seed(0)
    after = column_major(Decoder(tiny(bias=True)).eval())
    for old, new in zip(before.parameters(), after.parameters(), strict=True):
        assert old.equal(new)
        assert new.stride() == ((1, len(new)) if new.ndim == 2 else (1,))
    assert after.embedding.weight is after.unembedding.weight
    assert_near(after(PROMPTS), before(PROMPTS))
    got, want = (texts(generate(m, PROMPTS, max_new_tokens=9)) for m in (after, before))
    assert got == want
    after(PROMPTS).square().sum().backward()  # it can still learn and be saved
    torch.optim.AdamW(after.parameters()).step()
    save_model(after, tmp_path / "model")
    again, _ = load_model(tmp_path / "model")
    for mine, loaded in zip(after.parameters(), again.parameters(), strict=True):
        assert mine.equal(loaded)
    net = nn.Conv1d(2, 3, 4)
    assert net.weight.stride() == column_major(net).weight.stride() == (8, 4, 1)


SIZES = {"vocab_size": 4, "d_model": 8, "n_layers": 1, "d_ff": 8, "max_len": 16}
END, N = 3, 3
PROMPT = [1, 2]
ALL = torch.tensor(list(product(range(4), repeat=N)))
WIDE = len(ALL)


def test_a_step_takes_the_best_of_all_extensions_in_float32():
    scores, logits = normal(0, 2, 3), normal(1, 2, 3, 5, dtype=torch.bfloat16)
    longer = (scores[..., None] + logits.float().log_softmax(-1)).flatten(1)
    for width in (4, 99):
        best, beams, tokens = beam_step(scores, logits, width)
        assert_near(best, longer.sort(descending=True).values[:, :width])
        assert_near(longer.gather(1, 5 * beams + tokens), best)


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
@pytest.mark.parametrize(("seed", "width"), [(7, 2), (19, 3)])
def test_an_ended_text_leaves_its_place_in_the_beam(seed, width):
    decoder = model(seed=seed, **SIZES | {"vocab_size": 6})
    settings = {"max_new_tokens": 6, "alpha": 2.0, "end_id": END}
    found = beam_search(decoder, torch.tensor([PROMPT]), width=width, **settings)
    assert found.tokens[0].tolist() == searched_slowly(decoder, width, 6)


def test_width_1_is_greedy():
    prompts = torch.tensor([[1, 2], [20, 4], [9, 9]])
    decoder = model(seed=3, vocab_size=30)
    full = model(EncoderDecoder, seed=3, vocab_size=30)
    free = texts(generate(decoder, prompts, max_new_tokens=7))
    for end_id in (None, free[0][3], free[1][0], free[2][5]):
        settings = {"max_new_tokens": 7, "end_id": end_id, "pad_id": 29}
        found = beam_search(decoder, prompts, width=1, **settings)
        assert found.tokens.tolist() == texts(generate(decoder, prompts, **settings))
        settings["start_id"] = 1
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


def test_the_penalty_of_length_and_what_cannot_be_searched():
    assert length_penalty(7, 0.5) == math.sqrt(2)
    prompts, options = torch.tensor([PROMPT]), {"width": 2, "max_new_tokens": 2}
    with refused("a beam needs a width of at least 1, got 0"):
        beam_search(model(), prompts, **options | {"width": 0})
    for alpha in (-0.1, math.nan):
        with refused(rf"alpha must be at least 0 \(no penalty\), got {alpha}"):
            beam_search(model(), prompts, **options, alpha=alpha)
