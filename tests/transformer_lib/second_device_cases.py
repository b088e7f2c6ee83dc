"""What `test_device_properties.py` asks a process that knows a second device."""

from copy import deepcopy

import pytest
import torch
from second_device import SECOND, SecondDevice
from test_device_properties import CASES, HEADS, PLACES
from torch import Tensor, nn

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
