"""Bring the browser assets by npm, with the Node that pip installed."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.setup.console import (
    NO_CERTIFICATE,
    ToolError,
    certificate,
    clean_environment,
    explained,
    run_tool,
    say,
)

REASONS = {
    ("can only install packages when your package.json", "EUSAGE"): (
        "package-lock.json must agree with package.json, and does not; run "
        "`.venv/bin/npm install --package-lock-only` and commit the lock file"
    ),
    NO_CERTIFICATE: certificate("npm_config_cafile"),
    (
        *("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT"),
        "network request",
    ): (
        "the npm registry could not be reached; check the network, a proxy or "
        "npm_config_registry, and run the command again"
    ),
}


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
        raise explained(error, "npm", "npm error ", REASONS) from None
