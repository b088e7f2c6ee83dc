"""The record that ExpertRouter is shipped with: two routers while they learn.

python -m transformer_book.figures.expert_router.training --out expert_router.json

trains two models on the characters of Python's manual: they start alike and read the
same batches, but only one has a balancing loss.
"""

import argparse
import json
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.tasks import manual_text
from transformer_lib.blocks import Block, Config
from transformer_lib.decoder import Decoder
from transformer_lib.experts import Experts, balance_loss, record_routing

TEXT = "Modules built in"
"""What the routers are shown: held-out text, cut to fit a phone."""

STEPS = (0, 10, 25, 50, 100, 200)
COMMAND = (
    "python -m transformer_book.figures.expert_router.training --out expert_router.json"
)
_TRAINED = 57_000
"""Characters that the models train on."""


def logits_of(model: Decoder, tokens: Tensor) -> list[list[float]]:
    """Return the router's logits for each token, with three digits."""
    with torch.no_grad(), record_routing(model) as record:
        model(tokens[None])
    # logits up to a constant: those whose mean is 0
    logits = record[0].probabilities.log()
    logits = logits - logits.mean(dim=-1, keepdim=True)
    return [[round(x, 3) for x in row] for row in logits.tolist()]


def train_router(
    coefficient: float, steps: tuple[int, ...] = STEPS, seed: int = 0
) -> list[list[list[float]]]:
    """Train one model; return its router's logits for the text at these steps."""
    text = manual_text()
    characters = sorted(set(text))
    places = {character: i for i, character in enumerate(characters)}
    windows = torch.tensor([places[c] for c in text[:_TRAINED]]).unfold(0, 33, 1)
    shown = torch.tensor([places[c] for c in TEXT])
    torch.manual_seed(seed)
    model = Decoder(
        Config(
            vocab_size=len(characters),
            d_model=48,
            n_layers=1,
            n_heads=4,
            d_ff=24,
            max_len=32,
            norm="layer",
        )
    )
    (block,) = cast(list[Block], model.stack.blocks)
    block.feed_forward.layer = Experts(48, 24, n_experts=8, top_k=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    frames = []
    for step in range(max(steps) + 1):
        if step in steps:
            frames.append(logits_of(model, shown))
        batch = windows[torch.randint(len(windows), (16,))]
        with record_routing(model) as record:
            loss = F.cross_entropy(model(batch[:, :-1]).mT, batch[:, 1:])
        optimizer.zero_grad()
        (loss + coefficient * balance_loss(record[0])).backward()
        optimizer.step()
    return frames


def record_of(steps: tuple[int, ...] = STEPS, seed: int = 0) -> dict[str, Any]:
    """Return all that ExpertRouter shows."""
    return {
        "tokens": list(TEXT),
        "steps": list(steps),
        "without": train_router(0.0, steps, seed),
        "balanced": train_router(0.01, steps, seed),
    }


def main(arguments: list[str] | None = None) -> None:
    """Write the record as a JSON file."""
    parser = argparse.ArgumentParser(
        prog="python -m transformer_book.figures.expert_router.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    args = parser.parse_args(arguments)
    made = {"command": COMMAND, "record": record_of()}
    args.out.write_text(f"{json.dumps(made, separators=(',', ':'))}\n", "utf-8")


if __name__ == "__main__":
    main()
