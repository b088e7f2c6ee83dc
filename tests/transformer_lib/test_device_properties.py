"""What is made on the way is made where its inputs are, whatever the default device.

The default is "meta" here, whose tensors hold no numbers and mix with no others: on
a machine without a second device, it finds each tensor that is made on the first.
"""

import pytest
import torch
from models import draw_tokens, model, tiny
from samples import coin_flips, normal

from transformer_lib.attention import attention, fused_attention
from transformer_lib.cache import Int8Cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import padding_mask, windowed
from transformer_lib.positions import apply_rotary, sinusoid
from transformer_lib.sampling import beam_search, beam_translate, generate, translate
from transformer_lib.training import cross_entropy, language_model_loss

TOKENS, LENGTHS = draw_tokens(0, 2, 5), torch.tensor([5, 3])
SETTINGS = {"max_new_tokens": 4, "end_id": 2}
HEADS = [normal(i, 2, 4, 5, 8) for i in range(3)]
LEARNED, ALIBI = (
    model(Decoder, tiny(positions=kind), torch.float32) for kind in ("learned", "alibi")
)
BOTH = model(EncoderDecoder, tiny(positions="learned"), torch.float32)


def text(steps):
    return torch.stack(list(steps), dim=1)


def whole(found):
    return torch.cat((found.tokens, found.scores[:, None]), dim=1)


LOGITS = normal(0, 2, 5, 13)
MASKS = {
    "none": None,
    "causal": "causal",
    "Boolean": coin_flips(0, 5, 5).tril(-1),
    "added": normal(9, 5, 5),
}
CASES = {
    f"{attend.__name__}, {name}": lambda attend=attend, mask=mask: attend(*HEADS, mask)
    for attend in (attention, fused_attention)
    for name, mask in MASKS.items()
}
CASES |= {
    "fewer queries": lambda: fused_attention(HEADS[0][:, :, 3:], *HEADS[1:], "causal"),
    "padding": lambda: padding_mask(LENGTHS, 5),
    "window": lambda: windowed(fused_attention, 2)(*HEADS, "causal"),
    "loss": lambda: cross_entropy(LOGITS, TOKENS, label_smoothing=0.1),
    "loss of a model": lambda: language_model_loss(LEARNED, TOKENS)[0],
    "ALiBi": lambda: ALIBI(TOKENS),
    "whole cache": lambda: text(generate(LEARNED, TOKENS, LENGTHS, **SETTINGS)),
    "eight bits": lambda: text(generate(LEARNED, TOKENS, layer=Int8Cache, **SETTINGS)),
    "ALiBi with a cache": lambda: text(generate(ALIBI, TOKENS, LENGTHS, **SETTINGS)),
    "translation": lambda: text(
        translate(BOTH, TOKENS, LENGTHS, start_id=1, **SETTINGS)
    ),
    "beams": lambda: whole(beam_search(LEARNED, TOKENS, LENGTHS, width=3, **SETTINGS)),
    "beams of a target": lambda: whole(
        beam_translate(BOTH, TOKENS, LENGTHS, start_id=1, width=3, **SETTINGS)
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@torch.no_grad()
def test_the_default_device_decides_nothing(case):
    want = case()
    with torch.device("meta"):
        got = case()
    assert got.device.type == "cpu"
    assert got.equal(want)


def test_the_clocks_stand_where_the_positions_are():
    there = torch.arange(3, device="meta")
    assert sinusoid(there, 4).device == there.device
    assert apply_rotary(torch.zeros(3, 4, device="meta"), there).device == there.device
