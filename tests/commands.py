"""Runs commands for tests, whatever becomes of them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; what it says is kept as text."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def run_python(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the Python of the tests."""
    return run(sys.executable, *arguments, **options)


def says(*command: object, **options: Any) -> str:
    """Run a command, which must end well; return what it prints."""
    done = run(*command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python_says(*arguments: object, **options: Any) -> str:
    """Run the Python of the tests, which must end well; return what it prints."""
    return says(sys.executable, *arguments, **options)


def commit_all(folder: Path, message: str, day: str = "2001-02-03") -> None:
    """Commit all files of a folder on that day; it becomes a git repository."""
    who = ("-c", "user.name=nobody", "-c", "user.email=nobody@book.example")
    when = {"GIT_COMMITTER_DATE": f"{day}T12:00:00+0000", "PATH": os.environ["PATH"]}
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", message]):
        says("git", *words, cwd=folder, env=when)
