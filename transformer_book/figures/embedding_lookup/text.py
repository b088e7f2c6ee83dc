"""What EmbeddingLookup says in words, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.embedding_lookup.numbers import Neighbor
from transformer_book.figures.state import number, quote, token_text

if TYPE_CHECKING:
    from transformer_book.figures.embedding_lookup.figure import EmbeddingLookup


def when(step: int) -> str:
    """Name a training step."""
    return f"after step {step}" if step else "before training"


def sentence(figure: EmbeddingLookup) -> str:
    """Say what is held, else what comes out and how well kinds lie together."""
    return _held(figure, *figure.selected) if figure.selected else _overview(figure)


def _overview(figure: EmbeddingLookup) -> str:
    size, many = len(figure.words), len(figure.tokens)
    if many == 0:
        out = "No word is looked up."
    elif figure.view == "lookup":
        ids = ", ".join(map(str, figure.tokens))
        out = (
            f"{_plural(many, 'word')}: {'row' if many == 1 else 'rows'} {ids} of the "
            f"table, copied, {'is' if many == 1 else 'are'} the output."
        )
    else:
        out = (
            f"{_plural(many, 'one-hot row')} times W: in each sum of {size} products, "
            f"{size - 1} have a factor 0, and the output is the same rows."
        )
    return f"{out}{_kin(figure)}"


def _kin(figure: EmbeddingLookup) -> str:
    right, among = figure.kin()
    if among == 0:
        return ""
    said = f"the nearest row is of the same group for {right} of {among} words"
    if len(figure.steps) == 1:
        return f" {_capital(said)}."
    now, first = when(figure.step), figure.kin(0)[0]
    if figure.index == 0:
        return f" {_capital(now)}, {said}."
    return f" {_capital(now)}, {said}, {when(figure.steps[0])} for {first}."


def _held(figure: EmbeddingLookup, row: int, column: int) -> str:
    name, size = quote(figure.words[row]), len(figure.words)
    start = (
        f"{name} is row {row}; its number {column} is "
        f"{number(figure.rows()[row][column])}."
    )
    hot = f" Its one-hot row: a 1 at place {row}, {_plural(size - 1, 'zero')}."
    if figure.view == "one-hot":
        start += hot if row in figure.tokens else " It is not in your text."
    near = _list(figure, figure.neighbors(row, 3))
    before = _list(figure, figure.neighbors(row, 3, 0))
    was = f"; {when(figure.steps[0])} {before}" if figure.index else ""
    return f"{start} Nearest by cosine{_at(figure)}: {near}{was}."


def _at(figure: EmbeddingLookup) -> str:
    return f" {when(figure.step)}" if len(figure.steps) > 1 else ""


def _list(figure: EmbeddingLookup, near: list[Neighbor]) -> str:
    return ", ".join(f"{quote(figure.words[n.row])} {number(n.cosine)}" for n in near)


def _plural(count: int, thing: str) -> str:
    return f"{count} {thing}{'' if count == 1 else 's'}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def table(figure: EmbeddingLookup) -> tuple[list[str], list[list[Any]]]:
    """Give the table of rows, and the nearest word of each."""
    header = ["word", "row", *map(str, range(figure.d_model)), "nearest", "cosine"]
    rows = []
    for i, (word, row) in enumerate(zip(figure.words, figure.rows(), strict=True)):
        near = figure.neighbors(i, 1)[0]
        numbers = [number(x, 3) for x in row]
        nearest = [token_text(figure.words[near.row], 40), number(near.cosine, 4)]
        rows.append([token_text(word, 40), i, *numbers, *nearest])
    return header, rows
