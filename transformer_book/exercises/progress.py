"""Progress: what was checked in this kernel. Nothing leaves it, nothing is stored."""

from types import MappingProxyType

_SOLVED: dict[str, bool] = {}


def remember(name: str, solved: bool) -> None:
    """Take note of one finding; what was right once stays solved."""
    _SOLVED[name] = solved or _SOLVED.get(name, False)


class Progress:
    """What was checked, and what of it was right at least once."""

    def __init__(self, solved: dict[str, bool]) -> None:
        self.solved = MappingProxyType(dict(solved))

    def __repr__(self) -> str:
        marks = [f"{'✓' if done else '·'} {name}" for name, done in self.solved.items()]
        head = f"{sum(self.solved.values())} of {len(marks)} solved"
        return "\n".join((head, *marks))


def progress() -> Progress:
    """Return what is solved in this notebook; it is known to this kernel alone."""
    return Progress(_SOLVED)
