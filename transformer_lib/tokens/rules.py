"""What must hold of a tokenizer, whether it was trained, written or loaded."""

import reprlib
from collections.abc import Iterator

LONGEST_TOKEN = 2**16
"""In bytes. Each merge can double a token, and forty would fill any memory."""


def broken_rules(
    merges: object, special_tokens: object, alphabet: object
) -> Iterator[str]:
    """Yield each rule that is broken, with what breaks it."""
    numbers = alphabet if isinstance(alphabet, tuple) else ()
    whole = all(type(byte) is int for byte in numbers)
    if not whole or sorted(numbers) != list(range(256)):
        got = reprlib.repr(alphabet)
        yield f"the alphabet must be a tuple that holds every byte once, got {got}"
    names = special_tokens if isinstance(special_tokens, tuple) else (None,)
    if not all(map(_is_name, names)) or len(set(names)) < len(names):
        got = reprlib.repr(special_tokens)
        yield f"special tokens must be a tuple of different, non-empty texts, got {got}"
    if not isinstance(merges, tuple):
        yield f"merges must be a tuple of pairs of ids, got {reprlib.repr(merges)}"
    else:
        yield from list(_wrong_pairs(merges)) or _wrong_tokens(merges)


def _is_name(name: object) -> bool:
    """Tell whether this is a text with something in it and no lone surrogate."""
    if not isinstance(name, str) or not name:
        return False
    return name.encode(errors="ignore").decode() == name


def _wrong_pairs(merges: tuple[object, ...]) -> Iterator[str]:
    """Find merges of ids that do not exist yet."""
    for rank, pair in enumerate(merges):
        known = range(256 + rank)
        ids = pair if isinstance(pair, tuple) else ()
        if len(ids) != 2 or not all(type(one) is int and one in known for one in ids):
            got = reprlib.repr(pair)
            yield f"merge {rank} must join two ids below {256 + rank}, got {got}"


def _wrong_tokens(merges: tuple[tuple[int, int], ...]) -> Iterator[str]:
    """Find merges that make an old token again, or an endless one."""
    tokens = [bytes([one]) for one in range(256)]
    seen = set(tokens)
    for rank, (left, right) in enumerate(merges):
        size = len(tokens[left]) + len(tokens[right])
        if size > LONGEST_TOKEN:
            yield f"tokens must have at most {LONGEST_TOKEN} bytes, got {size}"
            return
        token = tokens[left] + tokens[right]
        if token in seen:
            yield f"merge {rank} must make a new token, got {merges[rank]} again"
        tokens.append(token)
        seen.add(token)
