"""Compile kernels and models; print graphs and distances from eager of the cases named.

A script of its own: the hook of the test run would break `fullgraph=True`.
"""

import json
import sys
from functools import partial
from itertools import product

import torch
from torch import Tensor
from torch._dynamo.testing import CompileCounterWithBackend

from transformer_lib.attention import attention, fused_attention
from transformer_lib.blocks import Config
from transformer_lib.cache import LayerCache, StaticCache, new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Encoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import padding_mask
from transformer_lib.positions import apply_rotary


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randint(0, 13, shape, generator=generator)


def learn(call, leaves: list[Tensor], *inputs: Tensor) -> list[Tensor]:
    """Return the output and the gradients of all leaves."""
    output = call(*inputs)
    loss = output.square().sum()
    return [output, *torch.autograd.grad(loss, leaves, materialize_grads=True)]


def difference(ours: list[Tensor], theirs: list[Tensor]) -> float:
    pairs = zip(ours, theirs, strict=True)
    return max(
        float((a - b).detach().norm() / b.detach().norm().clamp(min=1))
        for a, b in pairs
    )


def compiling(backend: str, dynamic: bool | None = None):
    """Return a compiler that begins afresh, and the counter of its graphs."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    how = {"backend": counter, "fullgraph": True, "dynamic": dynamic}
    return partial(torch.compile, **how), counter


EQUAL, CHUNKS, STEPS = [(5, 5), (6, 6), (9, 9)], [(5, 8), (6, 11), (3, 12)], [(1, 7)]


def masked(attend, mask, query, key, value):
    seen = torch.ones(query.shape[-2], key.shape[-2]).tril(1).bool()
    return attend(query, key, value, "causal" if mask == "causal" else seen)


def rotated(x, *_):
    return apply_rotary(x, torch.arange(x.shape[-2]))


def kernel(call, dynamic: bool) -> dict:
    # the cheap backend tells graphs, the other one traces the gradient too
    compiler, counter = compiling("eager" if dynamic else "aot_eager", dynamic)
    compiled, graphs, worst = compiler(call), [], 0.0
    for group in (EQUAL, CHUNKS, STEPS) if dynamic else (CHUNKS[:1],):
        for q_len, kv_len in group:
            generator = torch.Generator().manual_seed(q_len * kv_len)
            shapes = [(2, 4, q_len, 8), (2, 2, kv_len, 8), (2, 2, kv_len, 8)]
            x = [torch.randn(*s, generator=generator).requires_grad_() for s in shapes]
            pair = (learn(f, x, *x) for f in (compiled, call))
            worst = max(worst, difference(*pair))
        graphs.append(counter.frame_count)
    return {"graphs": graphs, "difference": worst}


def build(kind, positions="rotary"):
    """Build a model of one layer: a layer more is only more of the same."""
    torch.manual_seed(0)
    sizes = {"vocab_size": 13, "d_model": 16, "n_heads": 4, "n_kv_heads": 2, "d_ff": 20}
    config = Config(**sizes, n_layers=1, max_len=32, positions=positions)
    return kind(config)


SOURCE, LENGTHS = draw(2, 4), torch.tensor([4, 2])
CALLS = {
    Decoder: lambda model, tokens: model(tokens),
    EncoderDecoder: lambda model, tokens: model(SOURCE, tokens, source_lengths=LENGTHS),
    Encoder: lambda model, tokens: model(
        tokens, mask=padding_mask(LENGTHS, tokens.shape[1])
    ),
}


def training(kind) -> dict:
    """Learn from sequences of three lengths."""
    compiler, counter = compiling("aot_eager")
    call, graphs, worst = CALLS[kind], [], 0.0
    compiled, model = compiler(call), build(kind)
    leaves = list(model.parameters())
    for length in (5, 6, 9):
        tokens = draw(2, length)
        pair = (learn(f, leaves, model, tokens) for f in (compiled, call))
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
def generation(kind, positions, step_of, layer=LayerCache, dynamic=True) -> dict:
    """Run prompts of two lengths and then single steps, each with a new cache."""
    compiler, counter = compiling("eager", dynamic)
    model, graphs, worst = build(kind, positions).eval(), [], 0.0
    for prompt in (5, 7):
        step, tokens = step_of(model, prompt), draw(2, prompt + 4)
        compiled = compiler(step)
        cache = new_cache(model.config, 2, 20, layer=layer)
        said = [compiled(tokens[:, :prompt], cache)]
        graphs.append(counter.frame_count)
        steps = [token.clone() for token in tokens[:, prompt:].split(1, 1)]
        said += [compiled(token, cache) for token in steps]
        graphs.append(counter.frame_count)
        worst = max(worst, difference([torch.cat(said, 1)], [step(tokens, None)]))
    return {"graphs": graphs, "difference": worst}


KERNELS = {"apply_rotary": rotated} | {
    f"{attend.__name__}, {mask}": partial(masked, attend, mask)
    for attend, mask in product((attention, fused_attention), ("causal", "Boolean"))
}
CASES = {
    f"{name}, {'any' if dynamic else 'fixed'} lengths": partial(kernel, call, dynamic)
    for name, call in KERNELS.items()
    for dynamic in (False, True)
}
CASES |= {f"{kind.__name__}, training": partial(training, kind) for kind in CALLS}
CASES |= {
    f"Decoder, {positions}": partial(generation, Decoder, positions, decoder_step)
    for positions in ("learned", "rotary", "alibi")
}
CASES |= {
    f"Decoder, {positions}, static": partial(
        generation, Decoder, positions, decoder_step, StaticCache, dynamic=False
    )
    for positions in ("rotary", "alibi")
}
CASES["EncoderDecoder"] = partial(generation, EncoderDecoder, "rotary", translator_step)

if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: CASES[name]() for name in sys.argv[1:]}))
