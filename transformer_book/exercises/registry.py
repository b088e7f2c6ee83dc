"""All checks by their names."""

from collections.abc import Mapping
from types import MappingProxyType

from transformer_book.exercises import (
    attention,
    beams,
    cache,
    checkpoints,
    decoding,
    embeddings,
    grouped,
    heads,
    inspection,
    layers,
    masks,
    multihead,
    norms,
    packing,
    positions,
    residual,
    sampling,
    schedules,
    smoothing,
    tokens,
    training,
)
from transformer_book.exercises.exercises import Exercise

ROOMS = (
    *(tokens, embeddings, positions, attention, masks, packing, heads, multihead),
    *(grouped, norms, layers, residual, training, smoothing, schedules, cache),
    *(decoding, sampling, beams, inspection, checkpoints),
)
EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {exercise.name: exercise for room in ROOMS for exercise in room.EXERCISES}
)
