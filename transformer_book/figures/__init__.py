"""Live figures: the same object in a notebook and on the published page.

Every figure is a widget whose traits are all of its state. Set a trait and the picture
follows; a reader's click comes back as a trait.
"""

from transformer_book.figures.attention_stepper.figure import (
    AttentionStepper as AttentionStepper,
)
from transformer_book.figures.bertviz_views import (
    encoder_decoder_view as encoder_decoder_view,
)
from transformer_book.figures.bertviz_views import head_view as head_view
from transformer_book.figures.bertviz_views import model_view as model_view
from transformer_book.figures.block_flow.figure import BlockFlow as BlockFlow
from transformer_book.figures.bpe_stepper.figure import BPEStepper as BPEStepper
from transformer_book.figures.embedding_lookup.figure import (
    EmbeddingLookup as EmbeddingLookup,
)
from transformer_book.figures.expert_router.figure import ExpertRouter as ExpertRouter
from transformer_book.figures.figure import Figure as Figure
from transformer_book.figures.heads_grid.figure import HeadsGrid as HeadsGrid
from transformer_book.figures.interact import drive as drive
from transformer_book.figures.kv_cache_stepper.figure import (
    KVCacheStepper as KVCacheStepper,
)
from transformer_book.figures.paged_cache.figure import PagedCache as PagedCache
from transformer_book.figures.position_lab.figure import PositionLab as PositionLab
from transformer_book.figures.rope_rotor.figure import RoPERotor as RoPERotor
from transformer_book.figures.sampling_desk.figure import SamplingDesk as SamplingDesk
from transformer_book.figures.score_bench.figure import ScoreBench as ScoreBench
from transformer_book.figures.shape_ledger.figure import ShapeLedger as ShapeLedger
from transformer_book.figures.softmax_mask.figure import SoftmaxMask as SoftmaxMask
from transformer_book.figures.train_scrub.figure import TrainScrub as TrainScrub
from transformer_book.figures.translator.figure import Translator as Translator
