"""Where the book's repository is: the one place that buttons and notebooks ask.

The address is COURSE_REPO_URL, else that of the GitHub run, else `repository` in
`_config.yml`; the branch or tag likewise. Where no address is known there is none:
the book then shows nothing that would need one.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

SETTINGS = Path(__file__).parents[1] / "_config.yml"
ADDRESS = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~-]+)+")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/-]*")
NO_BRANCH = re.compile(r"\.\.|//|[./]$|\.lock$")
MERGE_OF_A_PULL_REQUEST = re.compile(r"[0-9]+/merge")
COLAB, GITHUB = "https://colab.research.google.com", "https://github.com/"
BINDER = "https://mybinder.org"
REMEDY = "mend COURSE_REPO_URL and COURSE_REPO_REF, or `repository` in _config.yml"


@dataclass(frozen=True)
class Repository:
    """A repository's address, and the branch or tag that is published.

    Raises:
        ValueError: one of the two is missing or cannot be one.
    """

    url: str
    ref: str

    def __post_init__(self) -> None:
        if not ADDRESS.fullmatch(self.url):
            raise ValueError(
                "the repository's address must be https://<host>/<path> in plain "
                f"letters, got {self.url!r}; {REMEDY}"
            )
        if not NAME.fullmatch(self.ref) or NO_BRANCH.search(self.ref):
            raise ValueError(
                "the repository's branch or tag must be a name that git knows in "
                f"plain letters, got {self.ref!r}; {REMEDY}"
            )

    @property
    def stamp(self) -> str:
        """Address and name in one, as pip reads them after `git+`."""
        return f"{self.url}@{self.ref}"

    def on_github(self, path: str, ref: str = "") -> str | None:
        """The page of a file, as published or at another branch, tag or HEAD."""
        on_github = self.url.startswith(GITHUB)
        return f"{self.url}/blob/{ref or self.ref}/{path}" if on_github else None

    def in_colab(self, path: str) -> str | None:
        """Where Colab opens a notebook; it opens what is on GitHub, and no other."""
        page = self.on_github(path)
        return page and f"{COLAB}/github/{page.removeprefix(GITHUB)}"


def of_github_run(environment: Mapping[str, str]) -> tuple[str, str]:
    """Address and name that a run on GitHub knows; empty elsewhere."""
    path = environment.get("GITHUB_REPOSITORY", "")
    server = environment.get("GITHUB_SERVER_URL", "") or GITHUB
    name = environment.get("GITHUB_REF_NAME", "")
    if MERGE_OF_A_PULL_REQUEST.fullmatch(name):  # nobody can fetch it by this name
        name = environment.get("GITHUB_SHA", "")
    return (f"{server.rstrip('/')}/{path}", name) if path else ("", "")


def chosen(
    environment: Mapping[str, str], settings: Mapping[str, str]
) -> Repository | None:
    """The repository that the environment names, else the settings; or none.

    Raises:
        ValueError: there is a name without an address, or one of the two is bad.
    """
    of_run, name_of_run = of_github_run(environment)
    url = environment.get("COURSE_REPO_URL") or of_run or settings.get("url") or ""
    same = of_run and url.rstrip("/") == of_run
    name = environment.get("COURSE_REPO_REF") or (name_of_run if same else "")
    name = name or settings.get("branch") or ""
    if not url and not name:
        return None
    return Repository(url.rstrip("/").removesuffix(".git"), name)


def find_repository() -> Repository | None:
    """The repository of this book, if it is known."""
    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    return chosen(os.environ, settings.get("repository") or {})
