"""Generation: beside Hugging Face, the limit of memory, and no cache."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from transformers import GPT2LMHeadModel

from benchmarks.harness import Action, Report
from transformer_lib.adaptation import (
    int8_product,
    quantize_embeddings,
    quantize_linears,
)
from transformer_lib.blocks import Config
from transformer_lib.cache import StaticCache, new_cache
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
    return peer.to(next(model.parameters())).eval()


def prompt(model: Decoder, length: int = PROMPT) -> Tensor:
    """Return one random prompt."""
    vocab_size = model.config.vocab_size
    tokens = torch.randint(
        vocab_size, (1, length), generator=torch.Generator().manual_seed(1)
    )
    return tokens.to(next(model.parameters()).device)


def ours(model: Decoder, tokens: Tensor) -> list[int]:
    """Generate greedily with our cache; return the first row."""
    return [int(t[0]) for t in generate(model, tokens, max_new_tokens=NEW)]


@torch.inference_mode()
def uncached(model: Decoder, tokens: Tensor) -> list[int]:
    """Generate greedily, reading the whole text again for each token."""
    for _ in range(NEW):
        logits = model.unembedding.logits(model.states(tokens)[:, -1])
        tokens = torch.cat((tokens, logits.argmax(-1, keepdim=True)), dim=1)
    return tokens[0, -NEW:].tolist()


def theirs(peer: GPT2LMHeadModel, tokens: Tensor, new: int = NEW) -> list[int]:
    """Generate greedily by Hugging Face's own `generate`."""
    out = peer.generate(
        tokens,
        attention_mask=torch.ones_like(tokens),
        max_new_tokens=new,
        min_new_tokens=new,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
    )
    return out[0, -new:].tolist()


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


def first_token(model: Decoder, tokens: Tensor) -> int:
    """Return the first new token."""
    return int(next(generate(model, tokens, max_new_tokens=1)))


def in_bytes(model: Decoder) -> Decoder:
    """Return a copy whose weights are int8, those of the embedding included."""
    copy = quantize_linears(deepcopy(model), product=int8_product)
    return quantize_embeddings(copy, product=int8_product)  # type: ignore[return-value]


def compiled_steps(model: Decoder) -> Callable[[Tensor], list[int]]:
    """Return a greedy generator whose steps are one compiled graph."""
    step = torch.compile(model.forward, fullgraph=True)

    @torch.no_grad()
    def run(tokens: Tensor) -> list[int]:
        weight = next(model.parameters())
        cache = new_cache(
            model.config,
            len(tokens),
            tokens.shape[1] + NEW,
            dtype=weight.dtype,
            device=weight.device,
            layer=StaticCache,
        )
        logits, chosen = model(tokens, cache=cache), []
        for _ in range(NEW):
            tokens = logits[:, -1].argmax(-1, keepdim=True)
            chosen.append(tokens)
            logits = step(tokens, cache=cache)
        return torch.cat(chosen, dim=1)[0].tolist()

    return run


def read_bytes(model: Decoder) -> int:
    """Count the bytes of what every step must read: matrices, without positions."""
    tables = [*model.parameters(), *model.buffers()]
    matrices = {t.data_ptr(): t.nbytes for t in tables if t.ndim == 2}
    positions = getattr(model.stack.positions, "table", None)
    return sum(matrices.values()) - (
        0 if positions is None else positions.weight.nbytes
    )


def probes(device: torch.device) -> tuple[dict[str, Action], dict[str, int]]:
    """Return two ways of reading much memory once, and the bytes of each."""
    matrix = torch.ones(8192, 16384, device=device)
    vector = torch.ones(16384, device=device)
    actions: dict[str, Action] = {
        "reading, product": partial(torch.mv, matrix, vector),
        "reading, sum": matrix.sum,
    }
    return actions, dict.fromkeys(actions, matrix.nbytes)


def many(
    name: str,
    config: Config,
    batch: int,
    *,
    compiled: Collection[str] = (),
    repeats: int = 9,
) -> Report:
    """Compare dtypes, layouts and Hugging Face; each step must read all weights once.

    The limit is the speed at which this run could read memory at all.
    """
    model = decoder(config)
    half, small = deepcopy(model).bfloat16(), in_bytes(model)
    models = {
        "float32": model,
        "float32, column-major": column_major(deepcopy(model)),
        "bf16": half,
        "int8 weights": small,
    }
    tokens = prompt(model).expand(batch, -1)
    reading, sizes = probes(tokens.device)
    actions: dict[str, Action] = dict(reading)
    bytes_read: dict[str, float] = {}
    for kind, one in models.items():
        actions[f"ours, {kind}"] = partial(ours, one, tokens)
        bytes_read[f"ours, {kind}"] = NEW * read_bytes(one)
        peers: dict[str, Action] = {}
        if kind in ("float32", "bf16"):
            peers[f"Hugging Face, {kind}"] = partial(theirs, twin(one), tokens)
        if kind in compiled:
            peers[f"ours, {kind}, compiled"] = partial(compiled_steps(one), tokens)
        actions |= peers
        bytes_read |= dict.fromkeys(peers, NEW * read_bytes(one))
    assert actions["ours, float32"]() == actions["Hugging Face, float32"]()
    count = sum(p.numel() for p in model.parameters())
    report = Report(
        f"generation, {name}, batch {batch}",
        f"{NEW} greedy tokens after a prompt of {PROMPT}, {count / 1e6:.0f} million "
        "parameters. Share of the limit: bytes of weights a step must read, over the "
        "speed at which this run reads memory.",
    )
    work = {name: batch * NEW if name in bytes_read else 1 for name in actions}
    report.time(actions, work, "tokens", repeats=repeats, warmup=1)
    for kind in ("float32", "bf16"):
        peer = f"Hugging Face, {kind}"
        for row in (row for row in report.rows if row.startswith(f"ours, {kind}")):
            report.compare(f"{row} / {peer}", row, peer)
    report.compare(
        "ours, int8 weights / ours, bf16", "ours, int8 weights", "ours, bf16"
    )
    report.limit(bytes_read, sizes)
    return report


def waiting(repeats: int = 15) -> Report:
    """Compare the time to the first token after a prompt of 512, at ten million."""
    model = decoder(TEN_MILLION)
    peer, tokens = twin(model), prompt(model, 512)
    actions: dict[str, Action] = {
        "ours": partial(first_token, model, tokens),
        "Hugging Face generate": partial(theirs, peer, tokens, 1),
    }
    report = Report(
        "time to first token",
        "A prompt of 512, batch 1, float32, ten million parameters.",
    )
    report.time(actions, 512, "tokens", repeats=repeats)
    report.compare("ours / Hugging Face", "ours", "Hugging Face generate")
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


def measure() -> Iterator[Report]:
    """Yield all reports on generation."""
    yield peers()
    yield positions()
    yield waiting()
    yield many("10 million", TEN_MILLION, 1, compiled=("float32", "bf16"))
    for batch in (8, 32):
        yield many("10 million", TEN_MILLION, batch)
    yield many("124 million", replace(GPT2_SMALL, dropout=0.0), 1, repeats=5)
