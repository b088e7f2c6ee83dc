"""The tokenizer: merges, special tokens and an alphabet, and nothing else."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from transformer_lib.tokens import files
from transformer_lib.tokens.bpe import Pair, WordIds, learn_merges, split_words

BYTES = tuple(range(256))


@dataclass(frozen=True, repr=False)
class Tokenizer:
    """Byte-level BPE: ids 0 to 255 are bytes, then come merges, then special tokens.

    Every text can be encoded and comes back byte for byte. ``merges`` are in the
    order in which they were learned; ``alphabet`` holds the bytes in the order of
    their ids. Source: Radford et al. 2019, section 2.2.

    Raises:
        ValueError: if a merge joins unknown ids or makes no new token, a special
            token is empty or double, or a byte is missing in the alphabet.
    """

    merges: tuple[Pair, ...]
    special_tokens: tuple[str, ...] = ()
    alphabet: tuple[int, ...] = BYTES

    def __post_init__(self) -> None:
        broken = broken_rules(self.merges, self.special_tokens, self.alphabet)
        if found := list(islice(broken, 5)):
            raise ValueError(f"a tokenizer must keep its rules: {'; '.join(found)}")

    def __repr__(self) -> str:
        special = self.special_tokens
        return f"Tokenizer(vocab_size={self.vocab_size}, special_tokens={special})"

    @classmethod
    def train(
        cls,
        text: str,
        vocab_size: int,
        *,
        special_tokens: tuple[str, ...] = (),
        alphabet: tuple[int, ...] = BYTES,
    ) -> "Tokenizer":
        """Learn as many merges as fit into the vocabulary.

        Raises:
            ValueError: if there is no text, or too little for this vocabulary, or if
                the vocabulary is too small for the bytes and the special tokens.
        """
        bare = cls((), special_tokens, alphabet)
        if type(vocab_size) is not int or vocab_size < bare.vocab_size:
            raise ValueError(
                "vocab_size must be an integer, at least 256 bytes + "
                f"{len(special_tokens)} special tokens, got {vocab_size!r}"
            )
        words = Counter(split_words(text))
        if not words:
            raise ValueError("there must be a text to learn from, got an empty one")
        table = bare._id_of_byte
        counts = {tuple(w.encode().translate(table)): n for w, n in words.items()}
        merges = learn_merges(counts, vocab_size - bare.vocab_size)
        return cls(tuple(merges), special_tokens, alphabet)

    @property
    def vocab_size(self) -> int:
        """The number of ids."""
        return 256 + len(self.merges) + len(self.special_tokens)

    @property
    def padded_vocab_size(self) -> int:
        """The multiple of 64 that the ids fit into: often faster on accelerators."""
        return -(-self.vocab_size // 64) * 64

    @property
    def special_ids(self) -> dict[str, int]:
        """The id of each special token."""
        first = 256 + len(self.merges)
        return {name: first + k for k, name in enumerate(self.special_tokens)}

    def special(self, name: str) -> int:
        """Return the id of a special token, which `encode` never returns.

        Raises:
            ValueError: if the tokenizer has no special token of this name.
        """
        if name not in self.special_ids:
            raise ValueError(
                f"the name must be one of {self.special_tokens}, got {name!r}"
            )
        return self.special_ids[name]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        The name of a special token is a text like any other here, so nobody can
        smuggle one in: add `special` ids yourself.

        Raises:
            ValueError: if the text is no str, or holds a lone surrogate.
        """
        ids_of_word = self._words.__getitem__
        return list(chain.from_iterable(map(ids_of_word, split_words(text))))

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of the ids; bytes that are no UTF-8 become "\\ufffd".

        A model may well end in the middle of a character: `decode_bytes` is exact.

        Raises:
            ValueError: if there is no such id.
        """
        return self.decode_bytes(ids).decode(errors="replace")

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of the ids; a special token is written by its name.

        Raises:
            ValueError: if there is no such id.
        """
        try:
            return b"".join(map(self._tokens.__getitem__, ids))
        except (KeyError, TypeError) as error:
            last = self.vocab_size - 1
            raise ValueError(
                f"ids must be integers from 0 to {last}, got {error}; "
                "a tensor becomes a list of them by tokens.tolist()"
            ) from error

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes that one id stands for.

        Raises:
            ValueError: if there is no such id.
        """
        return self.decode_bytes([token])

    def save(self, path: str | Path) -> None:
        """Write the tokenizer as JSON; the module `files` describes it."""
        files.write(path, {field: getattr(self, field) for field in files.FIELDS})

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Read what `save` wrote.

        Raises:
            ValueError: if the file holds anything else; the message says all of it.
        """
        fields = files.read(path)
        try:
            return cls(**fields)
        except ValueError as error:
            raise ValueError(
                f"a tokenizer file must hold a tokenizer, got {path}: {error}"
            ) from None

    @cached_property
    def _id_of_byte(self) -> bytes:
        return bytes(self.alphabet.index(byte) for byte in BYTES)

    @cached_property
    def _tokens(self) -> dict[int, bytes]:
        """The bytes of each id; a dictionary, for a list would take negative ids."""
        tokens = [bytes([byte]) for byte in self.alphabet]
        for left, right in self.merges:
            tokens.append(tokens[left] + tokens[right])
        tokens += [name.encode() for name in self.special_tokens]
        return dict(enumerate(tokens))

    @cached_property
    def _words(self) -> WordIds:
        new_ids = {pair: 256 + rank for rank, pair in enumerate(self.merges)}
        return WordIds(self._id_of_byte, new_ids)


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
