"""What a translator answers: its tokens, their probabilities, and its attention."""

import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any

import torch

from transformer_book import pretrained
from transformer_book.figures.schema import check_limits, limits_of
from transformer_book.figures.state import StateError
from transformer_book.tasks import TextTokenizer, number_words
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import record_attention

_LIMITS = limits_of("translator")
MOST = _LIMITS["step"]["whole"][1]
"""Tokens that the figure shows, of the source and of the target."""

SHIPPED = "number-translator"

_CHOICES = 4

Answer = dict[str, Any]
Ask = Callable[[str], Answer]


def words_of(text: str) -> str:
    """Return the words of a number; any other text as it is, without outer spaces."""
    check_limits({"text": text}, {"text": _LIMITS["text"]})
    words = text.strip(" ")
    if not re.fullmatch("[0-9][0-9,]*", words):
        return words
    number = int(words.replace(",", ""))
    if not 1 <= number <= 999_999:
        raise StateError(
            f"text must be a number from 1 to 999,999, or words, got {text!r}"
        )
    return number_words(number)


@cache
def _known() -> set[str]:
    """Return all words that the numbers up to 999,999 are made of."""
    numbers = map(number_words, (*range(1, 100), 1101))
    return {word for words in numbers for word in re.findall("[a-z]+", words)}


@lru_cache(maxsize=64)
def shipped(text: str) -> Answer:
    """Answer with the book's own model, trained on numbers only."""
    words = re.findall("[^ ,-]+", words_of(text))
    if not words or not _known().issuperset(words):
        raise StateError(
            "text must be a number from 1 to 999,999, or its English words as in "
            f"'one hundred and twenty-one', got {text!r}; Translator.of(...) shows a "
            "model of yours with other words"
        )
    found = pretrained.load(SHIPPED)
    assert found.tokenizer is not None
    return answer(found.model, found.tokenizer, text, by=SHIPPED)


def answer(
    model: EncoderDecoder,
    tokenizer: TextTokenizer,
    text: str,
    *,
    by: str,
) -> Answer:
    """Translate greedily; weights are in thousandths.

    In float64, so that they are the same on every machine.
    """
    words = words_of(text)
    source = tokenizer.encode(words)
    if not 1 <= len(source) <= MOST:
        raise StateError(
            f"text must have 1 to {MOST} tokens, got {len(source)}; write fewer words"
        )
    target, chances, weights = _translate(model, tokenizer, source)
    said = target[:-1] if target[-1] == tokenizer.special("<end>") else target
    return {
        "words": words,
        "by": by,
        "source": [_piece(tokenizer, token) for token in source],
        "target": [_piece(tokenizer, token) for token in target],
        "translation": tokenizer.decode(said),
        "chances": [
            [[_piece(tokenizer, i), p] for i, p in choices] for choices in chances
        ],
        "weights": weights,
    }


@torch.no_grad()
def _translate(
    model: EncoderDecoder, tokenizer: TextTokenizer, source: list[int]
) -> tuple[list[int], list[list[tuple[int, float]]], list[Any]]:
    """Return the target's tokens, the best choices of each step, and the weights."""
    exact = deepcopy(model).cpu().double().eval()
    written, end = [tokenizer.special("<start>")], tokenizer.special("<end>")
    chances = []
    with record_attention(exact) as record:
        memory = exact.encode(torch.tensor([source]))
        while len(written) <= min(MOST, exact.config.max_len) and written[-1] != end:
            logits = exact.decode(torch.tensor([written]), memory)[0, -1]
            best = logits.softmax(dim=-1).topk(_CHOICES)
            chances.append([(int(i), float(p)) for p, i in zip(*best, strict=True)])
            written.append(chances[-1][0][0])
    cross = [weights[0] for name, weights in record.items() if ".cross." in name]
    thousandths = (1000 * torch.stack(cross)).round().int().tolist()
    return written[1:], chances, thousandths


def _piece(tokenizer: TextTokenizer, token: int) -> str:
    """Return a token's text; bytes that are none read <0xC3>, where known."""
    text, read = tokenizer.decode([token]), getattr(tokenizer, "token_bytes", None)
    if "\ufffd" not in text or read is None:
        return text
    return "".join(f"<0x{byte:02X}>" for byte in read(token))
