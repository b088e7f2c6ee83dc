"""Peak memory against counted bytes, each in a process of its own."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from benchmarks.generation import TEN_MILLION, decoder, prompt
from benchmarks.harness import Report
from transformer_lib.blocks import Config
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.training import next_token_loss

BATCH, LENGTH, PLACES = 8, 256, 1024
MEGABYTE = 2**20


def memory(field: str) -> int:
    """Return the memory of this process in bytes: VmRSS is now, VmHWM the peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{field}:"))
    return 1024 * int(line.split()[1])


def forget_peak() -> int:
    """Let the peak begin anew; return the memory in use."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


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
    """Count and measure two training steps, from nothing."""
    tokens = torch.randint(TEN_MILLION.vocab_size, (BATCH, LENGTH))
    _steps(replace(TEN_MILLION, n_layers=1, d_model=20), tokens[:1, :8])
    before = forget_peak()
    model = _steps(TEN_MILLION, tokens)
    peak = memory("VmHWM") - before
    kept = saved_bytes(
        lambda: next_token_loss(model(tokens), tokens), list(model.parameters())
    )
    weights = sum(p.nbytes for p in model.parameters())
    return {"counted": (4 * weights + kept) / MEGABYTE, "measured": peak / MEGABYTE}


def _steps(config: Config, tokens: Tensor) -> Decoder:
    """Take two steps: in the second one, gradients and moments are all there."""
    model = Decoder(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(2):
        next_token_loss(model(tokens), tokens).backward()
        optimizer.step()
    return model


@torch.inference_mode()
def generation() -> dict[str, float]:
    """Count and measure the cache of a full generation, filled chunk by chunk."""
    model = decoder(TEN_MILLION)
    tokens = prompt(model, 16).expand(BATCH, -1)
    model.states(tokens, cache=new_cache(model.config, BATCH, 16))
    before = forget_peak()
    cache = new_cache(model.config, BATCH, PLACES)
    while cache[0].length < PLACES:
        model.states(tokens, cache=cache)
    peak = memory("VmHWM") - before
    counted = sum(store.n_bytes for store in cache)
    return {"counted": counted / MEGABYTE, "measured": peak / MEGABYTE}


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
