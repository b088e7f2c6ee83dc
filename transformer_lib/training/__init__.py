"""Training: the loss, the schedules, the loop, and snapshots to go on from."""

from transformer_lib.training.loop import (
    Loss,
    noam,
    parameter_groups,
    train,
    warmup_cosine,
)
from transformer_lib.training.losses import (
    bits_per_byte,
    cross_entropy,
    language_model_loss,
    next_token_loss,
    sequence_to_sequence_loss,
    summed_cross_entropy,
    token_classification_loss,
)
from transformer_lib.training.snapshots import load_snapshot, save_snapshot

__all__ = [
    "Loss",
    "bits_per_byte",
    "cross_entropy",
    "language_model_loss",
    "load_snapshot",
    "next_token_loss",
    "noam",
    "parameter_groups",
    "save_snapshot",
    "sequence_to_sequence_loss",
    "summed_cross_entropy",
    "token_classification_loss",
    "train",
    "warmup_cosine",
]
