"""Compile kernels and rotation by themselves; print graphs and distance from eager.

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


def masked(attend, mask):
    def run(query, key, value):
        seen = torch.ones(query.shape[-2], key.shape[-2]).tril(1).bool()
        return attend(query, key, value, "causal" if mask == "causal" else seen)

    return run


CASES = {
    f"{attend.__name__}, {mask}": masked(attend, mask)
    for attend in (attention, fused_attention)
    for mask in ("causal", "Boolean")
} | {"apply_rotary": lambda x, *_: apply_rotary(x, torch.arange(x.shape[-2]))}


def results(function, q_len: int, kv_len: int) -> list[Tensor]:
    """Return the output and the gradients of all inputs."""
    generator = torch.Generator().manual_seed(q_len * kv_len)
    shapes = [(2, 4, q_len, 8), (2, 2, kv_len, 8), (2, 2, kv_len, 8)]
    leaves = [torch.randn(*s, generator=generator).requires_grad_() for s in shapes]
    output = function(*leaves)
    loss = output.square().sum()
    return [output, *torch.autograd.grad(loss, leaves, materialize_grads=True)]


def measure(function, dynamic: bool) -> dict:
    torch._dynamo.reset()
    # the cheap backend tells graphs, the other one traces the gradient too
    counter = CompileCounterWithBackend("eager" if dynamic else "aot_eager")
    compiled = torch.compile(function, backend=counter, fullgraph=True, dynamic=dynamic)
    graphs, worst = [], 0.0
    for group in (EQUAL, CHUNKS, STEPS) if dynamic else (CHUNKS[:1],):
        for lengths in group:
            runs = (results(f, *lengths) for f in (function, compiled))
            pairs = zip(*runs, strict=True)
            gaps = [
                float((ours - theirs).detach().abs().max()) for ours, theirs in pairs
            ]
            worst = max(worst, *gaps)
        graphs.append(counter.frame_count)
    return {"graphs": graphs, "difference": worst}


if __name__ == "__main__":
    found = {name: [measure(f, d) for d in (False, True)] for name, f in CASES.items()}
    sys.stdout.write(json.dumps(found))
