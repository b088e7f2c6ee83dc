"""Sampling: from logits to texts, one token, one beam or one draft at a time."""

from transformer_lib.sampling.beam import (
    Hypotheses,
    beam_search,
    beam_step,
    beam_translate,
    length_penalty,
)
from transformer_lib.sampling.generation import Choose, generate, translate
from transformer_lib.sampling.logits import filter_logits, greedy, sample
from transformer_lib.sampling.session import DecodingSession, column_major, eval_mode
from transformer_lib.sampling.speculative import speculative
from transformer_lib.sampling.validation import pad_left

__all__ = [
    "Choose",
    "DecodingSession",
    "Hypotheses",
    "beam_search",
    "beam_step",
    "beam_translate",
    "column_major",
    "eval_mode",
    "filter_logits",
    "generate",
    "greedy",
    "length_penalty",
    "pad_left",
    "sample",
    "speculative",
    "translate",
]
