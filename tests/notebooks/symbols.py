"""Which symbols a page uses in its formulas, and which the notation page explains."""

import re
from collections.abc import Iterator
from pathlib import Path

from chapters import sources

FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)\$(?!\$)", re.S)
NO_SYMBOLS = re.compile(
    r"\\(?:text|mathrm|operatorname)\{[^{}]*\}"  # names of functions say what they are
    r"|\\(?:begin|end)\{\w+\}"
)
GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "theta", "lambda"),
    *("mu", "nu", "pi", "rho", "sigma", "tau", "phi", "chi", "omega"),
)
OTHER_COMMAND = re.compile(rf"\\(?!(?:{'|'.join(GREEK)})(?![A-Za-z]))[A-Za-z]+")
SYMBOL = re.compile(
    r"(?P<letter>[A-Za-z]|\\[a-z]+)(?:_(?:\{(?P<group>[^{}]*)\}|(?P<one>\w)))?"
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)


def prose(notebook: Path) -> str:
    """Return all markdown of a notebook, without code."""
    texts = sources(notebook.read_text("utf-8"), "markdown")
    return CODE.sub("", "\n\n".join(texts))


def formulas(text: str) -> list[str]:
    """Return what stands between dollar signs."""
    return [displayed or inline for displayed, inline in FORMULA.findall(text)]


def symbols(formula: str) -> Iterator[str]:
    """Yield each symbol: $W_Q$ and $d_{model}$ are one each, $x_i$ is x and an index.

    A subscript belongs to its letter if it is a word or a capital, or if the letter is
    d, a width.
    """
    plain = OTHER_COMMAND.sub(" ", NO_SYMBOLS.sub(" ", formula))
    for match in SYMBOL.finditer(plain):
        letter, below = match["letter"], match["group"] or match["one"] or ""
        named = re.fullmatch(r"[A-Za-z]{2,}|[A-Z]", below) or (letter == "d" and below)
        yield f"{letter}_{below}" if named else letter
        if not named:
            yield from symbols(below)


def used_in(text: str) -> set[str]:
    """Return all symbols of all formulas."""
    return {symbol for formula in formulas(text) for symbol in symbols(formula)}


def explained(notation: str) -> dict[str, set[str]]:
    """Return the symbols of each section's table, by the section's heading.

    A table's first column holds the symbols.
    """
    sections = re.split(r"^## ", notation, flags=re.M)[1:]
    return {
        section.splitlines()[0].strip(): {
            symbol
            for row in re.findall(r"^\|([^|\n]*)\|", section, re.M)
            for symbol in used_in(row)
        }
        for section in sections
    }
