"""A training step of GPT-2 on a GPU: its share of the peak, bf16 and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import nn

from benchmarks.harness import Action, Report
from benchmarks.training import NANOGPT, loss_function, nano_gpt, step
from transformer_lib.blocks import Config
from transformer_lib.decoder import GPT2_SMALL, Decoder

PEAKS = {"A100": 312e12, "H100": 989e12, "H200": 989e12}
"""Products in bf16 a second, without sparsity, of the SXM cards' data sheets."""
MEDIUM = replace(GPT2_SMALL, feed_forward="gelu", dropout=0.0, attention_dropout=0.0)
BATCH = 16


def flops_per_token(config: Config, n_parameters: int) -> int:
    """Count additions and multiplications, forward and back, as PaLM's appendix B.

    Six for each weight, and 12 for each layer, width and position; the table of
    positions multiplies nothing.
    """
    multiplied = n_parameters - config.max_len * config.d_model
    return 6 * multiplied + 12 * config.n_layers * config.d_model * config.max_len


def measure(nanogpt: Path | None = None, repeats: int = 20) -> Iterator[Report]:
    """Time steps of the 124 million; nothing is measured where there is no GPU."""
    if not torch.cuda.is_available():
        print("gpu is left out: there is none")
        return
    torch.manual_seed(0)
    first = Decoder(MEDIUM)
    models: dict[str, nn.Module] = {
        name: Decoder(MEDIUM) for name in ("float32", "bf16", "bf16, compiled")
    }
    models = {f"ours, {name}": model for name, model in models.items()}
    if nanogpt is not None:
        models |= {
            f"{NANOGPT}, {name}": nano_gpt(first, nanogpt)
            for name in ("bf16", "bf16, compiled")
        }
    shape = (BATCH, MEDIUM.max_len)
    tokens = torch.randint(MEDIUM.vocab_size, shape).cuda()
    actions: dict[str, Action] = {}
    for name, model in models.items():
        optimizer = torch.optim.AdamW(model.cuda().parameters(), lr=1e-4, fused=True)
        loss = loss_function(model, compiled="compiled" in name)
        # in float32, or in bf16 where autocast allows it
        half = torch.autocast("cuda", torch.bfloat16, enabled="bf16" in name)
        actions[name] = partial(step, half(loss), optimizer, tokens)
    report = Report(
        "training, 124 million",
        f"One step of AdamW on {BATCH} x {MEDIUM.max_len} tokens, no dropout. MFU: "
        "the share of the card's bf16 peak that the model's own arithmetic takes.",
    )
    report.time(actions, tokens.numel(), "tokens", repeats=repeats, warmup=3)
    for name in report.rows:
        peer = name.replace("ours", NANOGPT)
        if peer != name and peer in report.rows:
            report.compare(f"{name} / {NANOGPT}", name, peer)
    count = sum(p.numel() for p in first.parameters())
    card = torch.cuda.get_device_name()
    peak = next((peak for key, peak in PEAKS.items() if key in card), None)
    for name, row in report.rows.items() if peak is not None else ():
        rate = flops_per_token(MEDIUM, count) * row.work / row.median
        report.facts[f"MFU, {name}"] = round(rate / peak, 3)
    yield report
