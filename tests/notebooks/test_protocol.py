"""The page of speeds shows what the benchmarks wrote: every ratio, and no other."""

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "chapters/benchmark_protocol.md"
RESULTS = ROOT / "benchmarks/results"
HEAD = "|---|---|---|---|---|"


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
