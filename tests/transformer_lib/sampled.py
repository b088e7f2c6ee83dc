"""Small models to sample from, in float64: no rounding turns a token into another."""

from dataclasses import replace

import torch

from transformer_lib.blocks import Config
from transformer_lib.decoder import Decoder

SMALL = Config(
    vocab_size=13,
    d_model=16,
    n_layers=2,
    n_heads=2,
    d_ff=24,
    max_len=40,
    positions="learned",  # the waves of the others are in float32
    tied=False,
    scale_embeddings=True,  # else an untrained model says one word again and again
)


def model(family=Decoder, seed=17, **changes):
    """Return a new model, with some words and numbers of its config changed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return family(replace(SMALL, **changes)).double().eval()


def broken_model():
    """Return a decoder whose logits are no numbers."""
    decoder = model()
    decoder.stack.norm.weight.data.fill_(torch.nan)
    return decoder


def texts(steps):
    """Return each text as a list of the tokens that the steps give it."""
    return torch.stack(list(steps), dim=1).tolist()
