"""Training steps beside nanoGPT, Hugging Face, a PyTorch stack and x-transformers."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import GPT2LMHeadModel

from benchmarks.generation import twin
from benchmarks.harness import Action, Report
from transformer_lib.blocks import Config
from transformer_lib.checkpoints import to_hf
from transformer_lib.decoder import GPT2_SMALL, Decoder
from transformer_lib.training import next_token_loss

VOCAB_SIZE = 1024
SIZES = {
    "4 layers, width 128": ({"d_model": 128, "n_layers": 4, "n_heads": 4}, 12, 64),
    "6 layers, width 384": ({"d_model": 384, "n_layers": 6, "n_heads": 6}, 4, 256),
}
LENGTH = 256
NANOGPT = "nanoGPT"
Loss = Callable[[Tensor], Tensor]
THEIR_GELU = "ours, nanoGPT's GELU"


def ours(size: dict[str, int], config: Config = GPT2_SMALL) -> Decoder:
    """Return our decoder with GPT-2's parts."""
    config = replace(
        config,
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


def nano_gpt(model: Decoder, checkout: Path) -> nn.Module:
    """Return nanoGPT's model with our weights, from a checkout of its repository."""
    spec = importlib.util.spec_from_file_location("nanogpt", checkout / "model.py")
    assert spec
    assert spec.loader
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    c = model.config
    sizes = {"n_layer": c.n_layers, "n_head": c.n_heads, "n_embd": c.d_model}
    config = module.GPTConfig(
        block_size=c.max_len, vocab_size=c.vocab_size, dropout=0.0, **sizes
    )
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its size
        peer: nn.Module = module.GPT(config)
    _, state = to_hf(model, "gpt2")
    transposed = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    state = {k: v.mT if k.endswith(transposed) else v for k, v in state.items()}
    peer.load_state_dict(state | {"lm_head.weight": state["transformer.wte.weight"]})
    return peer


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


def step(loss: Loss, optimizer: torch.optim.Optimizer, tokens: Tensor) -> None:
    """Take one step, the same for every model."""
    optimizer.zero_grad()
    loss(tokens).backward()
    optimizer.step()


def loss_function(model: nn.Module, *, compiled: bool) -> Loss:
    """Return the loss of a batch; compiled, it is compiled together with the model."""

    def loss(tokens: Tensor) -> Tensor:
        return loss_of(model, tokens)

    return torch.compile(loss) if compiled else loss


def loss_of(model: nn.Module, tokens: Tensor) -> Tensor:
    """Return the mean loss of the next tokens; peers compute it as their users do."""
    if isinstance(model, GPT2LMHeadModel):
        return model(tokens, labels=tokens).loss
    if type(model).__module__ == "nanogpt":
        targets = F.pad(tokens[:, 1:], (0, 1), value=-1)
        return model(tokens, targets)[1]
    return next_token_loss(model(tokens), tokens)


def beside_nano_gpt(size: dict[str, int], checkout: Path) -> dict[str, nn.Module]:
    """Return nanoGPT, and ours with its weights and its GELU, which needs no tanh."""
    model = ours(size, replace(GPT2_SMALL, feed_forward="gelu"))
    peer = nano_gpt(model, checkout)
    tokens = torch.randint(VOCAB_SIZE, (2, 9))
    torch.testing.assert_close(loss_of(model, tokens), loss_of(peer, tokens))
    compiled = deepcopy(model)
    return {NANOGPT: peer, THEIR_GELU: model, f"{THEIR_GELU}, torch.compile": compiled}


def actions(
    size: dict[str, int], batch: int, length: int, nanogpt: Path | None
) -> dict[str, Action]:
    """Return one training step for every peer."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    models = beside_nano_gpt(size, nanogpt) if nanogpt is not None else {}
    models |= {
        "ours": ours(size),
        "ours, torch.compile": ours(size),
        "Hugging Face GPT-2": hugging_face(size, "sdpa"),
        "Hugging Face GPT-2, eager": hugging_face(size, "eager"),
        "torch.nn": TorchStack(size),
        "x-transformers": x_transformers(size),
    }
    tokens = torch.randint(VOCAB_SIZE, (batch, length)).to(device)
    steps: dict[str, Action] = {}
    for name, built in models.items():
        if built is not None:
            model = built.to(device).train()
            # the same AdamW for all, in its fastest form
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
            loss = loss_function(model, compiled="compile" in name)
            steps[name] = partial(step, loss, optimizer, tokens)
    return steps


def measure(nanogpt: Path | None = None, repeats: int = 100) -> Iterator[Report]:
    """Time training steps at two sizes."""
    for title, (size, batch, length) in SIZES.items():
        torch.manual_seed(0)
        torch.compiler.reset()  # it stops after eight versions of one function
        report = Report(
            f"training, {title}",
            f"One step of AdamW in float32 on {batch} x {length} tokens, "
            f"{VOCAB_SIZE} words, no dropout, {torch.get_num_threads()} threads.",
        )
        steps = actions(size, batch, length, nanogpt)
        report.time(steps, batch * length, "tokens", repeats=repeats, warmup=3)
        peer, eager = "Hugging Face GPT-2", "Hugging Face GPT-2, eager"
        for name in (name for name in report.rows if name != peer):
            report.compare(f"{name} / Hugging Face", name, peer)
        report.compare("ours / Hugging Face, eager", "ours", eager)
        for name in (name for name in report.rows if THEIR_GELU in name):
            report.compare(f"{name} / nanoGPT", name, NANOGPT)
        yield report
