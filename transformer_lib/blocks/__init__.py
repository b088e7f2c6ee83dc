"""Blocks: norms, feed-forward layers, residual connections, and stacks of them."""

from transformer_lib.blocks.config import Config
from transformer_lib.blocks.layers import (
    BatchNorm,
    FeedForward,
    LayerNorm,
    RMSNorm,
    SwiGLU,
    gelu_tanh,
    layer_norm,
    rms_norm,
)
from transformer_lib.blocks.stack import (
    FEED_FORWARDS,
    NORMS,
    POSITIONS,
    RESIDUALS,
    Block,
    PostNorm,
    PreNorm,
    Stack,
    attention_layer,
    embedding_layer,
    norm_layer,
    residual_layer,
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
    "embedding_layer",
    "gelu_tanh",
    "layer_norm",
    "norm_layer",
    "residual_layer",
    "rms_norm",
]
