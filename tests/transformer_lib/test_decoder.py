"""decoder: as Hugging Face's GPT-2, Llama and Mistral; what is shared and counted."""

import math
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from models import count, draw_tokens, tiny
from samples import normal
from tolerances import assert_near
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig, MistralConfig

from transformer_lib.cache import new_cache
from transformer_lib.checkpoints import from_pretrained, save_pretrained, to_hf
from transformer_lib.checkpoints.conversion import load
from transformer_lib.checkpoints.families import FAMILIES
from transformer_lib.decoder import GPT2_SMALL, LLAMA_3_2_1B, Decoder

TOKENS = draw_tokens(0, 2, 5)


@pytest.mark.parametrize(
    ("config", "parameters"),
    [(GPT2_SMALL, 124_439_808), (LLAMA_3_2_1B, 1_235_814_400)],
    ids=["GPT-2 small", "Llama 3.2 1B"],
)
def test_presets_have_as_many_parameters_as_the_originals(config, parameters):
    with torch.device("meta"):
        assert count(Decoder(config)) == parameters


def test_tied_ends_are_one_storage():
    decoder = Decoder(tiny())
    assert decoder.unembedding.weight.data_ptr() == decoder.embedding.weight.data_ptr()
    assert count(Decoder(tiny(tied=False))) == count(decoder) + 13 * 16


@pytest.mark.parametrize("tied", [True, False])
def test_an_untrained_decoder_is_as_good_as_a_guess(tied):
    torch.manual_seed(0)
    sizes = {"vocab_size": 100, "d_model": 64, "d_ff": 256}
    decoder = Decoder(tiny(**sizes, tied=tied, scale_embeddings=False))
    tokens = torch.randint(0, 100, (16, 32))
    logits = decoder(tokens)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
    # logits of variance 1 cost half a nat
    assert math.log(100) < loss < math.log(100) + 1


VOCAB, LENGTH = 61, 24
NO_ENDS = {"bos_token_id": None, "eos_token_id": None}
# of a head's four clocks, one keeps its speed, one blends, two slow down
LLAMA3 = {"rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0}
LLAMA3 |= {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 32}


def gpt2(**changes):
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40}
    return GPT2Config(**{"vocab_size": VOCAB, **NO_ENDS, **sizes, **changes})


def llama(kind=LlamaConfig, **changes):
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 48}
    sizes |= {"num_attention_heads": 4, "num_key_value_heads": 4}
    sizes |= {"max_position_embeddings": 128}
    return kind(**{"vocab_size": VOCAB, **NO_ENDS, **sizes, **changes})


CONFIGS = {
    "gpt2": gpt2(),
    "gpt2, narrow": gpt2(n_embd=8, n_head=1, n_inner=20),
    "gpt2, ReLU": gpt2(activation_function="relu", layer_norm_epsilon=1e-3),
    "gpt2, exact GELU": gpt2(activation_function="gelu"),
    "gpt2, untied": gpt2(tie_word_embeddings=False),
    "llama, grouped": llama(num_key_value_heads=2),
    "llama, tied": llama(num_key_value_heads=1, tie_word_embeddings=True),
    "llama, scaled clocks": llama(num_key_value_heads=2, rope_parameters=LLAMA3),
    "llama, wide heads": llama(
        head_dim=16, rms_norm_eps=1e-3, rope_parameters={"rope_theta": 100.0}
    ),
    "mistral": llama(MistralConfig, num_key_value_heads=2, sliding_window=5),
    "mistral, no window": llama(MistralConfig, sliding_window=None),
}
every_kind = pytest.mark.parametrize("name", CONFIGS)


@cache
def pair(name):
    """Return their model, with weights that make all parts matter, and ours."""
    theirs = AutoModelForCausalLM.from_config(CONFIGS[name]).eval()
    with torch.no_grad():
        for seed, (path, parameter) in enumerate(theirs.named_parameters()):
            start = 1.0 if "ln_" in path or "norm" in path else 0.0
            scale = 0.3 if start or parameter.ndim == 1 else 0.2
            parameter.copy_(start + scale * normal(seed, *parameter.shape))
    return theirs, load(FAMILIES[family_of(name)], theirs.state_dict(), theirs.config)


def family_of(name):
    return CONFIGS[name].model_type


def random_tokens(seed=0):
    return draw_tokens(seed, 3, LENGTH, vocab=VOCAB)


def their_logits(model, tokens):
    with torch.no_grad():
        return model(tokens).logits


@every_kind
def test_logits_without_and_with_our_cache(name):
    theirs, ours = pair(name)
    tokens = random_tokens()
    want = their_logits(theirs, tokens)
    assert want.std() > 0.5  # the comparison is not one of zeros
    store = new_cache(ours.config, len(tokens), LENGTH)
    with torch.no_grad():
        assert_near(ours(tokens), want)
        got = [ours(part, cache=store) for part in tokens.split([7, 1, 1, 15], dim=1)]
    assert_near(torch.cat(got, dim=1), want)


@pytest.mark.parametrize("name", ["gpt2", "llama, scaled clocks", "mistral"])
def test_gradients(name):
    theirs, ours = pair(name)
    tokens, targets = random_tokens(3), random_tokens(4)
    for model in (theirs, ours):
        model.zero_grad()
    for logits in (theirs(tokens).logits, ours(tokens)):
        cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
    # a copy whose weights are the gradients sends them through the table of names
    gradients = Decoder(ours.config).requires_grad_(requires_grad=False)
    for weight, source in zip(gradients.parameters(), ours.parameters(), strict=True):
        weight.copy_(source.grad)
    got = to_hf(gradients, family_of(name))[1]
    want = {
        path: parameter.grad
        for path, parameter in theirs.named_parameters()
        if parameter.grad is not None
    }
    assert got.keys() == want.keys()
    for path, gradient in got.items():
        assert gradient.abs().max() > 0, path
        assert_near(gradient, want[path])


def assert_equal_weights(got, want):
    """Fail unless each tensor is there, bit by bit."""
    for name, tensor in got.items():
        assert tensor.equal(want[name]), name


@every_kind
def test_each_side_loads_what_the_other_saves(name, tmp_path):
    theirs, ours = pair(name)
    save_pretrained(ours, tmp_path / "ours", family=family_of(name))
    loaded, notes = type(theirs).from_pretrained(
        tmp_path / "ours", output_loading_info=True
    )
    assert not any(notes.values())
    tokens = random_tokens(5)
    assert their_logits(loaded.eval(), tokens).equal(their_logits(theirs, tokens))
    # in several files or in one
    shard_size = "5KB" if "grouped" in name or "untied" in name else "1GB"
    theirs.save_pretrained(tmp_path / "theirs", max_shard_size=shard_size)
    n_shards = len(list((tmp_path / "theirs").glob("model-*.safetensors")))
    assert (n_shards > 1) == (shard_size == "5KB")
    before = torch.get_rng_state()
    again = from_pretrained(tmp_path / "theirs")
    assert torch.get_rng_state().equal(before)  # loading draws none
    assert_equal_weights(again.state_dict(), ours.state_dict())
    assert again.config == ours.config
    assert not again.training
    assert (again.unembedding is again.embedding) == again.config.tied
    assert all(x.is_contiguous() for x in again.state_dict().values())


@pytest.mark.parametrize(
    ("name", "dtype"), [("gpt2", torch.float16), ("llama, grouped", torch.bfloat16)]
)
def test_half_precision(name, dtype, tmp_path):
    theirs, ours = pair(name)
    config, state = to_hf(ours, family_of(name))
    assert_equal_weights(state, theirs.state_dict())
    half = {key: tensor.to(dtype) for key, tensor in state.items()}
    loaded = load(FAMILIES[family_of(name)], half, config)
    assert {p.dtype for p in loaded.parameters()} == {dtype}
    save_pretrained(loaded, tmp_path / "half", family=family_of(name))
    read = from_pretrained(tmp_path / "half")
    back = type(theirs).from_pretrained(tmp_path / "half", dtype=dtype)
    assert {p.dtype for p in read.parameters()} == {dtype}
    assert_equal_weights(half, back.state_dict())
    wide = from_pretrained(tmp_path / "half", dtype=torch.float32)
    want = type(theirs).from_pretrained(tmp_path / "half", dtype=torch.float32)
    with torch.no_grad():
        assert_near(wide(random_tokens()), their_logits(want.eval(), random_tokens()))
