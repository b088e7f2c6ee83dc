"""Equal to Hugging Face's BERT and MarianMT with the same weights.

The models are tiny, random and built from configs: nothing is fetched."""

import pytest
import torch
from models import draw_tokens, tiny
from samples import normal
from tolerances import assert_near
from transformers import BertConfig, BertModel, MarianConfig, MarianMTModel

from transformer_lib.blocks import Stack
from transformer_lib.cache import new_cache
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.masks import padding_mask

LENGTHS = torch.tensor([6, 4, 1])
SOURCE, TARGET = draw_tokens(1, 3, 6), draw_tokens(2, 3, 5)
REAL = padding_mask(LENGTHS, 6)
BERT = {
    "layer": "blocks",
    "attention.self": "attention.layer",
    "attention.output.dense": "attention.layer.out",
    "attention.output.LayerNorm": "attention.norm",
    "intermediate.dense": "feed_forward.layer.up",
    "output.dense": "feed_forward.layer.down",
    "output.LayerNorm": "feed_forward.norm",
}
MARIAN = {
    "model.shared": "embedding",
    "model.decoder.embed_tokens": "target_embedding",
    "lm_head": "unembedding",
    "model.": "",
    "embed_positions": "positions.table",
    "layers": "blocks",
    "self_attn_layer_norm": "attention.norm",
    "encoder_attn_layer_norm": "cross.norm",
    "final_layer_norm": "feed_forward.norm",
    "self_attn": "attention.layer",
    "encoder_attn": "cross.layer",
    "q_proj": "query",
    "k_proj": "key",
    "v_proj": "value",
    "out_proj": "out",
    "fc1": "feed_forward.layer.up",
    "fc2": "feed_forward.layer.down",
}
ELSEWHERE = {"encoder.embed_tokens.weight", "final_logits_bias"}
"""The shared matrix once more, and a shift of the logits that starts at 0."""


def drawn(module):
    """Draw all weights wide enough for every one to matter, norms about 1."""
    for seed, (name, parameter) in enumerate(module.named_parameters()):
        center = 1.0 if "norm" in name.lower() and name.endswith("weight") else 0.0
        parameter.data = center + 0.4 * normal(seed, *parameter.shape)
    return module.double().eval().requires_grad_(requires_grad=False)


def renamed(state, table):
    """Return the weights under our names; each entry of the table is used."""
    for theirs, ours in table.items():
        assert any(theirs in name for name in state), theirs
        state = {name.replace(theirs, ours, 1): x for name, x in state.items()}
    return {name: x for name, x in state.items() if name not in ELSEWHERE}


def config(**changes):
    return tiny(norm="layer", residual="post", bias=True, **changes)


@pytest.mark.parametrize("hidden_act", ["gelu", "relu"])
def test_bert(hidden_act):
    theirs = drawn(
        BertModel(
            BertConfig(
                vocab_size=13,
                hidden_size=16,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=20,
                max_position_embeddings=40,
                hidden_act=hidden_act,
            ),
            add_pooling_layer=False,
        )
    )
    words = {"positions": "none", "feed_forward": hidden_act, "norm_eps": 1e-12}
    ours = Stack(config(**words)).double()
    ours.load_state_dict(renamed(theirs.encoder.state_dict(), BERT))
    got = ours(theirs.embeddings(SOURCE), mask=REAL)
    want = theirs(SOURCE, attention_mask=REAL[:, 0].long()).last_hidden_state
    for row, length in enumerate(LENGTHS):
        assert_near(got[row, :length], want[row, :length])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_marian_at_once_and_token_by_token(activation):
    sides = ("encoder", "decoder")
    sizes = {"layers": 2, "attention_heads": 4, "ffn_dim": 20}
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=13,
            d_model=16,
            max_position_embeddings=40,
            scale_embedding=True,
            activation_function=activation,
            pad_token_id=12,
            eos_token_id=0,
            decoder_start_token_id=12,
            **{f"{side}_{name}": n for side in sides for name, n in sizes.items()},
        )
    )
    drawn(theirs)
    # their sinusoids stand in another order, so ours are learned
    ours = EncoderDecoder(config(positions="learned", feed_forward=activation)).double()
    ours.load_state_dict(renamed(theirs.state_dict(), MARIAN))
    want = theirs(
        SOURCE, attention_mask=REAL[:, 0].long(), decoder_input_ids=TARGET
    ).logits
    assert_near(ours(SOURCE, TARGET, source_lengths=LENGTHS), want)
    cache = new_cache(ours.config, 3, 5, dtype=torch.float64)
    memory = ours.cross_keys_values(ours.encode(SOURCE, REAL))
    got = [
        ours.decode(token, memory, memory_mask=REAL, cache=cache)
        for token in TARGET.split(1, dim=1)
    ]
    assert_near(torch.cat(got, dim=1), want)
