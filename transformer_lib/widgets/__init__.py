"""Live figures: the same object in a notebook and on the published page.

Every figure is a widget whose traits are all of its state. Set a trait and the picture
follows; a reader's click comes back as a trait.
"""

from transformer_lib.widgets.attention_stepper import AttentionStepper
from transformer_lib.widgets.bertviz_views import head_view, model_view
from transformer_lib.widgets.block_flow import BlockFlow
from transformer_lib.widgets.bpe_stepper import BPEStepper
from transformer_lib.widgets.driven import drive
from transformer_lib.widgets.embedding_lookup import EmbeddingLookup
from transformer_lib.widgets.figure import Figure
from transformer_lib.widgets.heads_grid import HeadsGrid
from transformer_lib.widgets.kv_cache_stepper import KVCacheStepper
from transformer_lib.widgets.position_lab import PositionLab
from transformer_lib.widgets.rope_rotor import RoPERotor
from transformer_lib.widgets.sampling_desk import SamplingDesk
from transformer_lib.widgets.score_bench import ScoreBench
from transformer_lib.widgets.shape_ledger import ShapeLedger
from transformer_lib.widgets.softmax_mask import SoftmaxMask
from transformer_lib.widgets.train_scrub import TrainScrub
from transformer_lib.widgets.translator import Translator

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
