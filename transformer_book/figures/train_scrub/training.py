"""Records of a training run, for TrainScrub: a model is inspected repeatedly.

python -m transformer_book.figures.train_scrub.training --out train_scrub.json

trains the book's induction-2, as its recipe says, for the first 600 of its 2000 steps.
"""

import argparse
import json
import string
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.pretrained import evaluation
from transformer_book.pretrained.recipes import RECIPES
from transformer_book.pretrained.run import Run, train_recipe
from transformer_lib.inspection import (
    induction_score,
    previous_token_score,
    record_attention,
)
from transformer_lib.parallel import Processes

STEPS = (
    *(0, 20, 40, 60, 100, 150, 200, 250, 300, 340, 360, 380, 390, 400, 410, 420, 430),
    *(440, 460, 500, 550, 600),
)
"""The steps of the shipped record: many where much happens."""

COMMAND = (
    "python -m transformer_book.figures.train_scrub.training --out train_scrub.json"
)
NAMES = f"_{string.ascii_uppercase}{string.ascii_lowercase}{string.digits}#"
"""Of tokens, in a vocabulary of at most 64; padding is the first."""

_ROWS = 256
"""Texts of which the losses are means."""


def percents(weights: Float[Tensor, "seq seq"]) -> list[list[int]]:
    """Return causal weights in percent: what each query gives to itself and before.

    Sums are rounded, not weights: every row then sums to 100.
    """
    sums = (100 * weights.double().cumsum(dim=-1)).round().int()
    sums[:, -1] = 100
    steps = sums.diff(dim=-1, prepend=torch.zeros_like(sums[:, :1]))
    return [row[: i + 1] for i, row in enumerate(steps.tolist())]


class Look(NamedTuple):
    """What is seen of a model at one step."""

    first: float  # mean loss in the first copy, in nats
    second: float
    said: list[str]  # the likeliest token after each but the last
    weights: Float[Tensor, "n_layers n_heads seq seq"]


class Recorder:
    """Inspects a decoder at some steps of its training on repeated tokens.

    Its text is ``period`` random tokens and the same again; the losses are those of
    `evaluation.repeats`, on many texts. ``train`` calls it after each step as its
    ``report``; `record` then holds all that TrainScrub needs::

        recorder = Recorder(model, steps=[0, 50, 100, 200])
        train(model, batches, report=recorder, ...)
        TrainScrub(recorder.record())

    Raises:
        ValueError: if the period is out of range.
    """

    def __init__(
        self, model: nn.Module, steps: Sequence[int] = STEPS, *, period: int = 8
    ) -> None:
        self.model, self.steps, self.period = model, set(steps), period
        self.vocab_size = int(cast(Any, model).config.vocab_size)
        most = min(self.vocab_size - 1, 26)  # of the names, capitals read best
        if not 2 <= period <= most:
            raise ValueError(f"period must be from 2 to {most} tokens, got {period}")
        generator = torch.Generator().manual_seed(1)
        first = 1 + torch.randperm(most, generator=generator)[None, :period]
        self.tokens = torch.cat([first, first], dim=1)
        self.looks: dict[int, Look] = {}
        self(0)

    def __call__(self, step: int, loss: float = 0.0, norm: float = 0.0) -> None:
        """Inspect the model, if it is time."""
        if step in self.steps:
            training = self.model.training
            self.looks[step] = self._look()
            self.model.train(training)

    @torch.no_grad()
    def _look(self) -> Look:
        tokens = self.tokens.to(next(self.model.parameters()).device)
        with record_attention(self.model.eval()) as layers:
            said = self.model(tokens)[0, :-1].argmax(dim=-1)
        losses = evaluation.repeats(cast(Any, self.model), count=_ROWS)
        first, second = losses.values()
        weights = torch.cat(list(layers.values())).float().cpu()
        return Look(first, second, self._names(said), weights)

    def _names(self, tokens: Tensor) -> list[str]:
        named = self.vocab_size <= len(NAMES)
        return [NAMES[i] if named else str(i) for i in tokens.tolist()]

    def record(self) -> dict[str, Any]:
        """Return what TrainScrub shows, with the two best heads of the last step."""
        looks = [self.looks[step] for step in sorted(self.looks)]
        last = looks[-1].weights
        best = [
            divmod(int(scores.argmax()), last.shape[1])
            for scores in (
                torch.stack([previous_token_score(x[None]) for x in last]),
                torch.stack([induction_score(x[None], self.period) for x in last]),
            )
        ]
        return {
            "steps": sorted(self.looks),
            "first": [round(look.first, 3) for look in looks],
            "second": [round(look.second, 3) for look in looks],
            "tokens": self._names(self.tokens[0, : self.period]),
            "said": [look.said for look in looks],
            "heads": [f"layer {layer}, head {head}" for layer, head in best],
            "maps": [
                [percents(look.weights[place]) for place in best] for look in looks
            ],
        }


def train_recorded(steps: Sequence[int] = STEPS, seed: int = 0) -> Recorder:
    """Train the book's induction-2 up to the last of these steps; inspect each."""
    recorders: list[Recorder] = []

    def watched(model: nn.Module) -> nn.Module:
        recorders.append(Recorder(model, steps))
        return model

    run = Run(
        recipe=replace(RECIPES["induction-2"], seed=seed),
        processes=Processes(rank=0, size=1, device=torch.device("cpu")),
        wrap=watched,
        progress=lambda batches: islice(batches, max(steps)),
        report=lambda step, *_: recorders[0](step),
    )
    train_recipe(run)
    return recorders[0]


def main(arguments: list[str] | None = None) -> None:
    """Write the record of a training run as a JSON file."""
    parser = argparse.ArgumentParser(
        prog="python -m transformer_book.figures.train_scrub.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--seed", type=int, default=0, help="another training run")
    parser.add_argument("--until", type=int, default=600, help="the last step")
    args = parser.parse_args(arguments)
    recorder = train_recorded([s for s in STEPS if s <= args.until], args.seed)
    made = {"command": COMMAND, "record": recorder.record()}
    text = json.dumps(made, separators=(",", ":"))
    args.out.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
