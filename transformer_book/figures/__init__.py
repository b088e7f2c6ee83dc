"""Live figures: the same object in a notebook and on the published page.

Every figure is a widget whose traits are all of its state. Set a trait and the picture
follows; a reader's click comes back as a trait.
"""

from transformer_book.figures.attention_stepper.figure import AttentionStepper
from transformer_book.figures.bertviz_views import head_view, model_view
from transformer_book.figures.block_flow.figure import BlockFlow
from transformer_book.figures.bpe_stepper.figure import BPEStepper
from transformer_book.figures.embedding_lookup.figure import EmbeddingLookup
from transformer_book.figures.figure import Figure
from transformer_book.figures.heads_grid.figure import HeadsGrid
from transformer_book.figures.interact import drive
from transformer_book.figures.kv_cache_stepper.figure import KVCacheStepper
from transformer_book.figures.position_lab.figure import PositionLab
from transformer_book.figures.rope_rotor.figure import RoPERotor
from transformer_book.figures.sampling_desk.figure import SamplingDesk
from transformer_book.figures.score_bench.figure import ScoreBench
from transformer_book.figures.shape_ledger.figure import ShapeLedger
from transformer_book.figures.softmax_mask.figure import SoftmaxMask
from transformer_book.figures.train_scrub.figure import TrainScrub
from transformer_book.figures.translator.figure import Translator

__all__ = [
    "AttentionStepper",
    "BPEStepper",
    "BlockFlow",
    "EmbeddingLookup",
    "Figure",
    "HeadsGrid",
    "KVCacheStepper",
    "PositionLab",
    "RoPERotor",
    "SamplingDesk",
    "ScoreBench",
    "ShapeLedger",
    "SoftmaxMask",
    "TrainScrub",
    "Translator",
    "drive",
    "head_view",
    "model_view",
]
