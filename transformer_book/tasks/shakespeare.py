"""Tiny Shakespeare: the one text that must be fetched, once."""

import hashlib
import os
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib import request

from transformer_lib.tokens.files import write_whole

URL = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/"
    "master/data/tinyshakespeare/input.txt"
)
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
N_BYTES = 1_115_394
"""Not a byte more is read from the network."""

Open = Callable[[str], IO[bytes]]


def shakespeare_text(
    folder: Path | None = None, *, open_url: Open | None = None
) -> str:
    """Return a million characters of Shakespeare's plays.

    The file lies in ``folder``, by default in the user's cache, and is fetched if it
    does not; its checksum is verified at each call.

    Raises:
        ConnectionError: if the file must be fetched and cannot be.
        ValueError: if what was fetched, or lies there, is another text.
    """
    path = (default_folder() if folder is None else folder) / "tinyshakespeare.txt"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(path, open_https if open_url is None else open_url)
    content = path.read_bytes()
    _check(content, f"the file {path}", f"delete it, or save {URL} in its place")
    return content.decode()


def default_folder() -> Path:
    """Return the library's folder in the user's cache ($XDG_CACHE_HOME, ~/.cache)."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # the XDG specification: a relative path is invalid and must be ignored
    return (base if base.is_absolute() else Path.home() / ".cache") / "transformer_lib"


def open_https(url: str) -> IO[bytes]:
    """Open an https address; a redirection to anything else is an error."""
    return https_opener().open(url, timeout=30)


def https_opener() -> request.OpenerDirector:
    """Return an opener that has no handler for http, ftp or files."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _fetch(path: Path, open_url: Open) -> None:
    """Read no more than can be right, check it, and only then put it in place."""
    by_hand = f"save {URL} as {path} yourself"
    try:
        with open_url(URL) as response:
            content = response.read(N_BYTES + 1)
    except (OSError, HTTPException) as error:
        raise ConnectionError(
            f"tiny Shakespeare must be fetched once, got {error!r}; "
            f"try again with a network, or {by_hand}"
        ) from error
    _check(content, "what was fetched", f"try again, or {by_hand}")
    write_whole(path, content)


def _check(content: bytes, what: str, remedy: str) -> None:
    """Refuse every other text."""
    checksum = hashlib.sha256(content).hexdigest()
    if checksum != SHA256:
        raise ValueError(
            f"{what} must be {N_BYTES} bytes with SHA-256 {SHA256}, "
            f"got {len(content)} bytes (more are not read) with {checksum}; {remedy}"
        )
