"""The record that TrainScrub is shipped with."""

import json
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent / "train_scrub.json"


@cache
def _read() -> dict[str, Any]:
    return json.loads(_FILE.read_text("utf-8"))


def command() -> str:
    """Return the command that made the shipped record."""
    return _read()["command"]


def shipped() -> dict[str, Any]:
    """Return the shipped record, for the reader to change."""
    return json.loads(json.dumps(_read()["record"]))
