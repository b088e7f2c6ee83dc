"""Training steps beside Hugging Face's GPT-2, a PyTorch stack and x-transformers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2LMHeadModel

from benchmarks.generation import twin
from benchmarks.harness import Action, Report
from transformer_lib.decoder import GPT2_SMALL, Decoder
from transformer_lib.training import next_token_loss

VOCAB_SIZE = 1024
SIZES = {
    "4 layers, width 128": {"d_model": 128, "n_layers": 4, "n_heads": 4},
    "6 layers, width 384": {"d_model": 384, "n_layers": 6, "n_heads": 6},
}
BATCH, LENGTH = 8, 256


def ours(size: dict[str, int]) -> Decoder:
    """Return our decoder with GPT-2's parts."""
    config = replace(
        GPT2_SMALL,
        vocab_size=VOCAB_SIZE,
        d_ff=4 * size["d_model"],
        max_len=LENGTH,
        dropout=0.0,
        attention_dropout=0.0,
        **size,
    )
    return Decoder(config)


def hugging_face(size: dict[str, int], attention: str) -> nn.Module:
    """Return GPT-2 of the same size, without dropout.

    Its attention is "sdpa", PyTorch's fused kernel as in all other rows, or "eager":
    the definition, with the matrix of weights in memory.
    """
    model = twin(ours(size), attention)
    model.config.use_cache = False
    return model


class TorchStack(nn.Module):
    """What a user of torch.nn would write."""

    def __init__(self, size: dict[str, int]) -> None:
        super().__init__()
        width = size["d_model"]
        self.embedding = nn.Embedding(VOCAB_SIZE, width)
        self.places = nn.Embedding(LENGTH, width)
        layer = nn.TransformerEncoderLayer(
            width,
            size["n_heads"],
            4 * width,
            dropout=0.0,
            activation=partial(F.gelu, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(
            layer, size["n_layers"], nn.LayerNorm(width), enable_nested_tensor=False
        )
        mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)
        self.mask = nn.Buffer(mask, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.places.weight[: tokens.shape[1]]
        x = self.layers(x, mask=self.mask, is_causal=True)
        return F.linear(x, self.embedding.weight)


def x_transformers(size: dict[str, int]) -> nn.Module | None:
    """Return x-transformers' decoder, where it is installed."""
    try:
        from x_transformers import Decoder as Layers
        from x_transformers import TransformerWrapper
    except ModuleNotFoundError:
        return None
    return TransformerWrapper(
        num_tokens=VOCAB_SIZE,
        max_seq_len=LENGTH,
        tie_embedding=True,
        attn_layers=Layers(
            dim=size["d_model"],
            depth=size["n_layers"],
            heads=size["n_heads"],
            attn_dim_head=size["d_model"] // size["n_heads"],
            attn_flash=True,
        ),
    )


def step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: Tensor) -> None:
    """Take one step, the same for every model."""
    optimizer.zero_grad()
    if isinstance(model, GPT2LMHeadModel):  # computes its loss, as its users do
        model(tokens, labels=tokens).loss.backward()
    else:
        next_token_loss(model(tokens), tokens).backward()
    optimizer.step()


def actions(size: dict[str, int]) -> dict[str, Action]:
    """Return one training step for every peer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    models = {
        "ours": ours(size),
        "ours, torch.compile": ours(size),
        "Hugging Face GPT-2": hugging_face(size, "sdpa"),
        "Hugging Face GPT-2, eager": hugging_face(size, "eager"),
        "torch.nn": TorchStack(size),
        "x-transformers": x_transformers(size),
    }
    tokens = torch.randint(VOCAB_SIZE, (BATCH, LENGTH)).to(device)
    steps: dict[str, Action] = {}
    for name, built in models.items():
        if built is not None:
            model = built.to(device).train()
            # the same AdamW for all, in its fastest form
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
            if "compile" in name:
                model.compile()
            steps[name] = partial(step, model, optimizer, tokens)
    return steps


def measure(repeats: int = 15) -> list[Report]:
    """Time training steps at two sizes."""
    reports = []
    for title, size in SIZES.items():
        torch.manual_seed(0)
        report = Report(
            f"training, {title}",
            f"One step of AdamW in float32 on {BATCH} x {LENGTH} tokens, "
            f"{VOCAB_SIZE} words, no dropout, {torch.get_num_threads()} threads.",
        )
        work = BATCH * LENGTH
        report.time(actions(size), work, "tokens", repeats=repeats, warmup=3)
        peer, eager = "Hugging Face GPT-2", "Hugging Face GPT-2, eager"
        for name in (name for name in report.rows if name != peer):
            report.compare(f"{name} / Hugging Face", name, peer)
        report.compare("ours / Hugging Face, eager", "ours", eager)
        reports.append(report)
    return reports
