"""Counting from the last words of pytest and of Node's test runner."""

from collections import Counter

import pytest

from tools.counts import count_line

LINES = {
    "===== 3 passed in 0.12s =====": {"passed": 3},
    "= 2 failed, 97 passed, 4 skipped, 1 error in 61.20s (0:01:01) =": {
        "failed": 3,
        "passed": 97,
        "skipped": 4,
    },
    "1 failed, 2 passed in 0.3s": {"failed": 1, "passed": 2},
    "== 1 passed, 1 xfailed, 2 warnings in 1.00s ==": {"passed": 1, "skipped": 1},
    "== 5 deselected in 1.00s ==": {},
    "ℹ pass 12": {"passed": 12},
    "# fail 2": {"failed": 2},
    "ℹ cancelled 1": {"failed": 1},
    "ℹ tests 14": {},
    "the cell printed 3 passed": {},
    "no tests ran in 0.00s": {},
}


@pytest.mark.parametrize("line", LINES)
def test_counts_of_a_line(line):
    assert +count_line(line) == Counter(LINES[line])
