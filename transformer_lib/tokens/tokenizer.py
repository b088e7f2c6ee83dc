"""The tokenizer: merges, special tokens and an alphabet, and nothing else."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

from transformer_lib.tokens import files
from transformer_lib.tokens.rules import broken_rules
from transformer_lib.tokens.steps import Pair, split_words
from transformer_lib.tokens.training import learn_merges
from transformer_lib.tokens.words import WordIds

BYTES = tuple(range(256))


@dataclass(frozen=True, repr=False)
class Tokenizer:
    """Byte-level BPE: ids 0 to 255 are bytes, then come merges, then special tokens.

    Every text can be encoded and comes back byte for byte. ``merges`` stand in the
    order they were learned; ``alphabet`` holds the bytes in the order of their ids.
    Source: Radford et al. 2019, section 2.2.

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
        """Learn as many merges as the vocabulary has room for.

        Raises:
            ValueError: if there is no text, or too little for this vocabulary, or if
                the vocabulary is too small for the bytes and the special tokens.
        """
        bare = cls((), special_tokens, alphabet)
        if type(vocab_size) is not int or vocab_size < bare.vocab_size:
            raise ValueError(
                "vocab_size must be a whole number, at least 256 bytes + "
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
        """The multiple of 64 that the ids fit into: faster on accelerators."""
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
                f"ids must be whole numbers from 0 to {last}, got {error}; "
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
