"""GPT-2's own vocabulary file: merges written in letters that stand for bytes."""

from transformer_lib.tokens.tokenizer import Tokenizer

_VISIBLE = (*range(33, 127), *range(161, 173), *range(174, 256))
GPT2_ALPHABET = (*_VISIBLE, *(byte for byte in range(256) if byte not in _VISIBLE))
"""The bytes as GPT-2 numbers them: those that print as one sign come first."""


def gpt2_tokenizer(merges: str) -> Tokenizer:
    """Read the text of a ``merges.txt``: a pair of tokens on each line, as "Ġ t".

    Every letter in it is a byte: the visible bytes stand for themselves, the others
    are numbered from "Ā", so that a space is "Ġ". Ids come out as GPT-2's, with
    "<|endoftext|>" as the last one. Source: Radford et al. 2019, section 2.2.

    Raises:
        ValueError: if a line is no pair of tokens that stand above it.
    """
    hidden = range(256, 256 + 256 - len(_VISIBLE))
    ids = {chr(code): k for k, code in enumerate((*_VISIBLE, *hidden))}
    pairs = []
    for number, line in enumerate(merges.splitlines(), 1):
        if not line or line.startswith("#version"):
            continue
        left, _, right = line.partition(" ")
        if left not in ids or right not in ids:
            raise ValueError(
                "each line must hold two known tokens with a space between, "
                f"got {line!r} in line {number}"
            )
        pairs.append((ids[left], ids[right]))
        ids[left + right] = 255 + len(pairs)
    return Tokenizer(tuple(pairs), ("<|endoftext|>",), GPT2_ALPHABET)
