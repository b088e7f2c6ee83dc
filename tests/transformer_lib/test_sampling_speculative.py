"""Speculative decoding writes as the target alone, in fewer passes."""

import math
from collections import Counter
from functools import cache, partial
from itertools import chain, product

import pytest
import torch
from refusals import refused
from sampled import model as small_model
from sampled import texts
from samples import normal, seeded

from transformer_lib.cache import Int8Cache, LayerCache
from transformer_lib.sampling import (
    DecodingSession,
    filter_logits,
    generate,
    speculative,
)
from transformer_lib.sampling.speculative import _passes

PROMPT = torch.tensor([[3, 1, 4, 1]])
COLD = partial(filter_logits, temperature=0.0)


def model(seed=6, **changes):
    return small_model(seed=seed, **{"positions": "rotary", **changes})


def relative():
    """Return a model whose weights were shaken: it often agrees, but not always."""
    generator, other = seeded(1), model()
    for weight in other.parameters():
        noise = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
        weight.data += 0.15 * weight.data.std() * noise
    return other


def written(draft, target=None, n_draft=4, max_new_tokens=18, **settings):
    """Return what each pass of the target adds."""
    settings = {"n_draft": n_draft, "max_new_tokens": max_new_tokens, **settings}
    passes = speculative(target or model(), draft, PROMPT, **settings)
    return [chunk.tolist() for chunk in passes]


@cache
def alone(**settings):
    return texts(generate(model(), PROMPT, max_new_tokens=18, **settings))[0]


DRAFTS = {
    "a stranger": (lambda: model(seed=1), 3, Int8Cache),
    "a relative": (relative, 4, LayerCache),
    "a relative, eight bits": (relative, 3, Int8Cache),
    "a relative, one by one": (relative, 1, LayerCache),
    "another kind": (lambda: model(positions="learned", d_model=8), 4, LayerCache),
}


@pytest.mark.parametrize(("draft", "n_draft", "layer"), DRAFTS.values(), ids=DRAFTS)
def test_greedy_drafting_is_greedy_exactly(draft, n_draft, layer):
    chunks = written(draft(), n_draft=n_draft, rule=COLD, layer=layer)
    assert list(chain.from_iterable(chunks)) == alone(layer=layer)
    assert max(map(len, chunks)) <= n_draft + 1


def test_a_perfect_draft_is_always_accepted():
    for rule in (COLD, filter_logits, partial(filter_logits, top_p=0.7)):
        chunks = written(model(), max_new_tokens=23, rule=rule)
        assert [len(chunk) for chunk in chunks] == [5, 5, 5, 5, 3]


def test_each_pass_of_the_target_is_one_chunk():
    target, read = model(), []
    target.stack.register_forward_hook(
        lambda _, args, __: read.append(args[0].shape[1])
    )
    chunks = written(relative(), target, n_draft=3, max_new_tokens=20, rule=COLD)
    assert len(chunks) == len(read)
    assert read[0] == 4 + 3
    assert set(read[1:-1]) == {1 + 3}


def test_it_stops_behind_the_end():
    text = alone()
    for end_id in text[::6]:
        chunks = written(relative(), rule=COLD, end_id=end_id)
        assert list(chain.from_iterable(chunks)) == text[: text.index(end_id) + 1]


class Table(DecodingSession):
    """A session whose logits depend on the last two tokens, without a model."""

    tokens = torch.tensor([[2, 0]])

    def __init__(self, seed):
        self.table = normal(seed, 5, 5, 5, dtype=torch.float64)
        self.text, self.cache = torch.zeros(1, 0, dtype=torch.int64), [self]

    @property
    def length(self):
        return self.text.shape[1]

    def rewind(self, length):
        assert 0 < length <= self.length
        self.text = self.text[:, :length]

    def __call__(self, tokens, last=1):
        self.text = torch.cat((self.text, tokens), dim=1)
        ends = self.text[0, -last - 1 :]
        return self.table[ends[:-1], ends[1:]][None]


def exact(seed, rule, n):
    """Return the probability of every text of n tokens."""
    shares = {}
    for text in product(range(5), repeat=n):
        logits = Table(seed)(torch.tensor([[2, 0, *text[:-1]]]), n)[0]
        p = rule(logits).softmax(dim=-1)
        shares[text] = float(p[torch.arange(n), torch.tensor(text)].prod())
    return shares


def excess(drawn, shares):
    """Return chi-square over what it passes by chance once in a thousand times.

    Texts expected fewer than five times count as one.
    """
    n, bins = drawn.total(), {"rare": [0.0, 0.0]}
    for text, share in shares.items():
        cell = bins.setdefault(text if n * share >= 5 else "rare", [0.0, 0.0])
        cell[0] += drawn[text]
        cell[1] += n * share
    square = sum((got - want) ** 2 / want for got, want in bins.values() if want > 0)
    degrees = len(bins) - 1
    # Wilson and Hilferty's approximation, at 3.09 standard deviations
    part = 2 / (9 * degrees)
    return square / (degrees * (1 - part + 3.09 * math.sqrt(part)) ** 3)


@pytest.mark.parametrize(
    ("rule", "n_draft"),
    [(filter_logits, 1), (partial(filter_logits, temperature=1.3, top_k=3), 3)],
)
def test_texts_are_distributed_as_the_target_writes_them(rule, n_draft):
    generator, drawn = seeded(n_draft), Counter()
    settings = {"n_draft": n_draft, "max_new_tokens": 3, "rule": rule, "end_id": None}
    for _ in range(500):
        starts = [partial(Table, 0), partial(Table, 1)]
        passes = _passes(starts, generator=generator, **settings)
        drawn[tuple(torch.cat(list(passes)).tolist())] += 1
    assert excess(drawn, exact(0, rule, 3)) < 1
    assert excess(drawn, exact(1, rule, 3)) > 3  # the draft alone would be seen


def test_the_same_seed_writes_the_same():
    first, again, other = (
        written(model(seed=1), generator=seeded(seed)) for seed in (0, 0, 1)
    )
    assert first == again != other


def test_both_models_get_their_modes_back():
    target, draft = model(dropout=0.5).train(), model(seed=1, dropout=0.5).train()
    passes = speculative(target, draft, PROMPT, n_draft=2, max_new_tokens=9)
    next(passes)
    assert not target.training
    assert not draft.training
    passes.close()
    assert all(part.training for part in [*target.modules(), *draft.modules()])


IDS = "from 0 to vocab_size - 1 = 12, got"
REFUSED = [
    ({"n_draft": 0}, "n_draft must be at least 1, got 0"),
    ({"prompt": PROMPT.expand(2, 4)}, "takes one prompt, got 2; the sequences of a"),
    ({"draft": model(vocab_size=14)}, "share one .* vocab_size=13 and 14"),
    ({"draft": model(window=4)}, r"must keep every token, .* windows \(None, 4\)"),
    ({"draft": model(max_len=8)}, r"new tokens must fit max_len=8, got 4 \+ 5"),
    ({"end_id": 13}, f"{IDS} end id 13"),
    ({"prompt": PROMPT + 10}, f"{IDS} largest id 14"),
]


def test_what_does_not_fit_is_refused_before_the_first_token():
    for changes, message in REFUSED:
        settings = {"draft": model(seed=1), "prompt": PROMPT, "n_draft": 2, **changes}
        with refused(message):
            speculative(model(), **settings, max_new_tokens=5)
