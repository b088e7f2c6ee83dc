"""The tiny table that EmbeddingLookup shows: trained to guess the next number word.

`python -m transformer_book.figures.embedding_lookup.training` trains it again, in a
second, and writes the file that the figure reads.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.figures.state import as_lists
from transformer_book.tasks import number_words
from transformer_lib.embeddings import Embedding

FILE = Path(__file__).parent / "number_words.json"
STEPS = (0, 10, 20, 30, 40, 60, 80, 100, 150, 200)
D_MODEL, SEED, DIGITS = 6, 1, 2
KINDS = {"units": range(1, 10), "teens": range(10, 20), "tens": range(20, 100, 10)}
"""What the training is not told: the kind of each word; "hundred", "and" have none."""


@cache
def vocabulary() -> list[str]:
    """Return the words of the numbers below 1,000."""
    numbers = [number for kind in KINDS.values() for number in kind]
    return [*(number_words(number) for number in numbers), "hundred", "and"]


def groups() -> list[str]:
    """Return the kind of each word, "" where it has none."""
    return [*(name for name, kind in KINDS.items() for _ in kind), "", ""]


@cache
def followers() -> Float[Tensor, "words words_and_end"]:
    """Count which word follows which in 1 to 999; the last column is the end."""
    names = vocabulary()
    counts = torch.zeros(len(names), len(names) + 1, dtype=torch.float64)
    for number in range(1, 1000):
        words = re.split("[ -]", number_words(number))
        ids = [names.index(word) for word in words]
        for word, after in zip(ids, [*ids[1:], len(names)], strict=True):
            counts[word, after] += 1
    return counts


def train(seed: int = SEED) -> dict[int, Float[Tensor, "words d_model"]]:
    """Train a table on all followers at once; return copies of it by their steps.

    The scores of the next word are `embedding(word) @ output`, and Adam lowers their
    cross-entropy: nothing else says which words belong together.
    """
    counts, copies = followers(), {}
    generator = torch.Generator().manual_seed(seed)
    embedding = Embedding(len(counts), D_MODEL).double()
    output = nn.Parameter(torch.empty(D_MODEL, len(counts) + 1, dtype=torch.float64))
    for parameter in (embedding.weight, output):
        nn.init.normal_(parameter, std=D_MODEL**-0.5, generator=generator)
    optimizer = torch.optim.Adam([embedding.weight, output], lr=0.01)
    for step in range(STEPS[-1] + 1):
        if step in STEPS:
            copies[step] = embedding.weight.detach().clone()
        scores = embedding(torch.arange(len(counts))) @ output
        loss = -(counts * scores.log_softmax(dim=-1)).sum() / counts.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return copies


def trained() -> dict[str, Any]:
    """Return the figure's traits after training, the numbers rounded."""
    tables = [
        as_lists(table.round(decimals=DIGITS) + 0.0) for table in train().values()
    ]
    names = {"words": vocabulary(), "groups": groups()}
    return {**names, "steps": list(STEPS), "tables": tables}


def shipped() -> dict[str, Any]:
    """Return what `trained` gave when the file was written."""
    return json.loads(FILE.read_text())


if __name__ == "__main__":
    FILE.write_text(json.dumps(trained(), separators=(",", ":")) + "\n")
