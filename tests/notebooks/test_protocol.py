"""The page of speeds shows what the benchmarks wrote: every ratio, and no other."""

import json
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "chapters/benchmark_protocol.md"
RESULTS = ROOT / "benchmarks/results"
FIGURES = list((ROOT / "transformer_book/figures/static").glob("*.mjs"))
HEAD = "|---|---|---|---|---|"
SLOWER = "figures-repaint-processor-4-times-slower"
LIMITS = [  # file, beginning of a row, what the page calls it, milliseconds
    ("figures-repaint", "", "A repaint, the slowest of 14 figures", 16),
    (
        "figures-alive-processor-4-times-slower",
        "",
        "A figure alive after the page was asked for, the slowest, "
        "processor 4 times slower",
        1000,
    ),
    ("page", "Chromium: manual-lm, a step", "A step of `manual-lm` with the cache", 10),
    ("page", "Chromium: manual-lm, prefill", "Its prefill of 64 tokens", 100),
]


def slowest(file, beginning):
    """Return the largest median in milliseconds, and the day of the run."""
    found = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))
    rows = {k: row for k, row in found["rows"].items() if k.startswith(beginning)}
    medians = [1000 * statistics.median(row["times"]) for row in rows.values()]
    return max(medians), found["machine"]["date"]


@pytest.mark.parametrize(("file", "beginning", "what", "limit"), LIMITS)
def test_what_runs_in_the_page_keeps_its_limits(file, beginning, what, limit):
    median, day = slowest(file, beginning)
    assert median <= limit
    assert f"| {what} | {limit:,} | {median:.1f} | {day} |" in PAGE.read_text("utf-8")


def test_only_figures_that_exist_were_timed():
    for file in ("figures-repaint", SLOWER):
        rows = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))["rows"]
        timed = {row.split(",")[0] for row in rows}
        assert timed <= {path.stem for path in FIGURES}
        assert len(timed) == 14  # as the page says


def test_slower_repaints_are_said():
    median, _ = slowest(SLOWER, "")
    assert f"the slowest repaint takes {median:.1f} ms" in PAGE.read_text("utf-8")


def test_every_ratio_is_that_of_the_last_run():
    lines = PAGE.read_text("utf-8").split(HEAD)[1].strip().split("\n\n")[0]
    expected = [
        f"| {found['name']} | {title} | {ratio['median']:.2f} "
        f"| {ratio['lower']:.2f} to {ratio['upper']:.2f} "
        f"| {found['machine']['date']} |"
        for found in (json.loads(path.read_text()) for path in RESULTS.glob("*.json"))
        for title, ratio in found["ratios"].items()
    ]
    assert len(expected) > 20
    assert sorted(lines.splitlines()) == sorted(expected)


def test_chapter_12_says_what_the_last_run_found():
    chapter = (ROOT / "chapters/12_cache.ipynb").read_text("utf-8")
    found = json.loads((RESULTS / "generation.json").read_text("utf-8"))
    assert "more than three times as fast with the cache" in chapter
    assert found["ratios"]["cached / uncached"]["lower"] > 3
