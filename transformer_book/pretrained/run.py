"""From a recipe to a trained model."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import AdamW, Optimizer

from transformer_book.pretrained.recipes import PRESETS, Recipe
from transformer_book.pretrained.tasks import TASKS, Task
from transformer_book.tasks import REVERSAL_VOCAB_SIZE
from transformer_lib.blocks import Config
from transformer_lib.encoder import Classifier, each_token
from transformer_lib.parallel import (
    Processes,
    gather_state_dict,
    mean_over_processes,
    shard_batch,
)
from transformer_lib.training import (
    load_snapshot,
    parameter_groups,
    save_snapshot,
    train,
    warmup_cosine,
)

Wrap = Callable[[nn.Module], nn.Module]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A recipe with the machine it runs on, and the precision of its numbers.

    ``weights`` is the type of the weights, and so of their gradients and of what the
    optimizer keeps; ``autocast`` changes the type of matrix products alone. ``wrap`` is
    `torch.compile`, `data_parallel`, `fully_shard_model` or nothing.
    """

    recipe: Recipe
    processes: Processes
    weights: torch.dtype = torch.float32
    autocast: AbstractContextManager[Any] = field(default_factory=nullcontext)
    wrap: Wrap = lambda model: model
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter
    report: Callable[[int, float, float], object] = lambda step, loss, norm: None
    snapshot: Path | None = None
    every: int = 100


def build(config: Config, task: Task) -> nn.Module:
    """Build the task's kind of model, with its vocabulary."""
    if task.vocab_size is not None:
        config = replace(config, vocab_size=task.vocab_size)
    if task.kind is Classifier:
        return Classifier(config, REVERSAL_VOCAB_SIZE, pool=each_token)
    return task.kind(config)


def train_recipe(run: Run) -> tuple[nn.Module, Task, list[float]]:
    """Train the recipe's model; return it, its task and the loss of each step.

    With a snapshot file, the run goes on from it if it is there, and writes it again
    and again: killed, it loses at most ``every`` steps.

    Raises:
        ValueError: if the recipe names an unknown task or preset.
    """
    recipe, here = run.recipe, run.processes
    task = _find("task", recipe.task, TASKS)()
    torch.manual_seed(recipe.seed)
    config = _find("preset", recipe.preset, PRESETS)
    model = build(config, task).to(here.device, run.weights)
    torch.manual_seed(recipe.seed + here.rank)  # dropout differs between processes
    wrapped = run.wrap(model)
    groups = parameter_groups(wrapped, recipe.weight_decay)
    optimizer = AdamW(groups, lr=recipe.peak, betas=(0.9, 0.95))
    start = 0
    if run.snapshot is not None and run.snapshot.exists():
        start = load_snapshot(run.snapshot, model=model, optimizer=optimizer)
    losses = train(
        wrapped,
        run.progress(_batches(recipe, task, here, start)),
        optimizer=optimizer,
        loss=mean_over_processes(task.loss),
        schedule=partial(
            warmup_cosine, peak=recipe.peak, warmup=recipe.warmup, total=recipe.steps
        ),
        autocast=run.autocast,
        report=_reporter(run, model, optimizer),
        start=start,
    )
    if here.size > 1:
        gathered = gather_state_dict(model)
        model = build(config, task).to(here.device, run.weights)
        if gathered:  # in the first process
            model.load_state_dict(gathered)
    return model.eval(), task, losses


def _find(what: str, name: str, table: Any) -> Any:
    """Look a word up."""
    if name not in table:
        raise ValueError(f"{what} must be one of {sorted(table)}, got {name!r}")
    return table[name]


def _batches(recipe: Recipe, task: Task, here: Processes, start: int) -> Iterator[Any]:
    """Draw every batch that is still to come, and keep this process's rows."""
    generator = torch.Generator().manual_seed(recipe.seed + 1)
    drawn = task.batches(
        batch_size=recipe.batch_size, generator=generator, steps=recipe.steps
    )
    return (shard_batch(batch, here) for batch in islice(drawn, start, None))


def _reporter(
    run: Run, model: nn.Module, optimizer: Optimizer
) -> Callable[[int, float, float], None]:
    """Pass reports on, and write snapshots between them."""

    def report(step: int, loss: float, norm: float) -> None:
        run.report(step, loss, norm)
        due = step % run.every == 0 or step == run.recipe.steps
        if run.snapshot is not None and due and run.processes.rank == 0:
            save_snapshot(run.snapshot, model=model, optimizer=optimizer, step=step)

    return report
