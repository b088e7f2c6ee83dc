"""The numbers that EmbeddingLookup shows, in float64, as its twin `values.mjs` does."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Table = Sequence[Sequence[float]]


class Neighbor(NamedTuple):
    """A row near another one."""

    row: int
    cosine: float


class Plane(NamedTuple):
    """Where the rows lie in the plane in which the last table spreads most."""

    places: list[list[list[float]]]  # for each table and row: across, up
    share: float  # of the last table's spread


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of two rows; 0 if one of them is all zeros."""
    size = math.sqrt(_dot(a, a) * _dot(b, b))
    return _dot(a, b) / size if size else 0.0


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def neighbors(table: Table, row: int, count: int) -> list[Neighbor]:
    """Return the nearest other rows by cosine; of equal ones the first."""
    others = [i for i in range(len(table)) if i != row]
    near = [Neighbor(i, cosine(table[row], table[i])) for i in others]
    return sorted(near, key=_order)[:count]


def _order(near: Neighbor) -> tuple[int, int]:
    return -math.floor(1e6 * near.cosine + 0.5), near.row


def kin(table: Table, groups: Sequence[str]) -> tuple[int, int]:
    """Count the words whose nearest word is of their group, and those that have one."""
    among = [i for i, group in enumerate(groups) if group and groups.count(group) > 1]
    right = [groups[neighbors(table, i, 1)[0].row] == groups[i] for i in among]
    return sum(right), len(among)


def plane(tables: Sequence[Table]) -> Plane:
    """Project all tables onto the first two principal components of the last one."""
    last = np.array(tables[-1], dtype=np.float64)
    middle = last.mean(axis=0)
    spread, axes = np.linalg.eigh((last - middle).T @ (last - middle))
    first = axes[:, :-3:-1]
    large = np.abs(first) > 0.99 * np.abs(first).max(axis=0)
    signs = np.sign(first[large.argmax(axis=0), [0, 1]])
    total = float(spread.sum())
    used = first * signs * (spread[:-3:-1] > 1e-12 * total)  # none without spread
    places = (np.array(tables, dtype=np.float64) - middle) @ used
    share = float(spread[-2:].sum()) / total if total > 0 else 1.0
    return Plane(places.tolist(), share)


def reach(places: Any) -> list[tuple[float, float]]:
    """Return the smallest and the largest coordinate, across and up, of all tables."""
    flat = np.array(places).reshape(-1, 2)
    return list(zip(flat.min(axis=0).tolist(), flat.max(axis=0).tolist(), strict=True))
