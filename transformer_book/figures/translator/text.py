"""What Translator says in words, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.state import number, percent, quote, token_text

if TYPE_CHECKING:
    from transformer_book.figures.translator.figure import Translator


def heads(figure: Translator) -> str:
    """Whose weights are shown."""
    layers = figure.answer["weights"]
    if figure.head:
        return "layer {}, head {}".format(*figure.head)
    return f"mean of {sum(len(layer) for layer in layers)} heads"


def verdict(figure: Translator) -> str:
    """Say whether the translation is right, where a rule knows."""
    expected, said = figure.answer["expected"], figure.answer["translation"]
    if not expected:
        return "no rule here knows whether that is right"
    if said == expected:
        return "✓ right"
    return f"✗ wrong, as it should be {quote(expected, 80)}"


def sentence(figure: Translator) -> str:
    """Say what a step looks at and writes, or what came of all steps."""
    at = figure.at()
    if at is None:
        return _overview(figure)
    return _cell(figure, *at) if len(at) == 2 else _row(figure, at[0])


def _looks(figure: Translator, row: int) -> str:
    weights = figure.shown_weights()[row]
    order = sorted(range(len(weights)), key=lambda c: -weights[c])[:2]
    looks = [f"{percent(weights[c])} at {_source(figure, c)}" for c in order]
    return " and ".join(looks)


def _source(figure: Translator, column: int) -> str:
    return quote(figure.answer["source"][column])


def _overview(figure: Translator) -> str:
    answer = figure.answer
    n, weights = len(answer["source"]), figure.shown_weights()[0]
    most = max(range(n), key=weights.__getitem__)
    target = answer["target"]
    tokens = f"{n} token{'' if n == 1 else 's'}"
    return (
        f"Step {len(target)}, the last, wrote {quote(target[-1])}. "
        f"{quote(answer['words'], 80)}, {tokens}, was read at once and became "
        f"{quote(answer['translation'], 80)}: {verdict(figure)}. "
        f"Step 1 had looked most at token {most + 1}, {_source(figure, most)} "
        f"({percent(weights[most])}, {heads(figure)}), and wrote {quote(target[0])}."
    )


def _choice(token: str, chance: float) -> str:
    return f"{quote(token)}, {percent(chance)}"


def _row(figure: Translator, row: int) -> str:
    looks = f"{_looks(figure, row)} ({heads(figure)})"
    if row == figure.shown:
        start = f"after {quote(figure.answer['target'][row - 1])}" if row else "first"
        best = _choice(*figure.answer["chances"][row][0])
        return (
            f"Step {row + 1} comes next, {start}: the decoder looks {looks}. Its most "
            f"probable token: {best}."
        )
    (token, chance), *others = figure.answer["chances"][row]
    after = f"; second best {_choice(*others[0])}" if others else ""
    return (
        f"Step {row + 1} wrote {quote(token)} ({percent(chance)}{after}) while it "
        f"looked {looks}."
    )


def _cell(figure: Translator, row: int, column: int) -> str:
    weight = figure.shown_weights()[row][column]
    wrote = (
        "comes next and looks"
        if row == figure.shown
        else f"wrote {quote(figure.answer['target'][row])} and looked"
    )
    return (
        f"Step {row + 1} {wrote} {percent(weight)} at {_source(figure, column)}, token "
        f"{column + 1} of {len(figure.answer['source'])} ({heads(figure)})."
    )


def table(figure: Translator) -> tuple[list[str], list[list[Any]]]:
    """Give each step's token, its chance, the second best, and the weights."""
    answer, weights = figure.answer, figure.shown_weights()
    header = ["step", "token", "best", "chance", "second", "its chance"]
    rows = []
    for row in range(figure.rows):
        token = token_text(answer["target"][row], 40) if row < figure.shown else "next"
        best, second = [*answer["chances"][row], ["", 0.0]][:2]
        pairs = [(token_text(t, 40), number(p, 4)) for t, p in (best, second)]
        numbers = [number(weight, 3) for weight in weights[row]]
        rows.append([row + 1, token, *(x for pair in pairs for x in pair), *numbers])
    return [*header, *(token_text(token, 40) for token in answer["source"])], rows
