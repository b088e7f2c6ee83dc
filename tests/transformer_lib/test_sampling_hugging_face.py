"""Restriction, greedy generation and beam search equal Hugging Face's.

The models are tiny, random and built from configs: nothing is fetched.
"""

from functools import cache

import pytest
import torch
from sampled import texts
from samples import normal
from tolerances import assert_near
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from transformer_lib.checkpoints import load_gpt2, load_llama
from transformer_lib.sampling import beam_search, filter_logits, generate, pad_left

# in the order of Hugging Face's own `generate`
WARPERS = {
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
}
SETTINGS = [
    {},
    {"temperature": 1.8},
    {"top_k": 7},
    {"top_k": 1000},
    {"top_p": 0.95},
    {"min_p": 0.02},
    {"temperature": 0.7, "top_k": 20, "top_p": 0.8},
    {"temperature": 2.0, "top_k": 40, "top_p": 0.97, "min_p": 0.01},
]


def theirs(logits, settings):
    warpers = [WARPERS[name](settings[name]) for name in WARPERS if name in settings]
    return LogitsProcessorList(warpers)(None, logits)


def test_restriction():
    logits = 3 * normal(0, 20, 100, dtype=torch.float64)
    for settings in SETTINGS:
        # ours may have any number of axes
        got = filter_logits(logits.view(4, 5, 100), **settings).view(20, 100)
        want = theirs(logits, settings)
        assert got.isneginf().equal(want.isneginf()), settings
        shown = ~want.isneginf()
        assert_near(got[shown], want[shown])


SIZES = {"vocab_size": 31, "bos_token_id": None, "eos_token_id": None}
GPT2 = GPT2Config(
    **SIZES, n_embd=16, n_layer=2, n_head=2, n_positions=40, tie_word_embeddings=False
)
LLAMA = LlamaConfig(
    **SIZES,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=24,
    max_position_embeddings=40,
    tie_word_embeddings=False,
    initializer_range=0.3,
)
FAMILIES = {
    "gpt2": (GPT2LMHeadModel, GPT2, load_gpt2),
    "llama": (LlamaForCausalLM, LLAMA, load_llama),
}
PROMPTS = [[7], [1, 2, 3, 4, 5, 6], [8, 9], [3, 3, 3]]
ENDS = [None, 3, 11, 29]
N = 12
PAD = 30  # they take 0 for no padding at all, and fill up with ends


@cache
def pair(family):
    """Return their model and ours, in float64, with the same large weights."""
    kind, config, load = FAMILIES[family]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        their = kind(config).double().eval()
    for weight in their.parameters():
        if family == "gpt2" and weight.ndim > 1:
            weight.data *= 15  # or every text would repeat its first token
    return their, load(their.state_dict(), config).double().eval()


def asked(their, end_id, **options):
    """Let Hugging Face go on from the prompts, padded on the left; return new ones."""
    tokens, lengths = pad_left(PROMPTS, PAD)
    columns = torch.arange(tokens.shape[1])
    mask = columns >= tokens.shape[1] - lengths[:, None]
    options |= {"max_new_tokens": N, "do_sample": False}
    options |= {"eos_token_id": end_id, "pad_token_id": PAD}
    new = their.generate(tokens, attention_mask=mask.long(), **options)
    return new[:, tokens.shape[1] :]


@pytest.mark.parametrize("end_id", ENDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_greedy_generation_of_a_padded_batch(family, end_id):
    their, ours = pair(family)
    want = asked(their, end_id)
    options = {"max_new_tokens": N, "end_id": end_id, "pad_id": PAD}
    assert texts(generate(ours, *pad_left(PROMPTS), **options)) == want.tolist()
    assert want.unique().numel() > 5


@pytest.mark.parametrize("end_id", ENDS)
@pytest.mark.parametrize(("family", "width"), [("gpt2", 2), ("llama", 3), ("gpt2", 5)])
def test_beam_search_of_a_padded_batch(family, width, end_id):
    their, ours = pair(family)
    # their penalty is another power law; without one, both rank by probability
    want = asked(
        their, end_id, num_beams=width, length_penalty=0.0, early_stopping="never"
    )
    options = {"max_new_tokens": N, "alpha": 0.0, "end_id": end_id, "pad_id": PAD}
    found = beam_search(ours, *pad_left(PROMPTS), width=width, **options)
    assert found.tokens.equal(want)
