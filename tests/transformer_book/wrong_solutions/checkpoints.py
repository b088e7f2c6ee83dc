"""GPT-2's weights under our names, as learners write it."""

import re
from itertools import product

from transformer_lib.checkpoints import gpt2_config, load_gpt2
from transformer_lib.decoder import Decoder
from wrong_solutions.cases import Cases, edited

ATTENTION, FEED_FORWARD = "stack.blocks.{}.attention", "stack.blocks.{}.feed_forward"
TABLE = {
    "wte": ["embedding"],
    "wpe": ["stack.positions.table"],
    "ln_1": [f"{ATTENTION}.norm"],
    "attn.c_attn": [f"{ATTENTION}.layer.{x}" for x in ("query", "key", "value")],
    "attn.c_proj": [f"{ATTENTION}.layer.out"],
    "ln_2": [f"{FEED_FORWARD}.norm"],
    "mlp.c_fc": [f"{FEED_FORWARD}.layer.up"],
    "mlp.c_proj": [f"{FEED_FORWARD}.layer.down"],
    "ln_f": ["stack.norm"],
}
NAME = re.compile(r"(?:h\.(\d+)\.)?(.+)\.(weight|bias)")


def rename_gpt2(state, config):
    ours = {}
    for name, tensor in state.items():
        layer, module, kind = NAME.fullmatch(name).groups()
        is_linear = tensor.ndim == 2 and "c_" in module
        turned = tensor.t() if is_linear else tensor
        news = TABLE[module]
        parts = turned.chunk(len(news))
        for new, part in zip(news, parts, strict=False):
            ours[f"{new}.{kind}".format(layer)] = part
    return ours


def swapped(one, other):
    return TABLE | {one: TABLE[other], other: TABLE[one]}


def per_head(tensor, n):
    """Cut head by head, as other models pack them."""
    if n == 1:
        return [tensor]
    heads = tensor.unflatten(0, (3, n, -1))
    return [heads[:, k].flatten(0, 1) for k in range(n)]


def by_order(state, config):
    """Cut and transpose well, and trust that both state dicts have one order."""
    names = [n for n in Decoder(gpt2_config(config)).state_dict() if "unem" not in n]
    return dict(zip(names, rename_gpt2(state, config).values(), strict=True))


def written_out(n_layers):
    """Yield each name of theirs with its names of ours."""
    for module, news in TABLE.items():
        kinds = ("weight",) if module in ("wte", "wpe") else ("weight", "bias")
        in_layers = "{}" in news[0]
        theirs = f"h.{{}}.{module}" if in_layers else module
        for layer, kind in product(range(n_layers if in_layers else 1), kinds):
            yield [f"{x}.{kind}".format(layer) for x in (theirs, *news)]


def by_table(state, config):
    """Ask for each name in turn, and cut columns."""
    ours = {}
    for name, *news in written_out(config["n_layer"]):
        parts = state[name].chunk(len(news), dim=-1)
        for new, part in zip(news, parts, strict=True):
            ours[new] = part.t() if part.ndim == 2 and "c_" in name else part
    return ours


def by_loading(state, config):
    return load_gpt2(state, config).state_dict()


NEVER = {"tensor.t() if is_linear else tensor": "tensor"}
BY_COLUMNS = {"chunk(len(news))": "chunk(len(news), dim=-1)"}
BY_SHAPE = 'and len(tensor) != tensor.shape[1] and "c_"'
BIAS_NOT_CUT = "turned.chunk(len(news)) if tensor.ndim == 2 else [turned]"
ONE_LAYER = '(TABLE | {"attn.c_attn": [f"{ATTENTION}.layer.query_key_value"]})'
IF_KNOWN = {"TABLE[module]": "TABLE.get(module, [])"}
IF_KNOWN |= {"chunk(len(news))": "chunk(len(news) or 1)"}
IF_THERE = {"in written": "in (n for n in written", '"])': '"]) if n[0] in state)'}
ORDER, UNKNOWN = "a different order", "must raise an error"

RENAME = Cases(
    rename_gpt2,
    right=[by_table, by_loading],
    wrong=[
        (NEVER | BY_COLUMNS, "linear layers are not transposed"),
        ({' and "c_" in module': ""}, "embeddings are transposed too"),
        ({'and "c_"': BY_SHAPE}, "square weights"),
        ({"zip(news,": "zip(sorted(news),"}, ORDER),
        ({"chunk(len(news))": "chunk(len(news))[::-1]"}, ORDER),
        ({"turned.chunk(len(news))": "per_head(turned, len(news))"}, "split per head"),
        (BY_COLUMNS, "its 18 columns"),
        ({"turned.chunk(len(news))": BIAS_NOT_CUT}, "biases are missing"),
        ({"TABLE": ONE_LAYER}, "split c_attn in three"),
        ({"TABLE": 'swapped("ln_1", "ln_2")'}, "ln_1 and ln_2"),
        ({"TABLE": 'swapped("wte", "wpe")'}, "wte and wpe"),
        ({"TABLE": '(TABLE | {"ln_f": ["ln_f"]})'}, "GPT-2's names"),
        ({"TABLE": '(TABLE | {"ln_f": ["norm"]})'}, "the names must be those of"),
        (by_order, "differ in order"),
        (IF_KNOWN, UNKNOWN),
        (edited(by_table, IF_THERE), UNKNOWN),
        ({"state.items()": "[(n, state.pop(n)) for n in [*state]]"}, "in place"),
    ],
)
