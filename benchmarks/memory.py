"""Peak memory against counted bytes, each in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from benchmarks.generation import TEN_MILLION, decoder, prompt
from benchmarks.harness import Report
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.training import next_token_loss

BATCH, LENGTH, PLACES = 8, 256, 1024
MEGABYTE = 2**20


def resident() -> int:
    """Return the highest memory of this process so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def saved_bytes(action: Callable[[], object], parameters: list[Tensor]) -> int:
    """Count what the forward pass keeps for the gradient, each memory once."""
    own = {p.untyped_storage().data_ptr() for p in parameters}
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = action()
    del result
    return sum(kept.values())


def training() -> dict[str, float]:
    """Count and measure one training step."""
    model = Decoder(TEN_MILLION)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(TEN_MILLION.vocab_size, (BATCH, LENGTH))
    weights = sum(p.nbytes for p in model.parameters())
    _step(model, optimizer, tokens[:1, :8])  # the moments are there, and the libraries
    kept = saved_bytes(
        lambda: next_token_loss(model(tokens), tokens), list(model.parameters())
    )
    before = resident() - 4 * weights
    _step(model, optimizer, tokens)
    return {
        "counted": (4 * weights + kept) / MEGABYTE,
        "measured": (resident() - before) / MEGABYTE,
    }


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor) -> None:
    next_token_loss(model(tokens), tokens).backward()
    optimizer.step()
    optimizer.zero_grad()


@torch.inference_mode()
def generation() -> dict[str, float]:
    """Count and measure the cache of a full generation."""
    model = decoder(TEN_MILLION)
    model(prompt(model, 8))
    before = resident()
    cache = new_cache(model.config, BATCH, PLACES)
    for start in range(0, PLACES, 128):
        tokens = prompt(model, 128).expand(BATCH, -1)
        assert cache[0].length == start
        model.states(tokens, cache=cache)
    counted = sum(store.n_bytes for store in cache)
    return {
        "counted": counted / MEGABYTE,
        "measured": (resident() - before) / MEGABYTE,
    }


CASES = {"training": training, "generation": generation}


def measure() -> list[Report]:
    """Run each case alone, so that nothing freed earlier blurs its peak."""
    report = Report(
        "memory",
        f"MiB, ten million parameters in float32. Training: weights, gradients, two "
        f"moments and what the gradient needs, {BATCH} x {LENGTH} tokens. Generation: "
        f"the cache of {BATCH} x {PLACES} tokens.",
    )
    for name in CASES:
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", name],
            capture_output=True,
            text=True,
            check=True,
        )
        found = json.loads(run.stdout)
        report.facts |= {f"{name}, {k}": round(v, 1) for k, v in found.items()}
        report.facts[f"{name}, measured / counted"] = round(
            found["measured"] / found["counted"], 3
        )
    return [report]


if __name__ == "__main__":
    torch.manual_seed(0)
    sys.stdout.write(json.dumps(CASES[sys.argv[1]]()))
