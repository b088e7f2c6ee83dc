"""The runner goes on after a failure, counts truthfully and names what is red."""

import sys
from collections import Counter
from dataclasses import replace

import pytest

from tools import test as runner
from tools.stages import (
    NIGHTLY,
    ROOT,
    Stage,
    folders_of_tests,
    joined,
    plain,
    stages,
)
from tools.test import Outcome, count_line, run_stage, summarize


def stage(code: str, *, counts_tests: bool = True, group: str = "x") -> Stage:
    return Stage(group, "trial", [sys.executable, "-c", code], plain, counts_tests)


LAST_LINES = {
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
SAY = "print('=== 2 passed, 1 skipped in 0.1s ===')"


@pytest.mark.parametrize(
    ("code", "counts_tests", "expected"),
    [
        (SAY, True, {"passed": 2, "skipped": 1}),
        (f"{SAY}; exit(1)", True, {"passed": 2, "skipped": 1, "failed": 1}),
        ("pass", True, {"failed": 1}),  # a stage that tested nothing is no success
        ("exit(5)", True, {"failed": 1}),
        ("print('=== 3 failed in 0.1s ==='); exit(1)", True, {"failed": 3}),
        ("pass", False, {"passed": 1}),
        ("exit(1)", False, {"failed": 1}),
    ],
)
def test_outcome_of_a_stage(code, counts_tests, expected):
    outcome = run_stage(stage(code, counts_tests=counts_tests))
    assert +outcome.counts == Counter(expected)
    assert outcome.failed == ("failed" in expected)


def test_summary_ends_with_verdict_and_sum(capsys):
    good = Outcome(stage(""), Counter(passed=4, skipped=1), 1.0)
    bad = Outcome(Stage("y", "bad one", [], plain), Counter(passed=2, failed=3), 2.0)
    summarize([good, bad])
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "RED: bad one",
        "6 passed, 3 failed, 1 skipped",
    ]
    summarize([good])
    assert "GREEN" in capsys.readouterr().out.splitlines()[-2]


def test_summary_says_so_when_the_network_was_not_cut(capsys, monkeypatch):
    outcome = Outcome(stage("", group="notebooks"), Counter(passed=1), 1.0)
    monkeypatch.setattr(runner, "offline_prefix", lambda: ["unshare"])
    summarize([outcome])
    assert "NOTE" not in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "")  # without unshare
    summarize([outcome])
    assert "ran WITH the network" in capsys.readouterr().out


@pytest.mark.parametrize(("second", "code"), [("pass", 0), ("exit(1)", 1)])
def test_all_stages_run_after_a_failure(monkeypatch, capsys, second, code):
    trial = [
        stage(second, counts_tests=False),
        Stage("z", "last", [sys.executable, "-c", SAY], plain),
        stage("exit(1)", group=NIGHTLY),  # only when it is asked for
        replace(stage("exit(1)"), needed=lambda: False),  # not on this machine
    ]
    monkeypatch.setattr(runner, "stages", lambda: trial)
    monkeypatch.setattr(sys, "argv", ["test"])
    assert runner.main() == code
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{3 - code} passed")


def test_a_stage_aside_runs_beside_another_and_speaks_at_its_end(tmp_path, capsys):
    ping, pong = (str(tmp_path / name) for name in ("ping", "pong"))
    say = """import pathlib, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
print(mine.name, flush=True)
mine.touch()
end = time.monotonic() + 30
while not other.exists() and time.monotonic() < end: time.sleep(0.01)
print(mine.name, other.exists())"""
    one = stage(say, counts_tests=False)
    pair = [
        replace(one, command=[*one.command, *files], aside=aside)
        for files, aside in (((ping, pong), False), ((pong, ping), True))
    ]
    assert [outcome.failed for outcome in runner.run_all(pair)] == [False, False]
    said = [line for line in capsys.readouterr().out.split("\n") if line[:1] == "p"]
    assert sorted(said) == ["ping", "ping True", "pong", "pong True"]
    assert said.index("pong") + 1 == said.index("pong True")


def test_stages_that_differ_in_folders_only_are_one_run():
    one, other = (Stage("x", n, ["run"], plain, folders=(n,)) for n in "ab")
    between = Stage("x", "build", ["build"], plain)
    both = replace(one, title="a; b", folders=("a", "b"))
    assert joined([one, between, other]) == [between, both]


def test_unknown_group_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["test", "nonsense"])
    assert runner.main() == 2
    assert "got nonsense" in capsys.readouterr().out


def test_every_folder_and_notebook_is_in_some_stage():
    always = [stage for stage in stages() if stage.group != NIGHTLY]
    words = [word for stage in always for word in (*stage.command, *stage.folders)]
    assert {f"tests/{name}" for name in folders_of_tests()} <= set(words)
    assert {str(path) for path in (ROOT / "chapters").glob("*.ipynb")} <= set(words)
    # What one stage leaves out, another runs.
    left_out = {word[9:] for word in words if word.startswith("--ignore=")}
    assert left_out
    assert left_out <= set(words)


def test_no_two_files_of_tests_share_a_name():
    """The nightly run collects all of them, and Python imports a name once."""
    names = [path.name for path in (ROOT / "tests").glob("*/test_*.py")]
    assert len(names) == len({*names})


@pytest.mark.parametrize("line", LAST_LINES)
def test_last_words_of_pytest_and_node_are_counted(line):
    assert +count_line(line) == Counter(LAST_LINES[line])
