"""Compile whole models without the shape hook; print how many graphs each run took.

A script of its own: the hook of the test run would break `fullgraph=True`.
"""

import json
import sys

import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

from transformer_lib.blocks import Config
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import padding_mask

SIZES = {"vocab_size": 13, "d_model": 16, "n_layers": 2, "n_heads": 4, "d_ff": 20}
LENGTHS = torch.tensor([4, 2])


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(0, 13, shape, generator=generator)


SOURCE = draw(2, 4)


def build(kind, positions="rotary"):
    torch.manual_seed(0)
    config = Config(**SIZES, max_len=32, n_kv_heads=2, positions=positions)
    return kind(config)


CALLS = {
    "Decoder": (Decoder, lambda model, tokens: model(tokens)),
    "EncoderDecoder": (
        EncoderDecoder,
        lambda model, tokens: model(SOURCE, tokens, source_lengths=LENGTHS),
    ),
    "Encoder": (
        Encoder,
        lambda model, tokens: model(
            tokens, mask=padding_mask(LENGTHS, tokens.shape[1])
        ),
    ),
}


def learn(call, model, tokens) -> list[Tensor]:
    """Return the output and the gradients of all weights."""
    output = call(model, tokens)
    gradients = torch.autograd.grad(output.square().sum(), list(model.parameters()))
    return [output, *gradients]


def difference(ours: list[Tensor], theirs: list[Tensor]) -> float:
    pairs = zip(ours, theirs, strict=True)
    return max(
        float((a - b).detach().norm() / b.detach().norm().clamp(min=1))
        for a, b in pairs
    )


def training(kind, call) -> dict:
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(call, backend=counter, fullgraph=True)
    model, graphs, worst = build(kind), [], 0.0
    for length in (5, 6, 9):
        tokens = draw(2, length)
        pair = (learn(f, model, tokens) for f in (compiled, call))
        worst = max(worst, difference(*pair))
        graphs.append(counter.frame_count)
    return {"graphs": graphs, "difference": worst}


def decoder_step(model, prompt):
    return lambda tokens, cache: model(tokens, cache=cache)


def translator_step(model, prompt):
    source = draw(2, prompt + 1)
    mask = model.source_mask(source, torch.tensor([prompt, 2]))
    memory = model.cross_keys_values(model.encode(source, mask))

    def step(tokens, cache):
        return model.decode(tokens, memory, memory_mask=mask, cache=cache)

    return step


@torch.no_grad()
def generation(kind, positions, step_of) -> dict:
    """Run prompts of three lengths and then single steps, each with a new cache."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("eager")
    model, graphs, worst = build(kind, positions).eval(), [], 0.0
    for prompt in (5, 7, 3):
        step, tokens = step_of(model, prompt), draw(2, prompt + 4)
        compiled = torch.compile(step, backend=counter, fullgraph=True, dynamic=True)
        cache = new_cache(model.config, 2, 20)
        said = [compiled(tokens[:, :prompt], cache)]
        graphs.append(counter.frame_count)
        said += [compiled(token, cache) for token in tokens[:, prompt:].split(1, 1)]
        graphs.append(counter.frame_count)
        worst = max(worst, difference([torch.cat(said, 1)], [step(tokens, None)]))
    return {"graphs": graphs, "difference": worst}


if __name__ == "__main__":
    found = {f"{name}, training": training(*case) for name, case in CALLS.items()}
    for positions in ("learned", "rotary", "alibi"):
        found[f"Decoder, {positions}"] = generation(Decoder, positions, decoder_step)
    found["EncoderDecoder"] = generation(EncoderDecoder, "rotary", translator_step)
    sys.stdout.write(json.dumps(found))
