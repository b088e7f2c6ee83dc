"""Random numbers that are exact in Python and in the browser.

Source: Park and Miller 1988, "Random number generators: good ones are hard to find".
"""

from collections.abc import Iterator

_PRIME = 2**31 - 1


def draws(seed: int) -> Iterator[float]:
    """Yield numbers in 0..1 without end; the first ones would still show the seed."""
    for _ in range(3):
        seed = 48271 * seed % _PRIME
    while True:
        seed = 48271 * seed % _PRIME
        yield seed / _PRIME
