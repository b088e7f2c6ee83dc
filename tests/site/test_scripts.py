"""What the theme's scripts do no longer."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from booksite import scripts


def test_the_themes_script_measures_no_block(book: Path) -> None:
    text = (book / "_static/scripts/pydata-sphinx-theme.js").read_text()
    assert "theme-switch-button" in text  # what else it does is there
    assert scripts.MEASURES.search(text) is None
    assert 'addEventListener("load"' not in text


def test_another_theme_s_script_ends_the_build(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scripts, "MEASURES", re.compile("no such code"))
    with pytest.raises(ExtensionError, match=r"in one place, found 0: adapt MEASURES"):
        scripts.calm(SimpleNamespace(outdir=tmp_path), None)
    assert [*tmp_path.iterdir()] == []
