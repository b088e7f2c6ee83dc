"""Speculative decoding writes as the target alone, in fewer passes."""

import math
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
import torch
from samples import normal

from transformer_lib.blocks import Config
from transformer_lib.cache import Int8Cache, LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.sampling import (
    DecodingSession,
    filter_logits,
    generate,
    speculative,
)
from transformer_lib.sampling.speculative import _passes

SMALL = Config(
    vocab_size=13,
    d_model=16,
    n_layers=2,
    n_heads=2,
    d_ff=24,
    max_len=40,
    tied=False,
    scale_embeddings=True,  # else an untrained model says one word again and again
)
PROMPT = torch.tensor([[3, 1, 4, 1]])
COLD = partial(filter_logits, temperature=0.0)


def model(seed=6, **changes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Decoder(replace(SMALL, **changes)).double().eval()


def near(decoder, amount):
    """Return a copy whose weights were shaken: it often agrees, but not always."""
    generator, other = torch.Generator().manual_seed(1), model()
    other.load_state_dict(decoder.state_dict())
    for weight in other.parameters():
        noise = torch.randn(weight.shape, generator=generator, dtype=torch.float64)
        weight.data += amount * weight.data.std() * noise
    return other


def alone(decoder, n, **settings):
    steps = generate(decoder, PROMPT, max_new_tokens=n, **settings)
    return torch.stack(list(steps), dim=1)[0].tolist()


DRAFTS = {
    "a stranger": lambda: model(seed=1),
    "a relative": lambda: near(model(), 0.15),
    "itself": model,
    "another kind": lambda: model(seed=2, positions="learned", n_layers=1, d_model=8),
}


@pytest.mark.parametrize("n_draft", [1, 4])
@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
@pytest.mark.parametrize("layer", [LayerCache, Int8Cache])
def test_greedy_drafting_is_greedy_exactly(draft, n_draft, layer):
    passes = speculative(
        model(),
        draft(),
        PROMPT,
        n_draft=n_draft,
        max_new_tokens=25,
        rule=COLD,
        layer=layer,
    )
    chunks = [chunk.tolist() for chunk in passes]
    assert [token for chunk in chunks for token in chunk] == alone(
        model(), 25, layer=layer
    )
    assert max(map(len, chunks)) <= n_draft + 1


def test_a_perfect_draft_is_always_accepted():
    for rule in (COLD, filter_logits, partial(filter_logits, top_p=0.7)):
        passes = speculative(
            model(), model(), PROMPT, n_draft=4, max_new_tokens=23, rule=rule
        )
        assert [len(chunk) for chunk in passes] == [5, 5, 5, 5, 3]


def test_a_better_draft_saves_passes():
    n_passes = [
        len(
            list(
                speculative(
                    model(), draft, PROMPT, n_draft=4, max_new_tokens=25, rule=COLD
                )
            )
        )
        for draft in (model(), near(model(), 0.15), model(seed=1))
    ]
    assert n_passes[0] < n_passes[1] < n_passes[2]


def test_each_pass_of_the_target_is_one_chunk():
    target, draft, read = model(), near(model(), 0.15), []
    target.stack.register_forward_hook(
        lambda _, args, __: read.append(args[0].shape[1])
    )
    passes = speculative(target, draft, PROMPT, n_draft=3, max_new_tokens=20, rule=COLD)
    assert len(list(passes)) == len(read)
    assert read[0] == 4 + 3
    assert set(read[1:-1]) == {1 + 3}


def test_it_stops_behind_the_end():
    text = alone(model(), 25)
    for end_id in text[::8]:
        passes = speculative(
            model(),
            near(model(), 0.15),
            PROMPT,
            n_draft=4,
            max_new_tokens=25,
            rule=COLD,
            end_id=end_id,
        )
        got = torch.cat(list(passes)).tolist()
        assert got == text[: text.index(end_id) + 1]


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
    """Return chi-square beside what it passes by chance once in a thousand times.

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
    return square, degrees * (1 - part + 3.09 * math.sqrt(part)) ** 3


RULES = {
    "as it is": filter_logits,
    "cut": partial(filter_logits, temperature=1.3, top_k=3),
}


@pytest.mark.parametrize("n_draft", [1, 3])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_texts_are_distributed_as_the_target_writes_them(rule, n_draft):
    generator, drawn = torch.Generator().manual_seed(n_draft), Counter()
    for _ in range(1000):
        passes = _passes(
            [partial(Table, 0), partial(Table, 1)],
            n_draft=n_draft,
            max_new_tokens=3,
            rule=rule,
            generator=generator,
            end_id=None,
        )
        drawn[tuple(torch.cat(list(passes)).tolist())] += 1
    square, limit = excess(drawn, exact(0, rule, 3))
    assert square < limit
    square, limit = excess(drawn, exact(1, rule, 3))
    assert square > 3 * limit  # the draft alone would be seen


def test_the_same_seed_writes_the_same():
    def written(seed):
        generator = torch.Generator().manual_seed(seed)
        passes = speculative(
            model(),
            model(seed=1),
            PROMPT,
            n_draft=3,
            max_new_tokens=20,
            generator=generator,
        )
        return torch.cat(list(passes)).tolist()

    assert written(0) == written(0) != written(1)


def test_both_models_get_their_modes_back():
    target, draft = model(dropout=0.5).train(), model(seed=1, dropout=0.5).train()
    passes = speculative(target, draft, PROMPT, n_draft=2, max_new_tokens=9)
    next(passes)
    assert not target.training
    assert not draft.training
    passes.close()
    assert all(part.training for part in [*target.modules(), *draft.modules()])


def drafting(**changes):
    settings = {
        "target": model(),
        "draft": model(seed=1),
        "prompt": PROMPT,
        "n_draft": 2,
        "max_new_tokens": 5,
    }
    return lambda: speculative(**settings | changes)


REFUSED = {
    "nothing drafted": (drafting(n_draft=0), "n_draft must be at least 1, got 0"),
    "two prompts": (
        drafting(prompt=PROMPT.expand(2, 4)),
        "speculative decoding takes one prompt, got 2; texts of a batch would grow",
    ),
    "two vocabularies": (
        drafting(draft=model(vocab_size=14)),
        "target and draft must share one vocabulary, got vocab_size=13 and 14",
    ),
    "a window": (
        drafting(draft=model(window=4)),
        r"target and draft must remember every token, .* got windows \(None, 4\)",
    ),
    "a short draft": (
        drafting(draft=model(max_len=8)),
        r"text and new tokens must fit max_len=8, got 4 \+ 5",
    ),
    "no such end": (
        drafting(end_id=13),
        "ids must be from 0 to vocab_size - 1 = 12, got end id 13",
    ),
    "no such token": (
        drafting(prompt=PROMPT + 10),
        "ids must be from 0 to vocab_size - 1 = 12, got largest id 14",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_before_the_first_token(call, message):
    with pytest.raises(ValueError, match=message):
        call()
