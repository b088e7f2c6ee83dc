"""Checks of the chapter on checkpoints."""

from collections.abc import Mapping
from functools import cache
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from transformer_book.exercises.exercise import Exercise, Solution, Test, alike, normal
from transformer_lib import checkpoints

CONFIG = {
    "vocab_size": 11,
    "n_positions": 7,
    "n_layer": 2,
    "n_head": 3,
    "n_embd": 6,
    "n_inner": 10,
}
LAYER = {
    "ln_1.weight": (6,),
    "ln_1.bias": (6,),
    "attn.c_attn.weight": (6, 18),
    "attn.c_attn.bias": (18,),
    "attn.c_proj.weight": (6, 6),
    "attn.c_proj.bias": (6,),
    "ln_2.weight": (6,),
    "ln_2.bias": (6,),
    "mlp.c_fc.weight": (6, 10),
    "mlp.c_fc.bias": (10,),
    "mlp.c_proj.weight": (10, 6),
    "mlp.c_proj.bias": (6,),
}
SHAPES = {
    "wte.weight": (11, 6),
    "wpe.weight": (7, 6),
    **{f"h.{i}.{name}": shape for i in (0, 1) for name, shape in LAYER.items()},
    "ln_f.weight": (6,),
    "ln_f.bias": (6,),
}
# in the order of the alphabet, as in a safetensors file
STATE = {name: normal(*SHAPES[name], seed=n) for n, name in enumerate(sorted(SHAPES))}
MISSPELLED = {name.replace("h.1.ln_2", "h.1.ln2"): x for name, x in STATE.items()}

BLOCK = "stack.blocks.0"
ATTENTION, FEED_FORWARD = f"{BLOCK}.attention", f"{BLOCK}.feed_forward"
QUERY, KEY, VALUE, OUT = (
    f"{ATTENTION}.layer.{name}.weight" for name in ("query", "key", "value", "out")
)
EMBEDDING, UP = "embedding.weight", f"{FEED_FORWARD}.layer.up.weight"


def _renamed(f: Solution) -> Any:
    """Return the result, apart from the second name of the embedding."""
    ours = f(dict(STATE), dict(CONFIG))
    if not isinstance(ours, Mapping):
        return ours
    return {name: x for name, x in ours.items() if name != "unembedding.weight"}


def _of_misspelled(f: Solution) -> str:
    try:
        f(dict(MISSPELLED), dict(CONFIG))
    except Exception:  # any kind of error will do
        return "an error"
    return "a result"


@cache
def _right() -> Any:
    """Rename with the library's own; not on import, as it builds a decoder."""
    return _renamed(checkpoints.rename_gpt2)


def _reads(name: str, wrong: Tensor) -> Test:
    """Say whether this tensor stands under our name."""
    return lambda f: alike(_renamed(f)[name], wrong)


def _missing(f: Solution) -> set[str]:
    return set(_right()) - set(_renamed(f))


def _per_head(f: Solution) -> bool:
    """Say whether the queries are every third pair of columns, one pair a head."""
    columns = torch.tensor([0, 1, 6, 7, 12, 13])
    return _reads(QUERY, STATE["h.0.attn.c_attn.weight"][:, columns].T)(f)


def _other_order(f: Solution) -> bool:
    parts = permutations((QUERY, KEY, VALUE), 2)
    return any(_reads(here, _right()[there])(f) for here, there in parts)


RENAME = Exercise(
    "rename_gpt2",
    checkpoints.rename_gpt2,
    {
        "a state of 2 layers, 3 heads, width 6": _renamed,
        "the same with h.1.ln_2 misspelled, h.1.ln2": _of_misspelled,
    },
    {
        "we have no layer that holds query, key and value together: split "
        "c_attn in three": lambda f: QUERY in _missing(f),
        "biases are missing: the bias of c_attn is split in three as well": lambda f: (
            bool(_missing(f)) and all("bias" in name for name in _missing(f))
        ),
        "GPT-2's names are left: each must become one of "
        "Decoder(gpt2_config(config)).state_dict()": lambda f: bool(
            set(STATE) & set(_renamed(f))
        ),
        "the names must be those of "
        "Decoder(gpt2_config(config)).state_dict()": lambda f: (
            set(_renamed(f)) != set(_right())
        ),
        "tensors are stored under each other's names: match by name, because "
        "the two state dicts differ in order": lambda f: (
            _renamed(f)[EMBEDDING].ndim == 1
        ),
        "wte and wpe are swapped: wte has a row for each token, "
        "wpe one for each position": _reads(EMBEDDING, STATE["wpe.weight"]),
        "embeddings are transposed too: only the weights of linear layers are "
        "stored transposed": _reads(EMBEDDING, STATE["wte.weight"].T),
        "weights of linear layers are not transposed: GPT-2 has x @ weight, "
        "nn.Linear has x @ weight.T": _reads(UP, STATE["h.0.mlp.c_fc.weight"]),
        "square weights are not transposed: their shape does not show it, so "
        "go by the name of the layer": _reads(OUT, STATE["h.0.attn.c_proj.weight"]),
        "c_attn is split per head: in GPT-2 all queries come first, then all "
        "keys, then all values": _per_head,
        "the parts of c_attn are in a different order: query, key, value": _other_order,
        "c_attn is split along its inputs: query, key and value are side by "
        "side in its 18 columns": lambda f: _renamed(f)[QUERY].shape != (6, 6),
        "ln_1 and ln_2 are swapped: ln_1 comes before attention, ln_2 before "
        "the feed-forward layer": _reads(
            f"{ATTENTION}.norm.weight", STATE["h.0.ln_2.weight"]
        ),
        "an unknown or missing name must raise an error: otherwise part of "
        "the model silently keeps its random weights": lambda f: alike(
            _renamed(f), _right()
        ),
    },
)

EXERCISES = (RENAME,)
