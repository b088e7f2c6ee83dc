"""experts: equal to a loop over tokens and to a tiny Mixtral; loads, loss, record."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from models import draw_tokens, tiny
from refusals import refused
from samples import law, normal, without_hook
from tolerances import assert_near, assert_same
from transformers import MixtralConfig, MixtralForCausalLM
from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

from transformer_lib.blocks import SwiGLU
from transformer_lib.checkpoints import load_llama, read_safetensors
from transformer_lib.decoder import Decoder
from transformer_lib.experts import (
    Experts,
    Routing,
    balance_loss,
    expert_load,
    record_routing,
    route,
    switch_route,
)

BARE = without_hook("transformer_lib/experts")
LOGITS = normal(0, 2, 7, 5)
ROUTES = [route, switch_route]


def layer(n_experts=5, top_k=2, **kind):
    torch.manual_seed(0)
    return Experts(6, 8, n_experts, top_k, **kind).double()


def one_by_one(experts, x):
    """Send each token by itself through each of its experts."""
    outputs = []
    for token in x.flatten(0, -2):
        chosen = experts.route(experts.router(token), experts.top_k)
        pairs = zip(chosen.weights, chosen.experts.tolist(), strict=True)
        outputs.append(sum(w * experts.experts[i](token) for w, i in pairs))
    return torch.stack(outputs).view_as(x)


@pytest.mark.parametrize("choose", ROUTES)
@law
@given(
    seed=st.integers(0, 99),
    shape=st.sampled_from([(1,), (9,), (2, 5), (3, 1, 4)]),
    top_k=st.integers(1, 5),
)
def test_all_at_once_equals_a_loop_over_tokens(choose, seed, shape, top_k):
    experts = layer(5, top_k, route=choose)
    x = normal(seed, *shape, 6, dtype=torch.float64)
    assert_same(experts, lambda x: one_by_one(experts, x), x)


def test_weights_are_a_softmax_of_the_chosen_logits_or_switch_s_of_all():
    best, experts = LOGITS.topk(2)
    got = route(LOGITS, 2)
    assert_near(got.weights, best.softmax(-1))
    for routing in (got, switch_route(LOGITS, 2)):
        assert routing.experts.equal(experts)
        assert_near(routing.probabilities, LOGITS.softmax(-1))
    assert_near(routing.weights, LOGITS.softmax(-1).topk(2).values)


def test_only_switch_weights_teach_a_router_of_one_expert():
    for choose, learns in ((route, False), (switch_route, True)):
        experts = layer(top_k=1, route=choose)
        experts(normal(0, 9, 6, dtype=torch.float64)).square().sum().backward()
        largest = experts.router.weight.grad.abs().max()
        assert largest > 1e-3 if learns else largest < 1e-12


def test_probabilities_have_float32_or_more():
    for dtype in (torch.bfloat16, torch.float64):
        experts, x = layer().to(dtype), normal(0, 4, 6, dtype=dtype)
        with record_routing(experts) as record:
            assert experts(x).dtype == dtype
        want = torch.promote_types(dtype, torch.float32)
        assert record[0].probabilities.dtype == want


def chosen(*experts, n_experts=4):
    """Make a routing by hand, with uniform probabilities."""
    places = torch.tensor(experts)
    even = torch.full((*places.shape[:-1], n_experts), 1 / n_experts)
    return Routing(even, torch.ones(places.shape), places)


def test_loads_are_shares_of_all_choices_and_the_loss_is_one_where_all_is_even():
    assert expert_load(chosen([0, 1], [0, 2])).tolist() == [0.5, 0.25, 0.25, 0]
    assert expert_load(chosen([[3], [3]])).tolist() == [0, 0, 0, 1]
    assert balance_loss(chosen([0], [1], [2], [3])) == 1
    logits = torch.tensor([[40.0, 0, 0, 0]]).expand(9, 4)
    assert_near(balance_loss(route(logits, 1)), torch.tensor(4.0))


@law
@given(seed=st.integers(0, 99), n_experts=st.integers(2, 9), top_k=st.integers(1, 2))
def test_the_loss_is_hugging_face_s_over_top_k(seed, n_experts, top_k):
    logits = normal(seed, 11, n_experts)

    def theirs(logits):
        return load_balancing_loss_func((logits,), n_experts, top_k) / top_k

    def ours(logits):
        return balance_loss(route(logits.view(1, 11, n_experts), top_k))

    assert_same(ours, theirs, logits)


def decoder(**kind):
    torch.manual_seed(0)
    net = Decoder(tiny()).double()
    for block in net.stack.blocks:
        block.feed_forward.layer = Experts(16, 20, 3, **kind).double()
    return net


def test_a_record_holds_each_layer_s_routing_and_changes_nothing():
    net, tokens = decoder(), draw_tokens(0, 2, 5)
    want = net(tokens)
    with pytest.raises(ZeroDivisionError), record_routing(net):
        1 / 0  # noqa: B018
    with record_routing(net) as record:
        assert net(tokens).equal(want)
    assert [len(routing.probabilities) for routing in record] == [10, 10]
    assert not record[0].probabilities.equal(record[1].probabilities)
    for block in net.stack.blocks:
        assert block.feed_forward.layer.route is route


TOP_K = "top_k must be from 1 to n_experts, got top_k={}, n_experts=5"
REFUSED = [
    (TOP_K.format(0), lambda: BARE.Experts(6, 8, 5, 0)),
    (TOP_K.format(6), lambda: BARE.route(LOGITS, 6)),
    (TOP_K.format(6), lambda: BARE.switch_route(LOGITS, 6)),
    (
        "must contain Experts, got none in SwiGLU",
        lambda: BARE.record_routing(SwiGLU(6, 8)).__enter__(),
    ),
]


def test_what_does_not_fit_is_refused():
    for message, call in REFUSED:
        with refused(message):
            call()


def ours_from(state, config):
    """Build a Llama of a Mixtral's first experts, then put all experts in."""
    parts = {"gate": "w1", "down": "w2", "up": "w3"}
    dense = {name: x for name, x in state.items() if "block_sparse_moe" not in name}
    moe = "model.layers.{}.block_sparse_moe."
    for i in range(config["num_hidden_layers"]):
        for ours, theirs in parts.items():
            first = state[f"{moe.format(i)}experts.0.{theirs}.weight"]
            dense[f"model.layers.{i}.mlp.{ours}_proj.weight"] = first
    net = load_llama(dense, {**config, "model_type": "llama"})
    for i, block in enumerate(net.stack.blocks):
        experts = Experts(
            net.config.d_model,
            net.config.d_ff,
            config["num_local_experts"],
            config["num_experts_per_tok"],
        )
        mine = {"router.weight": state[f"{moe.format(i)}gate.weight"]}
        for j in range(config["num_local_experts"]):
            for ours, theirs in parts.items():
                name = f"{moe.format(i)}experts.{j}.{theirs}.weight"
                mine[f"experts.{j}.{ours}.weight"] = state[name]
        experts.load_state_dict(mine)
        block.feed_forward.layer = experts
    return net


@pytest.mark.parametrize("top_k", [1, 2])
def test_logits_and_loss_equal_a_tiny_mixtral_of_hugging_face(tmp_path, top_k):
    sizes = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 24}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"num_key_value_heads": 2, "num_local_experts": 5}
    config = MixtralConfig(
        **sizes, num_experts_per_tok=top_k, max_position_embeddings=64
    )
    torch.manual_seed(0)
    theirs = MixtralForCausalLM(config).eval().requires_grad_(requires_grad=False)
    for weight in theirs.parameters():
        weight.add_(torch.randn_like(weight), alpha=0.3)
    theirs.save_pretrained(tmp_path)
    state = read_safetensors(tmp_path / "model.safetensors")
    net, tokens = ours_from(state, config.to_dict()), draw_tokens(0, 3, 9, vocab=61)
    want = theirs(tokens, output_router_logits=True)
    with torch.no_grad(), record_routing(net) as record:
        assert_near(net(tokens), want.logits)
    for mine, logits in zip(record, want.router_logits, strict=True):
        assert_near(mine.probabilities, F.softmax(logits, dim=-1))
    pooled = Routing(*(torch.cat(parts) for parts in zip(*record, strict=True)))
    assert_near(top_k * balance_loss(pooled), want.aux_loss)
    assert math.isfinite(want.aux_loss)
