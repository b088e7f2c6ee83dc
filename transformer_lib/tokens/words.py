"""A memory of words: texts repeat them, so each is worked out once."""

from collections.abc import Mapping

from transformer_lib.tokens.steps import Pair, apply_merges

MOST_WORDS, LONGEST_WORD = 2**16, 2**8


class WordIds(dict[str, list[int]]):
    """The ids of words, worked out when first asked for, and forgotten when too many.

    ``id_of_byte`` is a table for `bytes.translate`.
    """

    def __init__(self, id_of_byte: bytes, new_ids: Mapping[Pair, int]) -> None:
        super().__init__()
        self.id_of_byte = id_of_byte
        self.new_ids = new_ids

    def __missing__(self, word: str) -> list[int]:
        ids = apply_merges(word.encode().translate(self.id_of_byte), self.new_ids)
        if len(self) >= MOST_WORDS:
            self.clear()
        if len(word) <= LONGEST_WORD:
            self[word] = ids
        return ids
