"""Compile the library without the shape hook; print how many graphs each run took.

A script of its own: the hook of the test run would break `fullgraph=True`.
"""

import json
import sys

import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

from transformer_lib.attention import attention, fused_attention
from transformer_lib.positions import apply_rotary

EQUAL, CHUNKS, STEPS = [(5, 5), (6, 6), (9, 9)], [(5, 8), (6, 11), (3, 12)], [(1, 7)]
LENGTHS = {"equal lengths": EQUAL, "then chunks": CHUNKS, "then single steps": STEPS}


def tensors(q_len: int, kv_len: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(q_len * kv_len)
    shapes = [(2, 4, q_len, 8), (2, 2, kv_len, 8), (2, 2, kv_len, 8)]
    return [torch.randn(*s, generator=generator).requires_grad_() for s in shapes]


def causal(attend):
    return lambda query, key, value: attend(query, key, value, "causal")


def masked(attend):
    def run(query, key, value):
        mask = torch.ones(query.shape[-2], key.shape[-2]).tril(1).bool()
        return attend(query, key, value, mask)

    return run


def turned(rotation):
    return lambda query, key, value: rotation(query, torch.arange(query.shape[-2]))


CASES = {
    "attention, causal": (causal, attention),
    "attention, Boolean": (masked, attention),
    "fused_attention, causal": (causal, fused_attention),
    "fused_attention, Boolean": (masked, fused_attention),
    "apply_rotary": (turned, apply_rotary),
}


def results(function, lengths) -> tuple[Tensor, ...]:
    """Return the output and the gradients of all inputs."""
    leaves = tensors(*lengths)
    output = function(*leaves)
    gradients = torch.autograd.grad(
        output.square().sum(), leaves, materialize_grads=True
    )
    return output, *gradients


def difference(case, function, compiled, lengths) -> float:
    """Return how far apart eager and compiled are at most."""
    pairs = zip(
        results(case(function), lengths), results(case(compiled), lengths), strict=True
    )
    return max(float((ours - theirs).detach().abs().max()) for ours, theirs in pairs)


def measure(case, function, dynamic: bool) -> dict:
    torch._dynamo.reset()
    # the cheap backend tells graphs, the other one traces the gradient too
    counter = CompileCounterWithBackend("eager" if dynamic else "aot_eager")
    compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=dynamic)
    graphs, worst = {}, 0.0
    for name, group in LENGTHS.items() if dynamic else [("one shape", CHUNKS[:1])]:
        for lengths in group:
            worst = max(worst, difference(case, function, compiled, lengths))
        graphs[name] = counter.frame_count
    return {"graphs": graphs, "difference": worst}


if __name__ == "__main__":
    found = {
        f"{name}, {'dynamic' if dynamic else 'static'}": measure(*case, dynamic)
        for name, case in CASES.items()
        for dynamic in (False, True)
    }
    sys.stdout.write(json.dumps(found))
