"""inspection: what is recorded, what an ablated head says, what a lens shows."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from models import KINDS, TINY, draw_tokens, model, tiny
from refusals import refused
from samples import law, normal, without_hook
from tolerances import assert_near
from torch import nn

from transformer_lib.attention import attention, attention_weights, fused_attention
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import (
    ablate_heads,
    attention_layers,
    induction_score,
    logit_lens,
    previous_token_score,
    record_attention,
)
from transformer_lib.masks import causal_mask, sliding_window_mask, windowed
from transformer_lib.multihead import MultiHeadAttention, split_heads

BARE = without_hook("transformer_lib/inspection")
TOKENS = draw_tokens(0, 3, 9)
FIRST = "stack.blocks.0.attention.layer"
SECOND = "stack.blocks.1.attention.layer"
SEEDS = st.integers(0, 2**31)
LENGTHS = st.integers(1, 12)
PLACES = torch.arange(9)
CAUSAL = causal_mask(PLACES, PLACES)
KERNELS = {
    "definition": (attention, CAUSAL),
    "fused": (fused_attention, CAUSAL),
    "windowed": (
        windowed(fused_attention, 3),
        CAUSAL & sliding_window_mask(PLACES, PLACES, 3),
    ),
}


@pytest.mark.parametrize(("attend", "mask"), KERNELS.values(), ids=KERNELS)
def test_the_record_holds_the_weights_of_any_kernel(attend, mask):
    x = normal(1, 2, 9, 12, dtype=torch.float64)
    for n_kv_heads in (4, 2, 1):
        layer = MultiHeadAttention(12, 4, n_kv_heads, attend=attend).double()
        with record_attention(layer) as record:
            layer(x, mask="causal")
        query = split_heads(layer.query(x), 4)
        want = attention_weights(query, layer.keys_values(x)[0], mask)
        assert list(record) == [""]
        assert_near(record[""], want.detach())
        assert (record[""][..., ~mask] == 0).all()


def test_self_and_cross_attention_go_by_different_names():
    net = model(EncoderDecoder, TINY)
    lengths = torch.tensor([9, 4, 1])
    with record_attention(net) as record:
        net(TOKENS, draw_tokens(1, 3, 5), source_lengths=lengths)
    shapes = {name: tuple(weights.shape) for name, weights in record.items()}
    layers = {"encoder": {"attention": 9}, "decoder": {"attention": 5, "cross": 9}}
    assert list(record) == list(attention_layers(net))
    assert shapes == {
        f"{stack}.blocks.{i}.{kind}.layer": (3, 4, own["attention"], kv_len)
        for stack, own in layers.items()
        for i in (0, 1)
        for kind, kv_len in own.items()
    }
    first, cross = (record[f"decoder.blocks.{i}.cross.layer"] for i in (0, 1))
    assert not first.equal(cross)
    assert (cross[1, ..., 4:] == 0).all()
    assert (cross[2, ..., :1] == 1).all()


WINDOWS = {"all tokens": tiny(n_kv_heads=2), "window": tiny(window=4)}


@pytest.mark.parametrize("config", WINDOWS.values(), ids=WINDOWS)
def test_with_a_cache_the_latest_tokens_see_what_they_see_without(config):
    net, cache = model(Decoder, config), new_cache(config, 3, 9, dtype=torch.float64)
    with torch.inference_mode(), record_attention(net) as whole:
        net(TOKENS)
    with torch.inference_mode(), record_attention(net) as record:
        net(TOKENS[:, :6], cache=cache)
        assert record[SECOND].shape[-2] == 6
        for place in (6, 7, 8):
            net(TOKENS[:, place : place + 1], cache=cache)
            kept = record[SECOND].shape[-1]
            seen = slice(place + 1 - kept, place + 1)
            assert_near(record[SECOND][..., 0, :], whole[SECOND][..., place, seen])
    assert kept == {None: 9, 4: 4}[config.window]


def test_weights_are_kept_before_dropout_and_dropout_stays_on():
    net = Decoder(tiny(attention_dropout=0.5)).double().eval()
    with record_attention(net) as want:
        net(TOKENS)
        layer, heads = net.get_submodule(FIRST), 3 * [normal(0, 2, 4, 9, 4)]
        # it drops nothing unless told to
        assert layer.attend(*heads).equal(fused_attention(*heads))
        net(TOKENS)
    net.train()
    torch.manual_seed(3)
    noisy = net(TOKENS)
    torch.manual_seed(3)
    with record_attention(net) as record:
        assert net(TOKENS).equal(noisy)
    assert_near(record[FIRST], want[FIRST])
    assert not noisy.equal(net(TOKENS))


def silenced(net, heads):
    """Return a copy whose last matrices of layers cannot hear the given heads."""
    twin = Decoder(net.config).double().eval()
    twin.load_state_dict(net.state_dict())
    for name, chosen in heads.items():
        layer = twin.get_submodule(name)
        for head in chosen:
            columns = slice(head * layer.d_head, (head + 1) * layer.d_head)
            layer.out.weight.data[:, columns] = 0
    return twin


def test_gradients_pass_a_recorded_or_ablated_layer_but_not_the_record():
    net = Decoder(TINY).double()
    twin = silenced(net, {FIRST: [2]})
    twin(TOKENS).sum().backward()
    with record_attention(net) as record, ablate_heads(net, {FIRST: [2]}):
        net(TOKENS).sum().backward()
    assert not any(weights.requires_grad for weights in record.values())
    unheard = slice(8, 12)  # the twin's zeros, which could still learn
    twin.get_submodule(FIRST).out.weight.grad[:, unheard] = 0
    for got, want in zip(net.parameters(), twin.parameters(), strict=True):
        assert_near(got.grad, want.grad)


def test_an_ablated_head_is_one_that_nobody_hears_and_still_looks():
    net = model(Decoder, tiny(n_kv_heads=2))
    with record_attention(net) as want:
        net(TOKENS)
    for heads in (
        {FIRST: [3, 1]},
        {SECOND: range(4)},
        {FIRST: [1], SECOND: [2]},
        {FIRST: []},
    ):
        with ablate_heads(net, heads), record_attention(net) as inner:
            got = net(TOKENS)
        with record_attention(net) as outer, ablate_heads(net, heads):
            net(TOKENS)
        assert_near(got, silenced(net, heads)(TOKENS).detach())
        assert got.equal(net(TOKENS)) == (heads == {FIRST: []})
        for record in (inner, outer):
            assert record[FIRST].equal(want[FIRST])


def test_the_replacement_sees_only_the_chosen_heads_and_may_be_their_mean():
    layer = model(Decoder, TINY).get_submodule(FIRST)
    x, heard = normal(2, 3, 9, 16, dtype=torch.float64), []

    def mean(outputs):
        heard.append(outputs)
        return outputs.mean(dim=(0, 2), keepdim=True).expand_as(outputs)

    with ablate_heads(layer, {"": [3, 1]}, mean):
        got = layer(x, mask="causal")
    key, value = layer.keys_values(x)
    outputs = attention(split_heads(layer.query(x), 4), key, value, "causal")
    assert_near(heard[0], outputs[:, [3, 1]])
    for head in (1, 3):
        outputs[:, head] = outputs[:, head].mean(dim=(0, 1))
    assert_near(got, layer.out(outputs.transpose(1, 2).flatten(2)))


@pytest.mark.parametrize("residual", ["pre", "post"])
def test_the_lens_shows_what_shorter_models_say(residual):
    config = tiny(n_layers=3, residual=residual, tied=False)
    net = model(Decoder, config)
    lens = logit_lens(net, TOKENS)
    assert lens.shape == (3, 3, 9, 13)
    assert lens[-1].equal(net(TOKENS))
    for n_layers in (1, 2):
        shorter = Decoder(tiny(n_layers=n_layers, residual=residual, tied=False))
        own = shorter.double().state_dict()
        shorter.load_state_dict({name: net.state_dict()[name] for name in own})
        assert_near(lens[n_layers - 1], shorter(TOKENS).detach())


@law
@given(seed=SEEDS, period=st.integers(2, 6), more=st.integers(1, 9))
def test_the_scores_are_means_over_the_queries_that_can_look_back(seed, period, more):
    length = period + more
    weights = normal(seed, 2, 3, length, length, dtype=torch.float64)
    before = [weights[..., i, i - 1] for i in range(1, length)]
    assert_near(previous_token_score(weights), torch.stack(before).mean(dim=(0, 1)))
    # what followed the token one period ago
    again = [weights[..., i, i - period + 1] for i in range(period, length)]
    assert_near(induction_score(weights, period), torch.stack(again).mean(dim=(0, 1)))


def test_weights_that_hold_no_answer_are_refused():
    def weights(*shape):
        return torch.ones(1, 2, *shape)

    assert previous_token_score(weights(2, 2)).tolist() == [1.0, 1.0]
    with refused("at least 2 tokens, got q_len=1, kv_len=1"):
        BARE.previous_token_score(weights(1, 1))
    with refused("got q_len=1, kv_len=5"):
        BARE.previous_token_score(weights(1, 5))
    with refused("a score needs the weights of a whole sequence of at least 5 tokens"):
        BARE.induction_score(weights(4, 4), 4)
    with refused("got q_len=4, kv_len=7"):
        BARE.induction_score(weights(4, 7), 2)
    with refused("period must be at least 2 tokens, got 1"):
        BARE.induction_score(weights(4, 4), 1)


def test_other_models_and_heads_are_refused_before_anything_changes():
    message = "a model to inspect must contain MultiHeadAttention, got none in Linear"
    for look in (record_attention, lambda net: ablate_heads(net, {})):
        with refused(message), look(nn.Linear(2, 2)):
            pass
    net, block = model(Decoder, TINY), "stack.blocks.0.attention"
    names = rf"names of attention layers, \['stack.*'\], got \['{block}'\]"
    numbers = rf"heads of {SECOND} must be from 0 to n_heads - 1 = 3, got \[1, 4\]"
    for heads, message in (
        ({block: [0]}, names),
        ({FIRST: [0], SECOND: [1, 4]}, numbers),
        ({FIRST: [-1]}, r"n_heads - 1 = 3, got \[-1\]"),
    ):
        with refused(message), ablate_heads(net, heads):
            pass
        assert not any(part._forward_pre_hooks for part in net.modules())


@st.composite
def decoders(draw):
    config = tiny(
        positions=draw(st.sampled_from(KINDS)),
        n_kv_heads=draw(st.sampled_from([1, 2, 4])),
        window=draw(st.sampled_from([None, 1, 4])),
    )
    # a new one each time: what one try leaves behind must not reach the next
    return model.__wrapped__(
        Decoder, config, attend=draw(st.sampled_from([attention, fused_attention]))
    )


def traces(net):
    """Return all that a look could leave behind in a model."""
    return [
        {key: dict(x) if isinstance(x, dict) else x for key, x in vars(part).items()}
        for part in net.modules()
    ]


@law
@given(net=decoders(), seed=SEEDS, length=LENGTHS)
def test_looking_changes_nothing_even_with_an_error(net, seed, length):
    tokens = draw_tokens(seed, 2, length)
    want, before = net(tokens), traces(net)
    with record_attention(net) as record:
        assert net(tokens).equal(want)
    assert logit_lens(net, tokens)[-1].equal(want)
    with ablate_heads(net, {SECOND: [0, 3]}):
        net(tokens)
    unchanged = traces(net) == before  # all of a model would fill the screen
    with (
        pytest.raises(ZeroDivisionError),
        record_attention(net),
        ablate_heads(net, {SECOND: [1]}, lambda x: 1 / 0),
    ):
        net(tokens)
    with refused("tokens must be from 0"):
        logit_lens(net, tokens + 99)
    assert (unchanged, traces(net) == before) == (True, True)
    assert net(tokens).equal(want)
    assert list(record) == list(attention_layers(net))
