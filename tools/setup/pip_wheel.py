"""Bring pip where Python came without it, as Debian's does without python3-venv."""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import urllib.error
import urllib.request
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

from tools.setup.saying import SetupError

WHEEL = "pip-26.3-py3-none-any.whl"
SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
MOST = 8_000_000  # bytes that are read of an answer; the wheel has 2,000,000
ANYWAY = "or install python3-venv"


def index_url() -> str:
    """Return the package index that pip would use."""
    return os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")


def contexts() -> list[ssl.SSLContext]:
    """Return TLS settings to try: the usual certificates, then none at all.

    A fresh Debian has no certificates. To go without is safe here because the
    file's SHA-256 is known beforehand.
    """
    named = os.environ.get("PIP_CERT", "")
    bundle = named if Path(named).is_file() else None
    unverified = ssl.create_default_context()
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE
    return [ssl.create_default_context(cafile=bundle), unverified]


def no_longer(content: bytes, url: str) -> bytes:
    """Return the content, of which one byte more than `MOST` was read at most."""
    if len(content) > MOST:
        raise SetupError(
            f"{url} must have {MOST:,} bytes at most, got more; "
            f"use another index {ANYWAY}"
        )
    return content


def fetch(url: str) -> bytes:
    """Return what an address holds.

    Raises:
        SetupError: it could not be read, or is longer than anything that is wanted.
    """
    request = urllib.request.Request(url, headers={"Accept": "text/html, */*"})
    problem = ""
    for context in contexts():
        try:
            with urllib.request.urlopen(request, timeout=60, context=context) as page:
                return no_longer(page.read(MOST + 1), url)
        except (urllib.error.URLError, OSError) as error:
            problem = str(getattr(error, "reason", error))
    raise SetupError(
        f"the package index could not be reached ({url}: {problem}); "
        f"check the network or PIP_INDEX_URL and run the command again, {ANYWAY}"
    )


def wheel_url(page: str, base: str) -> str:
    """Return the wheel's address on the index's page about pip.

    Raises:
        SetupError: the page does not list it.
    """
    for link in re.findall(r"href=[\"']([^\"']+)[\"']", page):
        if WHEEL in link:
            return urljoin(base, unescape(link).split("#")[0])
    raise SetupError(f"{base} does not offer {WHEEL}; use another index {ANYWAY}")


def fetch_pip(folder: Path) -> Path:
    """Put the pinned pip wheel into `folder`.

    Raises:
        SetupError: it could not be fetched, or is not the file that was pinned.
    """
    page = f"{index_url()}/pip/"
    content = fetch(wheel_url(fetch(page).decode("utf-8", "replace"), page))
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise SetupError(
            f"{WHEEL} must have SHA-256 {SHA256}, got {found}; "
            f"use another index {ANYWAY}"
        )
    wheel = folder / WHEEL
    wheel.write_bytes(content)
    return wheel
