"""Bring the browser assets by npm, with the Node that pip installed."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.setup.console import (
    SetupError,
    ToolError,
    clean_environment,
    explain_certificate,
    run_tool,
    say,
)

OUT_OF_STEP = ("can only install packages when your package.json", "EUSAGE")
NO_REGISTRY = (
    *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT"),
    "network request",
)


def explained(error: ToolError) -> SetupError:
    """Turn npm's last words into one line that says what to do."""
    text = str(error)
    if any(sign in text for sign in OUT_OF_STEP):
        return SetupError(
            "package-lock.json must agree with package.json, and does not; run "
            "`.venv/bin/npm install --package-lock-only` and commit the lock file"
        )
    if certificate := explain_certificate(error, "npm_config_cafile"):
        return certificate
    if any(sign in text for sign in NO_REGISTRY):
        return SetupError(
            "the npm registry could not be reached; check the network, a proxy or "
            "npm_config_registry, and run the command again"
        )
    words = [line for line in error.output if line.startswith("npm error ")]
    quoted = "; ".join((words or error.output or ["no output"])[:2])
    return SetupError(f"npm failed: {quoted}; mend that and run the command again")


def bring_assets(venv: Path, modules: Path) -> None:
    """Install exactly what package-lock.json names, in place of what was there.

    Raises:
        SetupError: with the reason and what to do; no `node_modules` is left then.
    """
    say("installing the browser assets")
    npm = [str(venv / "bin/npm"), "ci", "--no-audit", "--no-fund"]
    try:
        run_tool([*npm, "--fetch-retries=1"], clean_environment(venv))
    except ToolError as error:
        shutil.rmtree(str(modules), ignore_errors=True)
        raise explained(error) from None
