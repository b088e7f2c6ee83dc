"""generate and translate: what is read, yielded, put back and refused."""

from dataclasses import replace
from itertools import islice

import pytest
import torch
from tolerances import assert_near

from transformer_lib.blocks import Config
from transformer_lib.cache import Int8Cache, LayerCache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    beam_translate,
    generate,
    greedy,
    pad_left,
    translate,
)
from transformer_lib.sampling.validation import check_prompts

SMALL = Config(
    vocab_size=13,
    d_model=16,
    n_layers=2,
    n_heads=2,
    d_ff=24,
    max_len=24,
    positions="learned",  # the waves of the others are in float32
    tied=False,
    scale_embeddings=True,  # else an untrained model says one word again and again
)
PROMPTS = torch.tensor([[3, 1, 4, 1], [5, 9, 2, 6]])


def model(family=Decoder, seed=17, **changes):
    """Return a model in float64, in which no rounding turns one token into another."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return family(replace(SMALL, **changes)).double().eval()


def texts(steps):
    return torch.stack(list(steps), dim=1).tolist()


class Spy:
    """Chooses greedily and keeps the logits."""

    def __init__(self):
        self.seen = []

    def __call__(self, logits):
        self.seen.append(logits.clone())
        return greedy(logits)


def test_translation_equals_reading_everything_again():
    full, spy = model(EncoderDecoder), Spy()
    sources, lengths = torch.tensor([[3, 1, 4, 1], [5, 9, 0, 0]]), torch.tensor([4, 2])
    steps = translate(
        full,
        sources,
        lengths,
        start_id=1,
        end_id=None,
        max_new_tokens=8,
        choose=spy,
    )
    target = torch.full((2, 1), 1)
    for step, token in enumerate(steps):
        with torch.no_grad():
            logits = full(sources, target, source_lengths=lengths)[:, -1]
        assert_near(spy.seen[step], logits)
        assert token.equal(logits.argmax(-1))
        target = torch.cat((target, token[:, None]), dim=1)
    assert target.shape == (2, 9)


def test_behind_an_end_stands_0_unless_told_otherwise():
    settings = {"max_new_tokens": 2, "end_id": 2}
    settings["choose"] = lambda _: torch.tensor([2, 5])
    assert texts(generate(model(), PROMPTS, **settings)) == [[2, 0], [5, 5]]
    targets = translate(model(EncoderDecoder), PROMPTS, start_id=1, **settings)
    assert texts(targets) == [[2, 0], [5, 5]]


def lengths_read(module, action):
    """Return how many tokens went through the module in each of its calls."""
    seen = []
    hook = module.register_forward_hook(lambda _, args, __: seen.append(args[0].shape))
    action()
    hook.remove()
    return [shape[1] for shape in seen]


def test_every_token_is_read_once_and_the_last_never():
    decoder = model()
    steps = generate(decoder, PROMPTS, max_new_tokens=5)
    assert lengths_read(decoder.stack, lambda: texts(steps)) == [4, 1, 1, 1, 1]


def test_only_the_last_place_is_scored(monkeypatch):
    decoder, scored = model(), []
    original = decoder.unembedding.logits
    monkeypatch.setattr(
        decoder.unembedding, "logits", lambda x: scored.append(x.shape) or original(x)
    )
    texts(generate(decoder, PROMPTS, max_new_tokens=2))
    assert scored == [(2, 1, 16), (2, 1, 16)]


def test_the_source_is_read_and_remembered_once():
    full = model(EncoderDecoder)
    steps = translate(full, PROMPTS, start_id=1, end_id=None, max_new_tokens=5)
    cross = full.decoder.blocks[0].cross.layer
    assert lengths_read(full.encoder, lambda: texts(islice(steps, 3))) == [4]
    assert lengths_read(cross.key, lambda: texts(steps)) == []


def test_nothing_is_masked_without_padding():
    masks = []

    def watch(query, key, value, mask=None, *, dropout=0.0):
        masks.append(mask)
        return value.mean(dim=-2, keepdim=True).expand_as(query)

    decoder = Decoder(SMALL, attend=watch)
    texts(generate(decoder, PROMPTS, torch.tensor([4, 4]), max_new_tokens=3))
    assert masks == ["causal"] * 6


class Stores(LayerCache):
    """Counts how many are made, and how large."""

    made = ()

    def __init__(self, *shape, **kinds):
        super().__init__(*shape, **kinds)
        Stores.made += (self.key.shape,)


def test_the_cache_is_made_once_with_room_for_all():
    Stores.made = ()
    texts(generate(model(), PROMPTS, max_new_tokens=7, layer=Stores))
    assert Stores.made == ((2, 2, 11, 8),) * 2


def test_another_kind_of_store_is_used():
    spies = Spy(), Spy()
    for spy, layer in zip(spies, (LayerCache, Int8Cache), strict=True):
        texts(generate(model(), PROMPTS, max_new_tokens=3, choose=spy, layer=layer))
    rounded = (spies[0].seen[0] - spies[1].seen[0]).abs().max()
    assert 1e-5 < rounded < 0.1  # eight bits: near, but not the same


def modes(decoder):
    return [part.training for part in decoder.modules()]


def in_mixed_modes():
    """Return a model in training, but for one part, with a dropout that would show."""
    decoder = model(dropout=0.5).train()
    decoder.stack.blocks[1].eval()
    return decoder


def fail(_):
    raise RuntimeError("a choice went wrong")


def test_dropout_is_off_and_every_part_gets_its_mode_back():
    decoder = in_mixed_modes()
    before = modes(decoder)
    got = texts(generate(decoder, PROMPTS, max_new_tokens=9))
    assert modes(decoder) == before
    assert got == texts(generate(decoder.eval(), PROMPTS, max_new_tokens=9))


def test_the_modes_come_back_from_an_exception():
    decoder = in_mixed_modes()
    before = modes(decoder)
    with pytest.raises(RuntimeError, match="a choice went wrong"):
        next(generate(decoder, PROMPTS, max_new_tokens=9, choose=fail))
    assert modes(decoder) == before


def test_the_modes_come_back_from_a_dropped_iterator():
    decoder = in_mixed_modes()
    before = modes(decoder)
    steps = generate(decoder, PROMPTS, max_new_tokens=9)
    assert modes(decoder) == before  # nothing happens before the first token
    next(steps)
    assert not any(modes(decoder))
    del steps
    assert modes(decoder) == before


def test_beam_search_gives_the_modes_back():
    decoder = in_mixed_modes()
    before = modes(decoder)
    beam_search(decoder, PROMPTS, width=2, max_new_tokens=3)
    assert modes(decoder) == before


def test_the_reader_of_tokens_keeps_its_own_gradients():
    decoder = model()
    for token in generate(decoder, PROMPTS, max_new_tokens=2):
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()
        decoder(token[:, None]).sum().backward()  # saves the token
    assert decoder.embedding.weight.grad.abs().sum() > 0


def test_what_is_yielded_is_the_readers_own():
    want = texts(generate(model(), PROMPTS, max_new_tokens=6))
    got = []
    for token in generate(model(), PROMPTS, max_new_tokens=6):
        got.append(token.tolist())
        token.zero_()
    assert [list(row) for row in zip(*got, strict=True)] == want


def test_pad_left():
    tokens, lengths = pad_left([[1, 2], [3], [4, 5, 6]], pad_id=9)
    assert tokens.tolist() == [[9, 1, 2], [9, 9, 3], [4, 5, 6]]
    assert lengths.tolist() == [2, 1, 3]
    assert tokens.dtype == lengths.dtype == torch.int64
    assert pad_left([[1], [2, 3]])[0].tolist() == [[0, 1], [2, 3]]


def test_a_text_may_fill_the_model():
    decoder = model()
    assert len(texts(generate(decoder, PROMPTS, max_new_tokens=20))[0]) == 20


def written(**changes):
    settings = {"start_id": 1, "end_id": 2, "max_new_tokens": 3} | changes
    sources = settings.pop("sources", PROMPTS)
    return lambda: translate(model(EncoderDecoder), sources, **settings)


def going_on(prompts=PROMPTS, lengths=None, **changes):
    settings = {"max_new_tokens": 3} | changes
    return lambda: generate(model(), prompts, lengths, **settings)


IDS = "ids must be from 0 to vocab_size - 1 = 12, got "
EMPTY = "generation needs texts of at least one token, got a batch of shape "
REFUSED = {
    "no prompts": (
        lambda: pad_left([]),
        r"pad_left needs prompts of at least one token, got lengths \[\]",
    ),
    "an empty prompt": (
        lambda: pad_left([[1, 2], []]),
        r"at least one token, got lengths \[2, 0\]; begin each with a start token",
    ),
    "no column": (going_on(PROMPTS[:, :0]), EMPTY + r"\(2, 0\)"),
    "no row": (going_on(PROMPTS[:0]), EMPTY + r"\(0, 4\)"),
    "no source": (written(sources=PROMPTS[:, :0]), EMPTY + r"\(2, 0\)"),
    "too large": (going_on(PROMPTS + 8), IDS + "largest id 17"),
    "too small": (going_on(PROMPTS - 2), IDS + "least id -1"),
    "no such end": (going_on(end_id=13), IDS + "end id 13"),
    "no such padding": (going_on(pad_id=-1), IDS + "pad id -1"),
    "no such start": (written(start_id=99), IDS + "start id 99"),
    "no such end of a target": (written(end_id=13), IDS + "end id 13"),
    "no such padding of a target": (written(pad_id=13), IDS + "pad id 13"),
    "no such end of a beam": (
        lambda: beam_search(model(), PROMPTS, width=2, max_new_tokens=3, end_id=13),
        IDS + "end id 13",
    ),
    "no such padding of a beam": (
        lambda: beam_translate(
            model(EncoderDecoder),
            PROMPTS,
            start_id=1,
            end_id=2,
            width=2,
            max_new_tokens=3,
            pad_id=13,
        ),
        IDS + "pad id 13",
    ),
    "no new tokens": (
        going_on(max_new_tokens=0),
        "max_new_tokens must be at least 1, got 0",
    ),
    "no new tokens in a target": (
        written(max_new_tokens=0),
        "max_new_tokens must be at least 1, got 0",
    ),
    "one token too many": (
        going_on(max_new_tokens=21),
        r"text and new tokens must fit max_len=24, got 4 \+ 21; shorten them, or build",
    ),
    "one token too many in a target": (
        written(max_new_tokens=24),
        r"text and new tokens must fit max_len=24, got 1 \+ 24",
    ),
    "a long source": (
        written(sources=torch.zeros(1, 25, dtype=torch.int64)),
        "a source must fit max_len=24, got 25 tokens",
    ),
    "lengths of others": (
        lambda: check_prompts(SMALL, PROMPTS, torch.tensor([4]), 1),
        r"there must be one length per text, got lengths of shape \(1,\) for 2 texts",
    ),
    "an empty row": (
        going_on(lengths=torch.tensor([0, 4])),
        r"lengths must be from 1 to the width 4 of the batch, got \[0, 4\]",
    ),
    "a row longer than itself": (
        going_on(lengths=torch.tensor([4, 5])),
        r"lengths must be from 1 to the width 4 of the batch, got \[4, 5\]",
    ),
}


@pytest.mark.parametrize(("call", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_fit_is_refused_before_the_first_token(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "choose", [lambda logits: logits.argmax(), lambda logits: logits.amax(-1)]
)
def test_a_choice_that_is_no_token_per_row_is_refused(choose):
    steps = generate(model(), PROMPTS, max_new_tokens=3, choose=choose)
    with pytest.raises(ValueError, match="choose must return one token id per row"):
        next(steps)


def test_a_broken_model_is_refused_in_words():
    decoder = model()
    decoder.stack.norm.weight.data.fill_(torch.nan)
    with pytest.raises(
        ValueError, match="the largest logit of each row must be finite"
    ):
        next(generate(decoder, PROMPTS, max_new_tokens=3))
