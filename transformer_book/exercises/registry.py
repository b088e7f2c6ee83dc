"""All checks by their names; each module has the name of the library's."""

from collections.abc import Mapping
from types import MappingProxyType

from transformer_book.exercises import (
    adaptation,
    attention,
    blocks,
    cache,
    checkpoints,
    embeddings,
    experts,
    inspection,
    masks,
    multihead,
    positions,
    sampling,
    serving,
    tokens,
    training,
)
from transformer_book.exercises.exercise import Exercise

MODULES = (
    *(tokens, embeddings, positions, attention, masks, multihead, blocks, training),
    *(cache, sampling, checkpoints, inspection, experts, serving, adaptation),
)
EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {exercise.name: exercise for module in MODULES for exercise in module.EXERCISES}
)
