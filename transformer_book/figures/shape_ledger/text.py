"""What ShapeLedger says in words, and its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformer_book.figures.shape_ledger.lines import Line, own_places
from transformer_book.figures.state import number, percent

if TYPE_CHECKING:
    from transformer_book.figures.shape_ledger.figure import ShapeLedger

_SPLIT = "split_heads"


def compact(x: int | float, space: str = "") -> str:
    """Three digits and a unit: 124M, 9.66G, 7."""
    if x < 1000:
        return f"{number(float(x), 0)}{space}"
    power = 0
    while x >= 999.5:
        x, power = x / 1000, power + 1
    digits = 2 if x < 9.995 else 1 if x < 99.95 else 0
    return f"{number(x, digits)}{space}{' kMGTPE'[power]}"


def shape(line: Line) -> str:
    """The shape of a line's result: 3 × (1, 12, 1024, 64)."""
    copies = f"{line.copies} × " if line.copies > 1 else ""
    return f"{copies}({', '.join(map(str, line.shape))})"


def sentence(ledger: ShapeLedger) -> str:
    """Say what the held line costs, what goes wrong, or where everything sits."""
    held = ledger.held()
    if ledger.wrong and (held is None or held.name == _SPLIT):
        return _wrong(ledger)
    return _overview(ledger) if held is None else _line(ledger, held)


def _overview(ledger: ShapeLedger) -> str:
    all_lines, n_params, flops = ledger.lines(), ledger.n_params(), ledger.flops()
    embeddings, attention, feed_forward = (
        percent(
            sum(x.blocks * x.params for x in all_lines if x.part in part) / n_params
        )
        for part in ("embed end", "attention", "ff")
    )
    products = sum(x.blocks * x.flops for x in all_lines if "@" in x.name) / flops
    return (
        f"{n_params:,} parameters, {compact(4 * n_params, ' ')}B: "
        f"about {embeddings} in embeddings, {attention} in attention and "
        f"{feed_forward} in feed-forward. One pass over "
        f"{ledger.batch} × {ledger.length} tokens takes {compact(flops, ' ')}FLOP, "
        f"{percent(products)} of it between tokens (the products that grow with T²)."
    )


def _line(ledger: ShapeLedger, line: Line) -> str:
    many = line.blocks > 1
    where = f", in each of {line.blocks} blocks," if many else ""
    params, flops = line.blocks * line.params, line.blocks * line.flops
    has = f"{line.params:,} parameters{' a block' if line.params and many else ''}"
    takes = f"{compact(flops, ' ')}FLOP"
    if line.params:
        has += f", {percent(params / ledger.n_params())} of all"
    if line.flops:
        takes += f"{' in all' if many else ''}, {percent(flops / ledger.flops())}"
    size = compact(line.blocks * line.n_bytes, " ") if line.width else ""
    keeps = f"{size}B of results" if size else "a view, which copies nothing"
    return f"{line.name}{where} makes {shape(line)}: {has}; {takes}; {keeps}."


def _wrong(ledger: ShapeLedger) -> str:
    places = ledger.length * ledger.n_heads
    own = own_places(ledger.length, ledger.n_heads)
    start = (
        "Wrong reshape: view without transpose. Shapes, parameters and FLOPs stay "
        "the same, so no error says it"
    )
    if own == places:
        return f"{start}; with one head or one token, nothing moves."
    return (
        f"{start}, but tokens are mixed: only {own:,} of {places:,} places in the "
        "heads hold their own token. Head 0 reads token 0 at position 1."
    )


def table(ledger: ShapeLedger) -> tuple[list[str], list[list[Any]]]:
    """Give each line, and the sums; block lines count all blocks."""
    rows: list[list[Any]] = [
        [
            x.name,
            x.blocks,
            shape(x),
            *(_count(x.blocks * n) for n in (x.params, x.flops, x.n_bytes)),
        ]
        for x in ledger.lines()
    ]
    totals = [ledger.n_params(), ledger.flops(), ledger.n_bytes()]
    rows.append(["sum", "", "", *map(_count, totals)])
    sizes = ["parameters (count)", "compute (FLOPs)", "results (bytes)"]
    return ["line", "blocks", "shape of the result", *sizes], rows


def _count(x: int) -> int | str:
    """A count; beyond what a browser counts exactly, 4 digits of it."""
    return x if x < 2**53 else f"{x:.3e}"
