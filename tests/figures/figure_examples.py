"""One entry per figure: the shared tests are written once and run over these."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_book import figures
from transformer_book.figures import (
    AttentionStepper,
    BlockFlow,
    EmbeddingLookup,
    HeadsGrid,
    KVCacheStepper,
    PositionLab,
    SamplingDesk,
    SoftmaxMask,
    TrainScrub,
    Translator,
)
from transformer_book.figures.figure import Figure

HOSTILE = {
    "script": "</script><img src=x onerror=alert(1)>",
    "quotes": "\"'&quot;&amp;<b>",
    "hebrew": "שלום",
    "override": "\u202egnp.exe",
    "emoji": "👩‍👩‍👧‍👦",
    "combining": "e" + "\u0301" * 60,
    "nul": "a\x00b",
    "empty": "",
    "long": "x" * 10_000,
}


@dataclass
class Example:
    """What the shared tests need to know about a figure."""

    make: Callable[[], Figure]
    """The example state."""
    keys: list[str]
    """Pressed one by one with the focus in the figure's first grid."""
    said: str
    """Regular expression for the live sentence after those keys."""
    changed: dict[str, Any]
    """Traits that the keys have changed, and their values then."""
    bad: dict[str, Any]
    """Traits that make a state which cannot be drawn."""
    stops: list[str]
    """The stops of Tab in order, role and name, as a screen reader says them."""
    control: tuple[str, str]
    """Role and name of a control that changes what the figure shows."""
    with_tokens: Callable[[list[str]], Figure] | None = None
    """The figure with these two tokens, if it shows tokens."""


def _two_tokens(tokens: list[str]) -> Figure:
    vectors = [[1.0, 0.0], [0.0, 1.0]]
    return AttentionStepper(
        tokens=tokens, query=vectors, key=vectors, value=vectors, selected=[0, 1]
    )


def _written_tokens(tokens: list[str]) -> Figure:
    one = {"picks": tokens[1:], "wrong_picks": tokens[1:]}
    gaps = {"gaps": [0.0], "wrong_gaps": [0.0]}
    return KVCacheStepper(tokens[1], prompt_length=1, tokens=tokens, **one, **gaps)


def _followed_tokens(tokens: list[str]) -> Figure:
    names = [token[:99] for token in (*tokens, "c")]
    top = [[[name, 0.3] for name in names]] * 3
    lists = {"top": top, "answer": [0.3] * 3, "lengths": [1.0, 2.0, 3.0]}
    flow = {"prompt": "ab", "position": 0, "tokens": tokens, "norm": "pre", **lists}
    flow |= {"changes": [1.0, 1.0], "cosines": [1.0, 1.0]}
    return BlockFlow("ab", flow=flow, source="Python")


def _read_tokens(tokens: list[str]) -> Figure:
    numbers = {"maps": [[[10_000, 4000, 6000]]], "scores": [[[0.3, 0.4]]]}
    stored = {"source": "Python", "ids": [0, 1], "off": [], "first": None, **numbers}
    stored["losses"] = [[[], 1.0], [[[0, 0]], 2.0]]
    return HeadsGrid(
        source="Python", ids=[0, 1], tokens=tokens, shown=[[0, 0]], stored=stored
    )


def _translated_tokens(tokens: list[str]) -> Figure:
    """Of long tokens, only the beginnings are written too."""
    target = [token[:99] for token in tokens]
    chances = [[[token, 0.5]] for token in target]
    parts = {"chances": chances, "weights": [[[[900, 100], [500, 500]]]]}
    answer = Translator().answer | {"source": tokens, "target": target} | parts
    return Translator(answer=answer)


def _repeated_tokens(tokens: list[str]) -> Figure:
    even = [[100], [50, 50], [34, 33, 33], [25, 25, 25, 25]]
    record = {
        "steps": [0, 100],
        "first": [0.7, 0.7],
        "second": [0.7, 0.1],
        "tokens": tokens,
        "said": [["b", "b", "b"], ["b", "b", "a"]],
        "heads": ["layer 0, head 0", "layer 1, head 0"],
        "maps": [[even, even], [even, even]],
    }
    return TrainScrub(record)


def read(folder: Path) -> Example:
    """The example that a figure's own folder holds."""
    facts = json.loads((folder / "examples.json").read_text("utf-8"))
    traits, name = facts.pop("traits"), folder.name
    return Example(
        make=lambda: FIGURES[name](**traits), with_tokens=TOKENS.get(name), **facts
    )


KINDS = [kind for kind in vars(figures).values() if isinstance(kind, type)]
FIGURES = {kind.name: kind for kind in KINDS if issubclass(kind, Figure)}
TOKENS: dict[str, Callable[[list[str]], Figure]] = {
    "attention_stepper": _two_tokens,
    "block_flow": _followed_tokens,
    "embedding_lookup": lambda tokens: EmbeddingLookup(tokens, [[1, 0], [0, 1]]),
    "heads_grid": _read_tokens,
    "kv_cache_stepper": _written_tokens,
    "position_lab": lambda tokens: PositionLab(view="order", tokens=tokens),
    "sampling_desk": lambda tokens: SamplingDesk("", logits=[1, 0], tokens=tokens),
    "softmax_mask": SoftmaxMask,
    "train_scrub": _repeated_tokens,
    "translator": _translated_tokens,
}
"""What makes a figure with two tokens, of those that show tokens."""
FOLDERS = sorted(Path(figures.__file__).parent.glob("*/examples.json"))
EXAMPLES = {path.parent.name: read(path.parent) for path in FOLDERS}
SHOW_TOKENS = sorted(TOKENS)
