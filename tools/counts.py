"""Read from a tool's own last words how many tests ran."""

from __future__ import annotations

import re
from collections import Counter

PYTEST_SUMMARY = re.compile(r"^=* ?(\d+ \w+(?:, \d+ \w+)*) in [\d.:]+s")
PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|skipped|error|errors|xfailed|xpassed)")
NODE_COUNT = re.compile(r"^(?:ℹ|#) (pass|fail|cancelled|skipped|todo) (\d+)$")
WORDS = {
    "pass": "passed",
    "fail": "failed",
    "cancelled": "failed",
    "error": "failed",
    "errors": "failed",
    "xpassed": "failed",  # strict
    "xfailed": "skipped",
    "todo": "skipped",
}


def count_line(line: str) -> Counter[str]:
    """Return how many passed, failed and were skipped, if this line says so."""
    counts: Counter[str] = Counter()
    if node := NODE_COUNT.match(line):
        counts[WORDS.get(node[1], node[1])] += int(node[2])
    elif summary := PYTEST_SUMMARY.match(line):
        for number, word in PYTEST_COUNT.findall(summary[1]):
            counts[WORDS.get(word, word)] += int(number)
    return counts
