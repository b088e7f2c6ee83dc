"""Run all stages but the nightly ones, or groups: `python -m tools.test [GROUP ...]`.

A failure does not end the run: the summary names every stage that failed.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tools.offline import offline_prefix
from tools.setup.console import watch
from tools.stages import NIGHTLY, Stage, joined, stages

NOT_OFFLINE = (
    "NOTE: this system does not let us cut the network off, "
    "so the notebooks ran WITH the network"
)
PYTEST_SUMMARY = re.compile(r"^=* ?(\d+ \w+(?:, \d+ \w+)*) in [\d.:]+s")
PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error|errors|xfailed|xpassed)")
NODE_COUNT = re.compile(r"^(?:ℹ|#) (pass|fail|cancelled|skipped|todo) (\d+)$")
WORDS = {"pass": "passed", "xfailed": "skipped", "todo": "skipped"}
WORDS |= dict.fromkeys(["fail", "cancelled", "error", "errors"], "failed")
WORDS |= {"xpassed": "failed"}  # strict


@dataclass(frozen=True)
class Outcome:
    """What became of a stage."""

    stage: Stage
    counts: Counter[str]
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether anything in it failed."""
        return self.counts["failed"] > 0


def count_line(line: str) -> Counter[str]:
    """Return how many passed, failed and were skipped, if this line says so."""
    counts: Counter[str] = Counter()
    if node := NODE_COUNT.match(line):
        counts[WORDS.get(node[1], node[1])] += int(node[2])
    elif summary := PYTEST_SUMMARY.match(line):
        for number, word in PYTEST_COUNT.findall(summary[1]):
            counts[WORDS.get(word, word)] += int(number)
    return counts


def run_stage(stage: Stage) -> Outcome:
    """Run a stage; one that ends with an error or tests nothing has failed.

    Its words come at once, or at its end where it runs beside the others.
    """
    counts: Counter[str] = Counter()
    words: list[str] = []

    def hear(line: str) -> None:
        counts.update(count_line(line.rstrip()))
        words.append(line)
        if not stage.aside:
            speak()

    def speak() -> None:
        print("\n".join(words), flush=True)
        words.clear()

    started = time.monotonic()
    hear(f"\n━━━ {stage.title} ━━━")
    command = [*(["nice"] if stage.aside else []), *stage.command, *stage.folders]
    code = watch(command, stage.environment(), hear)
    if not stage.counts_tests:
        counts = Counter(passed=int(code == 0))
    if counts["failed"] == 0 and (code or counts["passed"] + counts["skipped"] == 0):
        counts["failed"] = 1
        words.append(f"{stage.title}: exit code {code}, {counts.total() - 1} tests")
    if words:
        speak()
    return Outcome(stage, counts, time.monotonic() - started)


def run_all(chosen: list[Stage]) -> list[Outcome]:
    """Run the stages in order, and those that run aside in their own, meanwhile."""
    with ThreadPoolExecutor(1) as lane:
        aside = lane.map(run_stage, [stage for stage in chosen if stage.aside])
        outcomes = [run_stage(stage) for stage in chosen if not stage.aside]
        return outcomes + list(aside)


def summarize(outcomes: list[Outcome]) -> None:
    """Print a line for each stage, the verdict, and the sum of all tests."""
    print("\n━━━ summary ━━━")
    for outcome in outcomes:
        word = "FAILED" if outcome.failed else "ok"
        of = ", ".join(f"{n} {what}" for what, n in outcome.counts.items() if n)
        title, seconds = outcome.stage.title, outcome.seconds
        print(f"{word:7}{title:55}{seconds:5.0f} s   {of}")
    if any(o.stage.group == "notebooks" for o in outcomes) and not offline_prefix():
        print(NOT_OFFLINE)
    red = [outcome.stage.title for outcome in outcomes if outcome.failed]
    print(f"RED: {'; '.join(red)}" if red else "GREEN: every stage passed")
    total = sum((outcome.counts for outcome in outcomes), Counter())
    skipped = f", {total['skipped']} skipped" if total["skipped"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{skipped}")


def main() -> int:
    """Run what was asked for; 1 if anything failed."""
    groups = list(dict.fromkeys(stage.group for stage in stages()))
    asked = sys.argv[1:] or [group for group in groups if group != NIGHTLY]
    if unknown := set(asked) - set(groups):
        print(f"the groups are {' '.join(groups)}, got {' '.join(sorted(unknown))}")
        return 2
    # Containers often say so; then each of our hundred processes compiles all anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    chosen = [stage for stage in stages() if stage.group in asked and stage.needed()]
    outcomes = run_all(joined(chosen))
    summarize(outcomes)
    return int(any(outcome.failed for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
