"""What `test_device_properties.py` asks a process that knows a second device."""

from copy import deepcopy

import pytest
import torch
from samples import seeded
from second_device import SECOND, SecondDevice
from test_device_properties import CASES, HEADS, LEARNED, LOGITS, PLACES, TOKENS
from torch import Tensor, nn

from transformer_lib.attention import attention
from transformer_lib.positions import apply_rotary, sinusoid


def away(thing):
    """A copy of a tensor or a model on the second device."""
    movable = isinstance(thing, Tensor | nn.Module)
    return deepcopy(thing).to(SECOND) if movable else thing


# Their clocks are made on the default device, from which nothing comes if it is "meta".
BOTH_DEVICES = CASES | {
    "rotation": lambda at: apply_rotary(at(HEADS[0]), at(PLACES)),
    "sinusoid": lambda at: sinusoid(at(PLACES), 8),
}


@pytest.mark.parametrize("case", BOTH_DEVICES.values(), ids=BOTH_DEVICES)
def test_a_second_device_gives_the_same(case):
    with SecondDevice():
        got = case(away)
        assert got.device.type == SECOND
        torch.testing.assert_close(got.cpu(), case(deepcopy))


def test_what_is_left_on_the_cpu_is_found():
    with SecondDevice():
        x = away(LOGITS)
        for meet in (
            lambda: x + LOGITS,
            lambda: LOGITS * x[0, 0, 0],
            lambda: torch.cat((x, LOGITS)),
            lambda: attention(away(HEADS[0]), *HEADS[1:]),
            lambda: away(LEARNED)(TOKENS),
        ):
            with pytest.raises(RuntimeError, match="found at least two devices"):
                meet()
        with pytest.raises(RuntimeError, match="generator"):
            torch.randn(3, device=SECOND, generator=seeded())
        with pytest.raises(RuntimeError, match="numpy"):
            x.numpy()
        # as CUDA allows it: a single number, an index, a copy
        assert (x * torch.tensor(2.0))[torch.tensor([0])].cpu().equal(2 * LOGITS[:1])
