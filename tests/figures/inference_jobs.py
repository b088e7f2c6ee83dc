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
    """Draw prompts, the last as long as may be, with a source for a translator."""
    draw, config, found = random.Random(0), model.config, []
    parts = ["tokens", "source"] if isinstance(model, EncoderDecoder) else ["tokens"]
    for number in range(1, count + 1):
        prompt = {}
        for part in parts:
            size = config.max_len if number == count else draw.randint(1, longest)
            prompt[part] = drawn(draw, config.vocab_size, size)
        found.append({**prompt, "chunks": chunked(prompt["tokens"], draw)})
    return found


@torch.no_grad()
def expected(model: nn.Module, prompt: dict[str, Any], **how: Any) -> Tensor:
    """Return PyTorch's logits of the whole prompt at once: (tokens, vocab)."""
    tokens = torch.tensor([prompt["tokens"]])
    if "source" in prompt:
        return model(torch.tensor([prompt["source"]]), tokens)[0]
    return model(tokens, **how)[0]


@cache
def edges() -> list[int]:
    """Where another kind of signs begins, but for the surrogates."""
    signs = map(chr, range(0x110000))
    kinds = [(unicodedata.category(sign)[0], sign.isspace()) for sign in signs]
    codes = [n for n in range(1, 0x110000) if kinds[n] != kinds[n - 1]]
    return [code for code in codes if code not in range(0xD800, 0xE001)]


SPECIAL = [
    "",
    " ",
    "\r\n",
    "a\r\n b\r\n\r\n  c",
    "\ufeffmark \ufeff",
    "don't we'll I'M 've",
    "<pad><start><end>",
    "\u05e9\u05dc\u05d5\u05dd \u202eabc\u202c",
    "e\u0301 \u00e9 \ufb01 \u212b",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea",
    "\x1c\x1d \x1e\x1f\x85\u180e\u200b\u3000",
    "12\u00b2\u2167 \u0661\u0662 x1y",
    "\ue000\U0010ffff\ufffe",
    "the " * 2500,
    "e" * 5000,
]
"""Texts that break tokenizers."""
SURROGATES = range(0xD800, 0xE000)


def texts(count: int) -> list[str]:
    """Draw texts, half of ASCII, half of signs about a few edges of Unicode."""
    draw, made = random.Random(0), []
    for _ in range(count):
        some = draw.sample(edges(), 3)
        codes = [
            draw.choice((draw.randrange(128), draw.choice(some) + draw.randint(-1, 9)))
            for _ in range(draw.randint(1, 60))
        ]
        made.append("".join(chr(n % 0x110000) for n in codes if n not in SURROGATES))
    return SPECIAL + made
