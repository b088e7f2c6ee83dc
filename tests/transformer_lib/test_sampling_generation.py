"""generate and translate: what is read, yielded, put back and refused."""

import re
from itertools import islice

import pytest
import torch
from models import tiny
from refusals import refused
from sampled import SMALL, broken_model, model, texts
from tolerances import assert_near
from torch import nn

from transformer_lib.attention import fused_attention
from transformer_lib.cache import LayerCache
from transformer_lib.checkpoints import load_model, save_model
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    beam_search,
    beam_translate,
    column_major,
    generate,
    greedy,
    pad_left,
    translate,
)
from transformer_lib.sampling.validation import check_prompts

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


def test_a_text_may_fill_the_model():
    assert len(texts(generate(model(), PROMPTS, max_new_tokens=36))[0]) == 36


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

    for empty in (PROMPTS[:, :0], PROMPTS[:0]):
        shape = re.escape(str(tuple(empty.shape)))
        refuse(
            f"needs texts of at least one token, got a batch of shape {shape}", empty
        )
    ids = "ids must be from 0 to vocab_size - 1 = 12, got "
    refuse(f"{ids}largest id 17", PROMPTS + 8)
    refuse(f"{ids}least id -1", PROMPTS - 2)
    refuse(f"{ids}end id 13", end_id=13)
    refuse(f"{ids}pad id -1", pad_id=-1)
    refuse("max_new_tokens must be at least 1, got 0", max_new_tokens=0)
    for lengths in ([0, 4], [4, 5]):
        message = f"lengths must be from 1 to the width 4 of the batch, got {lengths}"
        refuse(re.escape(message), lengths=torch.tensor(lengths))
    n_read = 4 if family is Decoder else 1
    long = rf"text and new tokens must fit max_len=40, got {n_read} \+ {41 - n_read}; "
    refuse(f"{long}shorten them, or build", max_new_tokens=41 - n_read)
    if family is EncoderDecoder:
        refuse(f"{ids}start id 99", start_id=99)
        source = torch.zeros(1, 41, dtype=torch.int64)
        refuse("a source must fit max_len=40, got 41 tokens", source)


def test_one_length_for_two_texts_is_refused():
    with refused(r"one length per text, got lengths of shape \(1,\) for 2 texts"):
        check_prompts(SMALL, PROMPTS, torch.tensor([4]), 1)


def test_a_choice_that_is_no_token_per_row_is_refused():
    for choose in (torch.argmax, lambda logits: logits.amax(-1)):
        steps = generate(model(), PROMPTS, max_new_tokens=3, choose=choose)
        with refused("choose must return one token id per row"):
            next(steps)


def test_a_broken_model_is_refused_in_words():
    with refused("the largest logit of each row must be finite, got nan"):
        next(generate(broken_model(), PROMPTS, max_new_tokens=3))
    with refused("the largest logit of each row must be finite, got nan"):
        beam_search(broken_model(), PROMPTS, width=2, max_new_tokens=2)


def test_matrices_column_by_column_keep_numbers_ties_and_texts(tmp_path):
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


def test_other_shapes_are_left_alone():
    net = nn.Conv1d(2, 3, 4)
    want = net.weight.stride()
    assert column_major(net).weight.stride() == want
