"""Runs commands for tests, whatever becomes of them."""

import subprocess
import sys
from typing import Any


def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it says is kept as text."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def run_python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the Python of the tests."""
    return run(sys.executable, *arguments, **options)
