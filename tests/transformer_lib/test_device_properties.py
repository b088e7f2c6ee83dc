"""What is made on the way is made where its inputs are, and nowhere else.

With inputs on the CPU, the default device is "meta", whose tensors hold no numbers and
mix with no others. With inputs on a second device, all that is left on the CPU does.
"""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from commands import python_says
from models import draw_tokens, model, tiny
from samples import coin_flips, normal, seeded
from torch import Tensor, nn
from torch.utils import backend_registration

from transformer_lib.adaptation import add_lora, merge_lora, quantize_linears
from transformer_lib.attention import attention, fused_attention
from transformer_lib.cache import Int8Cache, StaticCache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.experts import Experts, balance_loss, record_routing
from transformer_lib.masks import padding_mask, windowed
from transformer_lib.sampling import (
    beam_search,
    beam_translate,
    generate,
    sample,
    translate,
)
from transformer_lib.serving import ContinuousBatch, Request
from transformer_lib.training import cross_entropy, language_model_loss, train

TOKENS, LENGTHS = draw_tokens(0, 2, 5), torch.tensor([5, 3])
SETTINGS = {"max_new_tokens": 4, "end_id": 2}
HEADS = [normal(i, 2, 4, 5, 8) for i in range(3)]
LEARNED, ALIBI = (
    model(Decoder, tiny(positions=kind), torch.float32) for kind in ("learned", "alibi")
)
BOTH = model(EncoderDecoder, tiny(positions="learned"), torch.float32)


def learn(at):
    """The losses and the weights of three steps of training."""
    torch.manual_seed(0)
    model, batches = at(LEARNED).train().requires_grad_(), [at(TOKENS)] * 3
    losses = train(
        model, batches, optimizer=torch.optim.SGD(model.parameters(), lr=0.1)
    )
    assert losses[2] < losses[0]
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def write(at, model, **kind):
    return text(generate(at(model), at(TOKENS), at(LENGTHS), **SETTINGS, **kind))


def adapt(at, model):
    """What a rounded model says after an update is merged into it."""
    small = quantize_linears(at(model), bits=4, group_size=8)
    return merge_lora(add_lora(small, 2))(at(TOKENS))


def text(steps):
    return torch.stack(list(steps), dim=1)


def serve(at, model):
    """The texts of two users in one batch, whose memory suffices for one."""
    size = {"n_blocks": 3, "block_size": 3, "max_users": 2, "max_tokens": 4}
    batch, users = ContinuousBatch(at(model), **size), []
    for prompt in TOKENS.tolist():
        users.append(Request(prompt, max_new_tokens=4))
        batch.add(users[-1])
    batch.run()
    written = torch.tensor([user.written for user in users], device="cpu")
    keys = batch.cache[0].key.flatten()
    return torch.cat((written.flatten().to(keys), keys))


def whole(found):
    return torch.cat((found.tokens, found.scores[:, None]), dim=1)


def expert_step(at, layer):
    """The output of an experts layer, and the loss that balances it."""
    with record_routing(layer := at(layer)) as record:
        out = layer(at(HEADS[0]))
    return torch.cat((out.flatten(), balance_loss(record[0])[None]))


PLACES = torch.arange(5)
EXPERTS = Experts(8, 6, 3).requires_grad_(requires_grad=False)
LOGITS = normal(0, 2, 5, 13)
MASKS = {
    "none": None,
    "causal": "causal",
    "Boolean": coin_flips(0, 5, 5).tril(-1),
    "added": normal(9, 5, 5),
}
CASES: dict[str, Callable[[Callable[[Any], Any]], Tensor]] = {
    f"{attend.__name__}, {name}": lambda at, attend=attend, mask=mask: attend(
        *map(at, HEADS), at(mask)
    )
    for attend in (attention, fused_attention)
    for name, mask in MASKS.items()
}
CASES |= {
    "fewer queries": lambda at: fused_attention(
        at(HEADS[0][:, :, 3:]), *map(at, HEADS[1:]), "causal"
    ),
    "padding": lambda at: padding_mask(at(LENGTHS), 5),
    "window": lambda at: windowed(fused_attention, 2)(*map(at, HEADS), "causal"),
    "loss": lambda at: cross_entropy(at(LOGITS), at(TOKENS), label_smoothing=0.1),
    "loss of a model": lambda at: language_model_loss(at(LEARNED), at(TOKENS))[0],
    "ALiBi": lambda at: at(ALIBI)(at(TOKENS)),
    "whole cache": lambda at: write(at, LEARNED),
    "eight bits": lambda at: write(at, LEARNED, layer=Int8Cache),
    "fixed shape": lambda at: write(at, LEARNED, layer=StaticCache),
    "sample": lambda at: sample(at(LOGITS[0]), seeded()),
    "ALiBi with a cache": lambda at: write(at, ALIBI),
    "translation": lambda at: text(
        translate(at(BOTH), at(TOKENS), at(LENGTHS), start_id=1, **SETTINGS)
    ),
    "beams": lambda at: whole(
        beam_search(at(LEARNED), at(TOKENS), at(LENGTHS), width=3, **SETTINGS)
    ),
    "beams of a target": lambda at: whole(
        beam_translate(
            at(BOTH), at(TOKENS), at(LENGTHS), start_id=1, width=3, **SETTINGS
        )
    ),
    "experts": lambda at: expert_step(at, EXPERTS),
    "serving": lambda at: serve(at, LEARNED),
    "training": learn,
    "adaptation": lambda at: adapt(at, LEARNED),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_default_device_decides_nothing(case):
    want = case(deepcopy)
    with torch.device("meta"):
        got = case(deepcopy)
    assert got.device.type == "cpu"
    assert got.equal(want)


@pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="PyTorch before 2.10: no device can be made in Python",
)
def test_a_second_device_gives_the_same_and_finds_what_is_left_on_the_cpu():
    """In a process of its own: PyTorch asks more of each device that it knows."""
    python_says(
        "-m", "pytest", "-q", Path(__file__).with_name("second_device_cases.py")
    )
