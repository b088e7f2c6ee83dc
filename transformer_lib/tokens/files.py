"""A tokenizer as a file: JSON that any language reads in a few lines.

``{"format": "byte-level BPE, version 1", "alphabet": [0, 1, ...],
"merges": [[116, 104], ...], "special_tokens": ["<end>"]}``

``alphabet`` lists the 256 bytes by their ids. The k-th merge joins its two ids to
the id 256 + k, and the special tokens take the ids behind the last merge. Words are
split as `split_words` does; in other languages its pattern reads
``'(?:s|t|re|ve|m|ll|d)| ?\\p{L}+| ?\\p{N}+| ?[^\\p{White_Space}\\p{L}\\p{N}]+``
``|\\p{White_Space}+(?!\\P{White_Space})|\\p{White_Space}+``.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMAT = "byte-level BPE, version 1"
FIELDS = ("merges", "special_tokens", "alphabet")


def write(path: str | Path, fields: Mapping[str, object]) -> None:
    """Write the fields to a file."""
    write_whole(path, json.dumps({"format": FORMAT, **fields}).encode())


def write_whole(path: str | Path, content: bytes) -> None:
    """Write all of a file or nothing: an old one stays until the new one is on disk."""
    unfinished = Path(f"{path}.partial")
    try:
        unfinished.write_bytes(content)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: str | Path) -> dict[str, Any]:
    """Return the fields, lists as tuples.

    Raises:
        ValueError: if the file is no JSON object of this format with these fields.
    """
    try:
        saved = json.loads(Path(path).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"a tokenizer file must be JSON, got {path}: {error}"
        ) from None
    got = sorted(saved) if isinstance(saved, dict) else type(saved).__name__
    if got != sorted(("format", *FIELDS)):
        raise ValueError(
            f"a tokenizer file must hold format, {', '.join(FIELDS)} and nothing "
            f"else, got {got} in {path}"
        )
    if saved["format"] != FORMAT:
        raise ValueError(
            f"the format must be {FORMAT!r}, got {saved['format']!r} in {path}"
        )
    return {field: _frozen(saved[field]) for field in FIELDS}


def _frozen(value: Any) -> Any:
    """Return a list as a tuple, and the lists in it as well."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
