"""Generation with the cache: beside Hugging Face, the memory's limit, and no cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from transformers import GPT2LMHeadModel

from benchmarks.harness import Action, Report
from transformer_lib.blocks import Config
from transformer_lib.cache import new_cache
from transformer_lib.checkpoints import to_hf
from transformer_lib.decoder import GPT2_SMALL, Decoder
from transformer_lib.sampling import column_major, generate

TEN_MILLION = replace(
    GPT2_SMALL,
    vocab_size=1024,
    d_model=320,
    n_layers=8,
    n_heads=5,
    d_ff=1280,
    dropout=0.0,
    attention_dropout=0.0,
)
PROMPT, NEW = 32, 64


def decoder(config: Config) -> Decoder:
    """Return a decoder for reading only, with random weights."""
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Decoder(config).to(device).eval().requires_grad_(False)


def twin(model: Decoder, attention: str = "sdpa") -> GPT2LMHeadModel:
    """Return Hugging Face's GPT-2 with the same weights."""
    from transformers import GPT2Config

    config, state = to_hf(model, "gpt2")
    peer = GPT2LMHeadModel(GPT2Config(**config))
    peer.load_state_dict(state, strict=False)
    peer.tie_weights()
    peer.set_attn_implementation(attention)
    return peer.to(next(model.parameters()).device).eval()


def prompt(model: Decoder, length: int = PROMPT) -> Tensor:
    """Return one random prompt."""
    vocab_size = model.config.vocab_size
    tokens = torch.randint(
        vocab_size, (1, length), generator=torch.Generator().manual_seed(1)
    )
    return tokens.to(next(model.parameters()).device)


def ours(model: Decoder, tokens: Tensor) -> list[int]:
    """Generate greedily with our cache."""
    return [int(t) for t in generate(model, tokens, max_new_tokens=NEW)]


@torch.inference_mode()
def uncached(model: Decoder, tokens: Tensor) -> list[int]:
    """Generate greedily, reading the whole text again for each token."""
    for _ in range(NEW):
        logits = model.unembedding.logits(model.states(tokens)[:, -1])
        tokens = torch.cat((tokens, logits.argmax(-1, keepdim=True)), dim=1)
    return tokens[0, -NEW:].tolist()


def theirs(peer: GPT2LMHeadModel, tokens: Tensor) -> list[int]:
    """Generate greedily by Hugging Face's own `generate`."""
    out = peer.generate(
        tokens,
        attention_mask=torch.ones_like(tokens),
        max_new_tokens=NEW,
        min_new_tokens=NEW,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
    )
    return out[0, -NEW:].tolist()


def peers(repeats: int = 9) -> Report:
    """Compare at ten million parameters, batch 1."""
    model, columns = decoder(TEN_MILLION), column_major(decoder(TEN_MILLION))
    peer, eager, tokens = twin(model), twin(model, "eager"), prompt(model)
    assert ours(columns, tokens) == ours(model, tokens) == theirs(eager, tokens)
    assert ours(model, tokens) == theirs(peer, tokens) == uncached(model, tokens)
    count = sum(p.numel() for p in model.parameters())
    actions: dict[str, Action] = {
        "ours, cached": partial(ours, model, tokens),
        "ours, cached, column-major": partial(ours, columns, tokens),
        "Hugging Face generate": partial(theirs, peer, tokens),
        "Hugging Face generate, eager": partial(theirs, eager, tokens),
        "ours, uncached": partial(uncached, model, tokens),
    }
    report = Report(
        "generation",
        f"{NEW} greedy tokens after a prompt of {PROMPT}, batch 1, float32, "
        f"{count / 1e6:.1f} million parameters; all give the same tokens.",
    )
    report.time(actions, NEW, "tokens", repeats=repeats)
    for name in ("ours, cached", "ours, cached, column-major"):
        for peer_name in ("Hugging Face generate", "Hugging Face generate, eager"):
            report.compare(f"{name} / {peer_name}", name, peer_name)
    report.compare("cached / uncached", "ours, cached", "ours, uncached")
    return report


def bandwidth(repeats: int = 9) -> Report:
    """Compare with the speed at which the weights can be read at all.

    One token needs every weight once. The limit is what matrix-vector products of
    the same shapes take, and nothing else, in the order of memory that is faster.
    """
    model, columns = decoder(GPT2_SMALL), column_major(decoder(GPT2_SMALL))
    matrices = [p for p in columns.parameters() if p.ndim == 2]
    used = [p for p in matrices if p is not columns.stack.positions.table.weight]
    vectors = [torch.ones(p.shape[1], device=p.device) for p in used]
    bytes_read = sum(p.nbytes for p in used)
    tokens, peer = prompt(model, 1), twin(model)
    assert ours(model, tokens)[:8] == theirs(peer, tokens)[:8]

    def read() -> None:
        for _ in range(NEW):
            for matrix, vector in zip(used, vectors, strict=True):
                torch.mv(matrix, vector)

    actions: dict[str, Action] = {
        "reading the weights": read,
        "ours, cached": partial(ours, model, tokens),
        "ours, cached, column-major": partial(ours, columns, tokens),
        "Hugging Face generate": partial(theirs, peer, tokens),
    }
    report = Report(
        "generation at the limit of memory",
        f"GPT-2 of 124 million parameters, {bytes_read / 1e6:.0f} MB of matrices for "
        f"each of {NEW} tokens after a prompt of one, batch 1, float32.",
    )
    report.time(actions, NEW, "tokens", repeats=repeats, warmup=1)
    for name in list(actions)[1:]:
        report.compare(f"share of the limit, {name}", name, "reading the weights")
    report.facts["GB/s of the limit"] = round(
        NEW * bytes_read / report.rows["reading the weights"].median / 1e9, 2
    )
    return report


PLACES = (64, 128, 256, 512, 768, 1000)


@torch.inference_mode()
def _step_at(model: Decoder, length: int) -> Iterator[Action]:
    """Yield one decoding step at a position; the cache is wound back after it."""
    cache = new_cache(model.config, 1, 1024, device=next(model.parameters()).device)
    model(prompt(model, length), cache=cache)
    token = prompt(model, 1)

    @torch.inference_mode()
    def step() -> None:
        for _ in range(8):
            model(token, cache=cache)
        for store in cache:
            store.rewind(length)

    yield step


def positions(repeats: int = 25) -> Report:
    """Time one token at several positions: flat while weights outweigh the cache."""
    model = decoder(TEN_MILLION)
    config = model.config
    actions = {f"at {n}": next(_step_at(model, n)) for n in PLACES}
    report = Report(
        "time per token by position",
        "Eight decoding steps with a cache, batch 1, ten million parameters. Theory: "
        "the step reads all weights, and 2 x layers x width numbers a position.",
    )
    report.time(actions, 8, "tokens", repeats=repeats)
    weights = sum(p.nbytes for p in model.parameters())
    per_place = 2 * 4 * config.n_layers * config.d_model
    first = report.rows[f"at {PLACES[0]}"].median
    bytes_at_first = weights + per_place * PLACES[0]
    for n in PLACES:
        measured = report.rows[f"at {n}"].median / first
        report.facts[f"measured / first, at {n}"] = round(measured, 3)
        ratio = (weights + per_place * n) / bytes_at_first
        report.facts[f"bytes / first, at {n}"] = round(ratio, 3)
    return report


def measure() -> list[Report]:
    """Return all reports on generation."""
    return [peers(), positions(), bandwidth()]
