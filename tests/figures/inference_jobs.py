"""What the tests of in-page inference share: models, texts and jobs for Node."""

import random
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from figure_page import page_calls
from torch import Tensor, nn

from transformer_book import pretrained
from transformer_lib.encoder_decoder import EncoderDecoder

DRIVER = "../../tests/figures/inference"
CHUNK = 32
"""Tokens that the page reads at once: the lengths must lie on both sides."""


class Page:
    """A packed model, and Node to run it."""

    def __init__(self, folder: Path, packed: bytes) -> None:
        self.packed, self.out = packed, folder / "out"

    def ask(self, task: str, **job: Any) -> Any:
        """Return what the task says."""
        job["out"] = str(self.out)
        return page_calls(DRIVER, task, [job], self.packed)[0]

    def logits(self, task: str, **job: Any) -> Tensor:
        """Return the logits that the task computes, one after the other."""
        self.ask(task, **job)
        return torch.from_numpy(np.fromfile(self.out, dtype="<f4"))


@cache
def shipped(name: str) -> pretrained.Pretrained:
    """Load each model once."""
    return pretrained.load(name)


def chunked(tokens: list[int], draw: random.Random) -> list[list[int]]:
    """Cut at random places; single tokens are frequent, as when a text is written."""
    chunks = []
    while tokens:
        size = draw.choice((1, 1, 2, 3, 5, 8, CHUNK, CHUNK + 1, len(tokens)))
        chunks.append(tokens[:size])
        tokens = tokens[size:]
    return chunks


def drawn(draw: random.Random, vocab_size: int, length: int) -> list[int]:
    """Draw tokens."""
    return [draw.randrange(vocab_size) for _ in range(length)]


def prompts_for(model: nn.Module, count: int, longest: int) -> list[dict[str, Any]]:
    """Draw prompts, most of them short, the last as long as may be."""
    draw = random.Random(0)
    config = model.config
    found = []
    for number in range(count):
        last = number == count - 1
        length = config.max_len if last else draw.randint(1, longest)
        tokens = drawn(draw, config.vocab_size, length)
        given = {}
        if isinstance(model, EncoderDecoder):
            size = config.max_len if last else draw.randint(1, longest)
            given = {"source": drawn(draw, config.vocab_size, size)}
        found.append({"tokens": tokens, "chunks": chunked(tokens, draw), **given})
    return found


@torch.no_grad()
def expected(model: nn.Module, prompt: dict[str, Any], **how: Any) -> Tensor:
    """Return PyTorch's logits of the whole prompt at once: (tokens, vocab)."""
    tokens = torch.tensor([prompt["tokens"]])
    if "source" in prompt:
        return model(torch.tensor([prompt["source"]]), tokens)[0]
    return model(tokens, **how)[0]


def all_signs() -> list[str]:
    """All signs of the full planes, and the edges of all letters and numbers."""
    codes = [*range(0xD800), *range(0xE000, 0x20000)]
    kinds = [unicodedata.category(chr(code))[0] for code in range(0x110000)]
    changes = [
        code for code in range(0x20000, 0x110000) if kinds[code] != kinds[code - 1]
    ]
    return [chr(code) for code in (*codes, *(c - n for c in changes for n in (1, 0)))]


def alphabet() -> list[list[int]]:
    """Ranges of signs that texts are made of; a range is drawn first."""
    return [
        [0x20, 0x7E],  # Latin
        [0x61, 0x7A],
        [0x00, 0x20],  # controls and white space
        [0x7F, 0xA0],
        [0xA0, 0x17F],
        [0x300, 0x36F],  # combining marks
        [0x590, 0x6FF],  # right to left
        [0x900, 0x97F],
        [0x1680, 0x1680],
        [0x2000, 0x206F],  # spaces, joiners, directions
        [0x2150, 0x218F],  # numerals
        [0x2460, 0x24FF],
        [0x3000, 0x30FF],
        [0x4E00, 0x9FFF],
        [0xAC00, 0xD7A3],
        [0xFE00, 0xFE0F],
        [0xFEFF, 0xFEFF],  # the mark at the beginning of some files
        [0xFFF0, 0xFFFF],
        [0x10000, 0x1FFFF],
        [0x1F300, 0x1FAFF],  # emoji
        [0x20000, 0x10FFFF],
    ]


def texts(count: int) -> list[str]:
    """Draw texts of any Unicode; the first ones are those that break tokenizers."""
    draw = random.Random(0)
    special = [
        "",
        " ",
        "\r\n",
        "a\r\n b\r\n\r\n  c",
        "\ufeffmark \ufeff",
        "don't we'll I'M 've",
        "<pad><start><end>",
        "</script><img src=x onerror=alert(1)>",
        "\u05e9\u05dc\u05d5\u05dd \u202eabc\u202c",
        "e\u0301 \u00e9 \ufb01 \u212b",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
        "\x1c\x1d \x1e\x1f\x85\u180e\u200b\u3000",
        "12\u00b2\u2167 \u0661\u0662 x1y",
        "\ue000\U0010ffff\ufffe",
        "the " * 2500,
        "e" * 10_000,
        "-=" * 5000,
    ]
    while len(special) < count:
        ranges = draw.choices(alphabet(), k=draw.randint(1, 4))
        signs = [
            chr(draw.randint(*draw.choice(ranges))) for _ in range(draw.randint(1, 60))
        ]
        special.append("".join(signs))
    return special
