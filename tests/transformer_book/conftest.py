"""After the tests: how many wrong solutions each check found."""

from collections import Counter


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for report in terminalreporter.stats.get("passed", []):
        if report.when == "call":
            counts.update(pair for pair in report.user_properties if pair[0] in COLUMNS)
    names = sorted({name for _, name in counts})
    if names:
        terminalreporter.section("checks: " + ", ".join(COLUMNS.values()))
    for name in names:
        numbers = "".join(f"{counts[column, name]:4}" for column in COLUMNS)
        terminalreporter.write_line(f"{name:28}{numbers}")


COLUMNS = {
    "killed": "wrong solutions found",
    "named": "their mistake named",
    "accepted": "right solutions passed",
}
