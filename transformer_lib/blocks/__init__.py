"""Blocks: norms, feed-forward layers, residual connections, and stacks of them."""

from transformer_lib.blocks.config import (
    FEED_FORWARDS,
    NORMS,
    POSITIONS,
    RESIDUALS,
    Config,
)
from transformer_lib.blocks.feed_forward import FeedForward, SwiGLU, gelu_tanh
from transformer_lib.blocks.norms import (
    BatchNorm,
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)
from transformer_lib.blocks.residual import PostNorm, PreNorm
from transformer_lib.blocks.stack import (
    Block,
    Stack,
    attention_layer,
    norm_layer,
    residual_layer,
    self_attention,
)

__all__ = [
    "FEED_FORWARDS",
    "NORMS",
    "POSITIONS",
    "RESIDUALS",
    "BatchNorm",
    "Block",
    "Config",
    "FeedForward",
    "LayerNorm",
    "PostNorm",
    "PreNorm",
    "RMSNorm",
    "Stack",
    "SwiGLU",
    "attention_layer",
    "gelu_tanh",
    "layer_norm",
    "norm_layer",
    "residual_layer",
    "rms_norm",
    "self_attention",
]
