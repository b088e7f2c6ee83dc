"""Train one of the book's models, or a published architecture, from the command line.

python -m transformer_book.train --task manual --model manual-lm --out trained/lm
python -m transformer_book.train --task random --preset base --steps 20
python -m transformer_book.train --task random --preset base --weights bfloat16
torchrun --nproc-per-node 2 -m transformer_book.train --task random --preset base
"""

import argparse
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_book.pretrained import fingerprint, save
from transformer_book.pretrained.recipes import PRESETS, RECIPES, Recipe
from transformer_book.pretrained.run import Run, train_recipe
from transformer_book.pretrained.tasks import TASKS
from transformer_lib.parallel import (
    Processes,
    data_parallel,
    fully_shard_model,
    processes,
)

WEIGHTS = {"float32": torch.float32, "bfloat16": torch.bfloat16}
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}
STRATEGIES = {"data-parallel": data_parallel, "sharded": fully_shard_model}
SETTINGS = ("steps", "batch_size", "peak", "warmup", "weight_decay", "seed")


OPTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "what to train: one of the book's models, or a task and a preset": {
        "--model": {"choices": RECIPES},
        "--task": {"choices": TASKS},
        "--preset": {"choices": PRESETS},
    },
    "how, where it should differ from the recipe": {
        "--steps": {"type": int, "help": "how many updates"},
        "--batch-size": {"type": int, "help": "sequences in each"},
        "--peak": {"type": float, "help": "the highest learning rate"},
        "--warmup": {"type": int, "help": "updates up to the peak"},
        "--weight-decay": {"type": float},
        "--seed": {"type": int},
        "--weights": {
            "choices": WEIGHTS,
            "default": "float32",
            "help": "type of the weights, and so of gradients and Adam's averages",
        },
    },
    "on which machine; what is learned stays the same, but for rounding": {
        "--precision": {
            "choices": PRECISIONS,
            "default": "float32",
            "help": "type of the matrix products; the weights keep theirs (autocast)",
        },
        "--strategy": {"choices": STRATEGIES, "default": "data-parallel"},
        "--compile": {"action": "store_true", "help": "use torch.compile"},
    },
    "what to write": {
        "--out": {"type": Path, "help": "a new folder for the model"},
        "--snapshot": {"type": Path, "help": "a file to keep fresh and to go on from"},
    },
}


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    p = argparse.ArgumentParser(
        prog="python -m transformer_book.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for title, options in OPTIONS.items():
        group = p.add_argument_group(title)
        for name, how in options.items():
            choices = ", ".join(how.get("choices", ()))
            words = [how["help"]] if "help" in how else []
            words += [f"one of {choices}"] if choices else []
            kind: dict[str, Any] = {"metavar": "NAME"} if choices else {}
            group.add_argument(name, **kind, **(how | {"help": "; ".join(words)}))
    return p


def recipe_of(args: argparse.Namespace) -> Recipe:
    """Combine what was asked for into a recipe.

    Raises:
        ValueError: if task, model and preset contradict each other.
    """
    asked = {name: getattr(args, name) for name in SETTINGS}
    given = {name: value for name, value in asked.items() if value is not None}
    if args.model is not None:
        recipe = RECIPES[args.model]
        if args.task not in (None, recipe.task) or args.preset is not None:
            raise ValueError(
                f"{args.model} is trained on the task {recipe.task!r} with a preset of "
                f"its own, got --task {args.task} --preset {args.preset}"
            )
        return replace(recipe, **given)
    if args.task is None or args.preset is None:
        raise ValueError(
            "name a --model, or a --task and a --preset, got "
            f"--task {args.task} --preset {args.preset}"
        )
    steps = given.pop("steps", 100)
    given = {"warmup": min(100, steps // 10), "batch_size": 32, **given}
    return Recipe(task=args.task, preset=args.preset, steps=steps, **given)


def main(arguments: list[str] | None = None) -> None:
    """Train, measure, tell, and save."""
    p = parser()
    args = p.parse_args(arguments)
    try:
        recipe = recipe_of(args)
        if args.out is not None and args.out.exists():
            raise ValueError(f"--out must be a new folder, got {args.out}")
        with processes() as here:
            _train(args, recipe, here)
    except ValueError as error:
        p.error(str(error))


def _train(args: argparse.Namespace, recipe: Recipe, here: Processes) -> None:
    """Train on this process; the first one tells and saves."""
    if args.snapshot is not None and here.size > 1 and args.strategy == "sharded":
        raise ValueError(
            "a snapshot needs whole weights in one process, got --strategy sharded; "
            "leave --snapshot out, or take data-parallel"
        )
    began = time.perf_counter()
    run = Run(
        recipe=recipe,
        processes=here,
        weights=WEIGHTS[args.weights],
        autocast=_autocast(PRECISIONS[args.precision], here.device),
        wrap=_wrapper(args, here),
        report=_Teller(recipe.steps) if here.rank == 0 else lambda *_: None,
        snapshot=args.snapshot,
    )
    model, task, losses = train_recipe(run)
    if here.rank == 0:
        task_metrics = dict(task.evaluate(model))
        about = {
            "name": args.model or args.preset,
            "command": " ".join(["python -m transformer_book.train", *_words(args)]),
            "recipe": asdict(recipe),
            "metrics": task_metrics,
            "final loss": losses[-1] if losses else None,
            "fingerprint": fingerprint(model),
            "threads": torch.get_num_threads(),
        }
        for name, value in task_metrics.items():
            sys.stdout.write(f"{name}: {value:.4f}\n")
        seconds = time.perf_counter() - began
        sys.stdout.write(f"weights {about['fingerprint']}, {seconds:.0f} s in all\n")
        if args.out is not None:
            save(args.out, model, task.tokenizer, about)


class _Teller:
    """Prints a line now and then."""

    def __init__(self, steps: int) -> None:
        self.steps, self.began = steps, time.perf_counter()

    def __call__(self, step: int, loss: float, norm: float) -> None:
        if step % max(1, self.steps // 20) == 0 or step in (1, self.steps):
            seconds = time.perf_counter() - self.began
            sys.stdout.write(
                f"step {step:>6} of {self.steps}  loss {loss:.4f}  "
                f"gradient {norm:.2f}  {seconds:.0f} s\n"
            )
            sys.stdout.flush()


def _words(args: argparse.Namespace) -> list[str]:
    """Return the command again, without what only says where to write."""
    given = {k: v for k, v in vars(args).items() if v is not None}
    words = {k: v for k, v in given.items() if k not in ("out", "snapshot", "compile")}
    return [w for k, v in words.items() for w in (f"--{k.replace('_', '-')}", str(v))]


def _autocast(
    dtype: torch.dtype | None, device: torch.device
) -> AbstractContextManager[Any]:
    return nullcontext() if dtype is None else torch.autocast(device.type, dtype)


def _wrapper(args: argparse.Namespace, here: Processes) -> Any:
    """Say what happens to the model before training: shared out, compiled, both."""

    def wrap(model: nn.Module) -> nn.Module:
        if here.size > 1:
            model = STRATEGIES[args.strategy](model)
        if args.compile:
            model.compile()
        return model

    return wrap


if __name__ == "__main__":
    main()
