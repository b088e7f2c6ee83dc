"""A second device for a machine without a GPU: what is left on the CPU meets an error.

PyTorch calls it "second". Its numbers lie in the CPU's memory and the CPU's kernels
compute them, so results are equal to the bit. But tensors of both devices in one
operation, NumPy, and a generator of the other device are refused, as CUDA does it.
"""

from typing import Any, Self

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

SECOND = "second"
BETWEEN_DEVICES = {"aten::_to_copy", "aten::copy_"}
INDEXING = {
    "aten::index",
    "aten::index_put_",
    "aten::index_put",
    "aten::_index_put_impl_",
}


# Before the first backward of the process, for which PyTorch counts the devices.
_setup_privateuseone_for_python_backend(SECOND)


class Away(Tensor):
    """A tensor of the second device, around the CPU's tensor that holds its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Self:
        away = Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=torch.device(SECOND, 0),
        )
        away.held = held
        return away

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None) -> Any:
        return compute(func, args, kwargs or {})

    # What PyTorch does for tensors of its own types only.
    def tolist(self) -> Any:
        return self.detach().cpu().tolist()


class SecondDevice(TorchDispatchMode):
    """Where this mode holds, tensors can be made on the second device."""

    supports_higher_order_operators = True  # such as FlexAttention's, on the CPU

    def __torch_dispatch__(self, func, types, args=(), kwargs=None) -> Any:
        if is_second((kwargs or {}).get("device")):
            return compute(func, args, kwargs or {})
        return func(*args, **(kwargs or {}))


def is_second(device: Any) -> bool:
    return device is not None and torch.device(device).type == SECOND


def compute(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operation where its tensors are; refuse what lies on two devices."""
    given = tree_leaves((args, kwargs))
    away = [value for value in given if isinstance(value, Away)]
    name, asked = func._schema.name, kwargs.get("device")
    there = is_second(asked) if asked is not None else bool(away)
    if name == "aten::copy_":
        there = isinstance(args[0], Away)
    if name in INDEXING:  # an index may lie on the CPU
        refuse_two_devices(func, [args[0], *args[2:]])
    elif name not in BETWEEN_DEVICES:
        refuse_two_devices(func, given)
    if there and any(isinstance(value, torch.Generator) for value in given):
        raise RuntimeError(f"Expected a '{SECOND}' device type for generator ({func})")
    inner, options = tree_map_only(Away, lambda each: each.held, (args, kwargs))
    if there and asked is not None:
        options["device"] = torch.device("cpu")
    out = func(*inner, **options)
    if not there:
        return out
    out = tree_map_only(Tensor, Away, out)
    return return_and_correct_aliasing(func, args, kwargs, out) if away else out


def refuse_two_devices(func: Any, given: list[Any]) -> None:
    """Raise what CUDA raises; a single number may come from the CPU."""
    tensors = [value for value in given if isinstance(value, Tensor)]
    if any(isinstance(each, Away) for each in tensors):
        left = [each for each in tensors if not isinstance(each, Away) and each.dim()]
        if left:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least "
                f"two devices, {SECOND}:0 and {left[0].device}! ({func})"
            )
