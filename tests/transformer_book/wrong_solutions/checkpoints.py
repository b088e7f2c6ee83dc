"""GPT-2's weights under our names, as learners write it."""

import re
from itertools import product

from transformer_lib.checkpoints import gpt2_config, load_gpt2
from transformer_lib.decoder import Decoder
from wrong_solutions.cases import Cases, Wrong

ATTENTION, FEED_FORWARD = "stack.blocks.{}.attention", "stack.blocks.{}.feed_forward"
TABLE = {
    "wte": ["embedding"],
    "wpe": ["stack.positions.table"],
    "h.{}.ln_1": [f"{ATTENTION}.norm"],
    "h.{}.attn.c_attn": [f"{ATTENTION}.layer.{x}" for x in ("query", "key", "value")],
    "h.{}.attn.c_proj": [f"{ATTENTION}.layer.out"],
    "h.{}.ln_2": [f"{FEED_FORWARD}.norm"],
    "h.{}.mlp.c_fc": [f"{FEED_FORWARD}.layer.up"],
    "h.{}.mlp.c_proj": [f"{FEED_FORWARD}.layer.down"],
    "ln_f": ["stack.norm"],
}
PACKED = "h.{}.attn.c_attn"
NAME = re.compile(r"(?:h\.(\d+)\.)?(.+)\.(weight|bias)")


def chunks(tensor, n):
    """Cut what has the outputs first."""
    return tensor.chunk(n)


def is_linear(module, tensor):
    return tensor.ndim == 2 and "c_" in module


def renaming(flip=is_linear, cut=chunks, skip=False, other=None):
    """Return `rename_gpt2` as a learner writes it, with one thing to get wrong."""
    table = {**TABLE, **(other or {})}

    def solution(state, config):
        ours = {}
        for name, tensor in state.items():
            layer, module, kind = NAME.fullmatch(name).groups()
            module = module if layer is None else f"h.{{}}.{module}"
            if skip and module not in table:
                continue
            news = table[module]
            turned = tensor.t() if flip(module, tensor) else tensor
            for new, part in zip(news, cut(turned, len(news)), strict=False):
                ours[f"{new}.{kind}".format(layer)] = part
        return ours

    return solution


def swapped(one, other):
    return {one: TABLE[other], other: TABLE[one]}


def if_it_does_not_fit(module, tensor):
    """Transpose what has another shape than ours, which a square never has."""
    return is_linear(module, tensor) and tensor.shape[0] != tensor.shape[1]


def per_head(tensor, n):
    """Cut head by head, as other models pack them."""
    if n == 1:
        return [tensor]
    heads = tensor.unflatten(0, (3, n, -1))
    return [heads[:, k].flatten(0, 1) for k in range(n)]


def backwards(tensor, n):
    return chunks(tensor, n)[::-1]


def weights_only(tensor, n):
    return chunks(tensor, n) if tensor.ndim == 2 else [tensor]


def along_inputs(tensor, n):
    return tensor.chunk(n, dim=-1)


def by_order(state, config):
    """Cut and transpose well, and trust that both state dicts have one order."""
    names = [n for n in Decoder(gpt2_config(config)).state_dict() if "unem" not in n]
    return dict(zip(names, renaming()(state, config).values(), strict=True))


def written_out(n_layers):
    """Yield each name of theirs with its names of ours."""
    for module, news in TABLE.items():
        kinds = ("weight",) if module in ("wte", "wpe") else ("weight", "bias")
        layers = range(n_layers if "{}" in module else 1)
        for layer, kind in product(layers, kinds):
            yield [f"{x}.{kind}".format(layer) for x in (module, *news)]


def by_table(if_there=False):
    """Return a solution that asks for each name in turn, and cuts columns."""

    def solution(state, config):
        ours = {}
        for name, *news in written_out(config["n_layer"]):
            if if_there and name not in state:
                continue
            for new, part in zip(
                news, state[name].chunk(len(news), dim=-1), strict=True
            ):
                ours[new] = part.t() if is_linear(name, part) else part
        return ours

    return solution


def emptying(state, config):
    """Take each tensor out, so that nothing may be left at the end."""
    ours = renaming()({name: state.pop(name) for name in list(state)}, config)
    return ours if not state else {}


def by_loading(state, config):
    return load_gpt2(state, config).state_dict()


UNKNOWN = "must raise an error"

WRONG_SOLUTIONS = {
    "rename_gpt2": Cases(
        wrong={
            "no transpose": Wrong(
                # the columns are still cut well
                renaming(lambda m, x: False, along_inputs),
                "linear layers are not transposed",
            ),
            "all transposed": Wrong(
                renaming(lambda m, x: x.ndim == 2), "embeddings are transposed too"
            ),
            "transposed if it does not fit": Wrong(
                renaming(if_it_does_not_fit), "square weights"
            ),
            "key, query, value": Wrong(
                renaming(other={PACKED: [TABLE[PACKED][k] for k in (1, 0, 2)]}),
                "another order",
            ),
            "value, key, query": Wrong(renaming(cut=backwards), "another order"),
            "cut per head": Wrong(renaming(cut=per_head), "cut per head"),
            "cut along the inputs": Wrong(renaming(cut=along_inputs), "its 18 columns"),
            "bias not cut": Wrong(renaming(cut=weights_only), "biases are missing"),
            "not cut at all": Wrong(
                renaming(other={PACKED: [f"{ATTENTION}.layer.query_key_value"]}),
                "cut c_attn in three",
            ),
            "norms swapped": Wrong(
                renaming(other=swapped("h.{}.ln_1", "h.{}.ln_2")), "ln_1 and ln_2"
            ),
            "embeddings swapped": Wrong(
                renaming(other=swapped("wte", "wpe")), "wte and wpe"
            ),
            "an old name": Wrong(renaming(other={"ln_f": ["ln_f"]}), "names of theirs"),
            "a name of another model": Wrong(
                renaming(other={"ln_f": ["norm"]}), "the names must be those of"
            ),
            "by order": Wrong(by_order, "have another order"),
            "unknown names passed over": Wrong(renaming(skip=True), UNKNOWN),
            "missing names passed over": Wrong(by_table(if_there=True), UNKNOWN),
            "taken out of the state": Wrong(emptying, "in place"),
        },
        right={
            "one pass": renaming(),
            "by all names in turn": by_table(),
            "by loading": by_loading,
        },
    ),
}
