"""What holds for whole models, whatever they are made of and whatever they read."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import KINDS, draw_tokens, few, model, tiny
from samples import seeded
from tolerances import assert_near

from transformer_lib.attention import attention, fused_attention
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder
from transformer_lib.encoder_decoder import EncoderDecoder

SEEDS = st.integers(0, 2**31)
LENGTHS = st.lists(st.integers(1, 7), min_size=1, max_size=3)
EVERY_KIND = pytest.mark.parametrize("positions", KINDS)
PARTS = st.fixed_dictionaries(
    {
        "residual": st.sampled_from(["pre", "post"]),
        "norm": st.sampled_from(["layer", "rms"]),
        "n_kv_heads": st.sampled_from([4, 2, 1]),
        "window": st.sampled_from([None, 1, 3]),
    }
)


def logits_of(kind, built, tokens, seed):
    """Return a decoder's logits, or those of a decoder with some source."""
    if kind is Decoder:
        return built(tokens)
    lengths = torch.tensor([4, 2])
    return built(draw_tokens(seed + 1, 2, 4), tokens, source_lengths=lengths)


@EVERY_KIND
@pytest.mark.parametrize("kind", [Decoder, EncoderDecoder])
@few
@given(
    seed=SEEDS,
    length=st.integers(2, 8),
    training=st.booleans(),
    parts=PARTS,
    attend=st.sampled_from([attention, fused_attention]),
    data=st.data(),
)
def test_a_token_cannot_change_the_logits_before_it(
    *, kind, positions, seed, length, training, parts, attend, data
):
    changed = data.draw(st.integers(1, length - 1))
    tokens = draw_tokens(seed, 2, length)
    others = tokens.clone()
    others[:, changed] = (tokens[:, changed] + 1) % 13
    config = tiny(positions=positions, **parts)
    built = model(kind, config, attend=attend).train(training)
    before, after = (logits_of(kind, built, x, seed) for x in (tokens, others))
    built.eval()
    # not bit-equal in the fused twin, whose softmax goes over blocks of keys
    assert_near(after[:, :changed], before[:, :changed])
    if attend is attention:
        assert after[:, :changed].equal(before[:, :changed])
    assert not after[:, changed].equal(before[:, changed])


@few
@given(seed=SEEDS, length=st.integers(1, 8), parts=PARTS)
def test_without_positions_a_shuffled_text_gives_shuffled_states(seed, length, parts):
    encoder = model(Encoder, tiny(positions="none", **{**parts, "window": None}))
    tokens = draw_tokens(seed, 2, length)
    order = torch.randperm(length, generator=seeded(seed))
    assert_near(encoder(tokens[:, order]), encoder(tokens)[:, order])


@pytest.mark.parametrize("positions", sorted({*KINDS} - {"none"}))
@pytest.mark.parametrize("residual", ["pre", "post"])
def test_with_positions_the_order_of_the_text_matters(positions, residual):
    encoder = model(Encoder, tiny(positions=positions, residual=residual))
    tokens, order = torch.tensor([[1, 2, 3]]), [1, 0, 2]
    difference = encoder(tokens[:, order]) - encoder(tokens)[:, order]
    assert difference.abs().amax() > 1e-3


@EVERY_KIND
@few
@given(seed=SEEDS, lengths=LENGTHS, spare=st.integers(0, 2), parts=PARTS)
def test_padding_of_the_source_changes_no_logits(
    positions, seed, lengths, spare, parts
):
    translator = model(EncoderDecoder, tiny(positions=positions, **parts))
    source = draw_tokens(seed, len(lengths), max(lengths) + spare)
    target = draw_tokens(seed + 1, len(lengths), 4)
    logits = translator(source, target, source_lengths=torch.tensor(lengths))
    for row, length in enumerate(lengths):
        alone = translator(source[row, None, :length], target[row, None])
        assert_near(logits[row], alone[0])
