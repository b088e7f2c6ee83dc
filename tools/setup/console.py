"""One way to fail, and one way to run a tool and to know its last words."""

from __future__ import annotations

import os
import subprocess
from collections import deque
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Settings of the caller that would install somewhere else than into .venv.
STRAY = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER")
WORTH_SHOWING = ("Collecting ", "Downloading ", "Installing ", "added ")
# How pip and npm say that they cannot tell who answers them.
NO_CERTIFICATE = (
    *("CERTIFICATE_VERIFY_FAILED", "TLS CA certificate bundle"),
    *("UNABLE_TO_GET_ISSUER_CERT", "SELF_SIGNED_CERT", "UNABLE_TO_VERIFY_LEAF"),
)


class SetupError(Exception):
    """What went wrong and what to do, in one line for the reader."""


class ToolError(Exception):
    """A tool ended with an error; `output` holds its last lines."""

    def __init__(self, output: list[str]) -> None:
        super().__init__("\n".join(output))
        self.output = output


def certificate(name: str) -> str:
    """Return what to do where a certificate could not be checked."""
    return (
        "the certificate of the package index could not be checked; run `apt-get "
        f"install ca-certificates` (Debian), or set {name} to the file with your "
        "network's own certificate, and run the command again"
    )


def explained(
    error: ToolError, tool: str, begin: str, reasons: dict[tuple[str, ...], str]
) -> SetupError:
    """Turn a tool's last words into one line that says what to do."""
    for signs, words in reasons.items():
        if any(sign in str(error) for sign in signs):
            return SetupError(words)
    said = [line for line in error.output if line.startswith(begin)]
    quoted = "; ".join(said[:2] or error.output[-1:] or ["no output"])
    return SetupError(f"{tool} failed: {quoted}; mend that and run the command again")


def say(line: str) -> None:
    """Print one line at once, also into a pipe."""
    print(f"set-up: {line}", flush=True)


def clean_environment(venv: Path) -> dict[str, str]:
    """Return the environment of pip and npm: .venv first, no stray targets."""
    kept = {name: text for name, text in os.environ.items() if name not in STRAY}
    kept["PATH"] = os.pathsep.join([str(venv / "bin"), kept.get("PATH", "")])
    kept["PYTHONNOUSERSITE"] = "1"
    return kept


def watch(
    command: list[str], env: dict[str, str], on_line: Callable[[str], object]
) -> int:
    """Run in the project's root, hand over each line as it comes; the exit status."""
    with subprocess.Popen(
        command,
        cwd=str(ROOT),
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            on_line(line.rstrip("\n"))
    return process.returncode


def run_tool(command: list[str], env: dict[str, str]) -> None:
    """Run a tool and show its progress.

    Raises:
        ToolError: the tool failed.
    """
    last: deque[str] = deque(maxlen=300)

    def show(line: str) -> None:
        last.append(line.rstrip())
        if line.strip().startswith(WORTH_SHOWING):
            print(f"  {line.strip():.100}", flush=True)

    if watch(command, env, show):
        raise ToolError(list(last))
