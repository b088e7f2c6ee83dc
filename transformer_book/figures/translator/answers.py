"""What a translator answers: its tokens, their probabilities, and its attention."""

import math
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any

import torch

from transformer_book import pretrained
from transformer_book.figures import schema as rules
from transformer_book.figures.state import StateError, check_tokens
from transformer_book.tasks import TextTokenizer, number_words
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import record_attention

MOST = 28
"""Tokens that the figure shows, of the source and of the target."""

SHIPPED = "number-translator"
LONGEST = 200  # signs of a text

_NUMERIC = re.compile("[0-9 ,.+-]*")
_WHOLE = re.compile("[0-9][0-9,]*")
_CHOICES = 4

Answer = dict[str, Any]
Ask = Callable[[str], Answer]


def words_of(text: str) -> str:
    """Return the words of a number; any other text as it is, without outer spaces."""
    cut = text.strip(" ")
    if len(cut) > LONGEST:
        raise StateError(f"text must have at most {LONGEST} characters, got {len(cut)}")
    check_tokens([cut], 1, 1)
    if not _NUMERIC.fullmatch(cut):
        return cut
    number = int(cut.replace(",", "")) if _WHOLE.fullmatch(cut) else 0
    if not 1 <= number <= 999_999:
        raise StateError(
            f"text must be a number from 1 to 999,999, or words, got {text!r}"
        )
    return number_words(number)


def number_of(words: str) -> int | None:
    """Return the number that these are the English words of, if they are of one."""
    thousands, _, rest = words.rpartition("thousand")
    number = 1000 * _below_thousand(thousands) + _below_thousand(rest)
    known = 1 <= number <= 999_999 and number_words(number) == words
    return number if known else None


@cache
def _values() -> dict[str, int]:
    return {number_words(n): n for n in (*range(1, 20), *range(20, 100, 10))}


def _below_thousand(words: str) -> int:
    number = 0
    for word in re.findall("[a-z]+", words):
        number = 100 * number if word == "hundred" else number + _values().get(word, 0)
    return number


@lru_cache(maxsize=64)
def shipped(text: str) -> Answer:
    """Answer with the book's own model, trained on numbers only."""
    if number_of(words_of(text)) is None:
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
    language: str = "de",
) -> Answer:
    """Translate greedily; probabilities are rounded down, weights are in thousandths.

    In float64, so that they are the same on every machine.
    """
    words = words_of(text)
    source = tokenizer.encode(words)
    if not 1 <= len(source) <= MOST:
        raise StateError(
            f"text must have 1 to {MOST} tokens, got {len(source)}; write fewer words"
        )
    target, chances, weights = _translate(model, tokenizer, source)
    number = number_of(words)
    said = target[:-1] if target[-1] == tokenizer.special("<end>") else target
    return {
        "words": words,
        "expected": "" if number is None else number_words(number, language),
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
            chances.append(
                [(int(i), _down(float(p))) for p, i in zip(*best, strict=True)]
            )
            written.append(chances[-1][0][0])
    cross = [weights[0] for name, weights in record.items() if ".cross." in name]
    thousandths = (1000 * torch.stack(cross)).round().int().tolist()
    return written[1:], chances, thousandths


def _down(chance: float) -> float:
    """Four digits that never say 0 or 1: a softmax cannot."""
    return min(0.9999, max(0.0001, math.floor(1e4 * chance) / 1e4))


def _piece(tokenizer: TextTokenizer, token: int) -> str:
    """Return a token's text; bytes that are none read <0xC3>, where known."""
    text, read = tokenizer.decode([token]), getattr(tokenizer, "token_bytes", None)
    if "\ufffd" not in text or read is None:
        return text
    return "".join(f"<0x{byte:02X}>" for byte in read(token))


_PARTS = "by chances expected source target translation weights words".split()


_SHAPE = rules.parts(
    **dict.fromkeys("words expected by translation".split(), rules.text),
    source=rules.each(rules.text),
    target=rules.each(rules.text),
    chances=rules.each(rules.each(rules.row(rules.text, rules.finite))),
    weights=rules.each(rules.each(rules.each(rules.each(rules.finite)))),
)


def check_answer(found: Answer) -> None:
    """Raise unless an answer has all its parts, of sizes that fit each other."""
    if sorted(found) != _PARTS:
        raise StateError(f"answer must hold {_PARTS}, got {sorted(found)}")
    _SHAPE("answer", found)
    for part in ("source", "target"):
        check_tokens(found[part], 1, MOST)
    rows, columns = len(found["target"]), len(found["source"])
    if [len(choices) > 0 for choices in found["chances"]] != [True] * rows:
        raise StateError(f"chances must be {rows}, got {len(found['chances'])}")
    for choices in found["chances"]:
        _check_chances(choices)
    _check_weights([h for layer in found["weights"] for h in layer], rows, columns)


def _check_chances(choices: list[Any]) -> None:
    if not 1 <= len(choices) <= MOST or not all(0 <= p <= 1 for _, p in choices):
        raise StateError(
            f"chances must be 1 to {MOST} for each step, from 0 to 1, got "
            f"{rules.cut(choices)}"
        )


def _check_weights(heads: list[Any], rows: int, columns: int) -> None:
    shapes = {(len(head), *sorted({len(row) for row in head})) for head in heads}
    if shapes != {(rows, columns)}:
        raise StateError(
            f"weights must be {rows} x {columns} in each head, got {sorted(shapes)}"
        )
    totals = [sum(row) for head in heads for row in head]
    if not all(abs(total - 1000) <= 0.5 * columns + 1 for total in totals):
        raise StateError(f"weights must sum to 1000 in each row, got {totals}")
