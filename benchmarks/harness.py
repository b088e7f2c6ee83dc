"""How every figure is taken: in turn, many times, and told with its spread."""

from __future__ import annotations

import json
import os
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

RESULTS = Path(__file__).parent / "results"
PEERS = ("torch", "transformers", "tokenizers", "x-transformers")
SECONDS = 20
Action = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """Times of one action in seconds, and how much work each one was."""

    times: list[float]
    work: float
    unit: str

    @property
    def median(self) -> float:
        return statistics.median(self.times)


@dataclass
class Report:
    """One benchmark: rows, ratios between them, and where they were taken."""

    name: str
    about: str
    rows: dict[str, Row] = field(default_factory=dict)
    ratios: dict[str, dict[str, float]] = field(default_factory=dict)
    facts: dict[str, float | str] = field(default_factory=dict)

    def time(
        self,
        actions: Mapping[str, Action],
        work: float | Mapping[str, float],
        unit: str,
        *,
        repeats: int,
        warmup: int = 2,
    ) -> None:
        """Time all actions in turn; each does so much work, or its own amount."""
        timed = rounds(actions, repeats=repeats, warmup=warmup)
        amounts = work if isinstance(work, Mapping) else dict.fromkeys(actions, work)
        self.rows = {
            name: Row(times, amounts[name], unit) for name, times in timed.items()
        }

    def compare(self, title: str, ours: str, theirs: str) -> None:
        """Tell how many times faster ours is, round by round.

        Both were timed one after the other in each round, so what slowed the machine
        down in that round slowed down both.
        """
        per_work = [
            (b / self.rows[theirs].work) / (a / self.rows[ours].work)
            for a, b in zip(self.rows[ours].times, self.rows[theirs].times, strict=True)
        ]
        low, middle, high = quartiles(per_work)
        self.ratios[title] = {"median": middle, "lower": low, "upper": high}

    def limit(self, bytes_read: Mapping[str, float], probes: Mapping[str, int]) -> None:
        """Tell each row's share of the speed at which this run could read memory.

        A row must read so many bytes. The probes, also rows, do nothing but read.
        """
        speed = max(size / self.rows[name].median for name, size in probes.items())
        self.facts["GB/s of the limit"] = round(speed / 1e9, 2)
        for name, size in bytes_read.items():
            share = size / speed / self.rows[name].median
            self.facts[f"share of the limit, {name}"] = round(share, 3)


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, middle, high


@contextmanager
def browser_page(slower: int) -> Iterator[Any]:
    """Open a page in a browser whose processor is slowed down so many times."""
    from tools.chromium import find_chromium, start_chromium

    program = find_chromium()
    assert program, "no Chromium found; set CHROMIUM=/path/to/chromium"
    with start_chromium(program) as browser:
        page = browser.new_page()
        session = page.context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        yield page


def synchronize() -> None:
    """Wait until the accelerator, if there is one, has done its work."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def rounds(
    actions: Mapping[str, Action], *, repeats: int, warmup: int = 2
) -> dict[str, list[float]]:
    """Time all actions in turn, again and again; the first rounds do not count.

    Slow actions get fewer rounds: none begins after `SECONDS`, once there are five.
    """
    times: dict[str, list[float]] = {name: [] for name in actions}
    began = time.perf_counter()
    for turn in range(warmup + repeats):
        if turn == warmup:
            began = time.perf_counter()
        if turn >= warmup + 5 and time.perf_counter() - began > SECONDS:
            break
        for name, action in actions.items():
            synchronize()
            start = time.perf_counter()
            action()
            synchronize()
            if turn >= warmup:
                times[name].append(time.perf_counter() - start)
    return times


def machine() -> dict[str, str | int | float]:
    """Say where and with what the figures were taken."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {
        "date": time.strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "processor": names[0] if names else platform.machine(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "load before": os.getloadavg()[0],
        "gpu": gpu,
        **{name: version(name) for name in PEERS if find_spec(name.replace("-", "_"))},
    }


def publish(report: Report, where: Mapping[str, str | int | float]) -> None:
    """Print the table, write it as JSON, and draw it; a GPU's runs are named by it."""
    if where["gpu"] != "none":
        report = replace(report, name=f"{report.name}, {where['gpu']}")
    print(f"\n## {report.name}\n{report.about}\n")
    for name, row in report.rows.items():
        low, middle, high = (1000 * t for t in quartiles(row.times))
        rate = row.work / row.median
        print(
            f"{name:46}{middle:10.2f} ms  [{low:.2f}, {high:.2f}]"
            f"{rate:12.4g} {row.unit}/s  ({len(row.times)} rounds)"
        )
    for title, ratio in report.ratios.items():
        print(
            f"{title:46}{ratio['median']:10.2f} x   "
            f"[{ratio['lower']:.2f}, {ratio['upper']:.2f}]"
        )
    for title, fact in report.facts.items():
        print(f"{title:46}{fact:>14}")
    RESULTS.mkdir(exist_ok=True)
    content = {"machine": dict(where), **asdict(report)}
    path = RESULTS / f"{re.sub(r'[^a-z0-9]+', '-', report.name.lower())}.json"
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if report.rows:
        draw(report, path.with_suffix(".png"))


def draw(report: Report, path: Path) -> None:
    """Draw the median of each row with its quartiles."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 0.5 + 0.4 * len(report.rows)))
    for place, row in enumerate(reversed(report.rows.values())):
        low, middle, high = (row.work / t for t in quartiles(row.times))
        axes.barh(place, middle, color="#2b6cb0")
        axes.plot([high, low], [place, place], color="black")
    axes.set_yticks(range(len(report.rows)), list(reversed(report.rows)))
    axes.set_xlabel(f"{next(iter(report.rows.values())).unit} per second")
    axes.set_title(report.name)
    figure.savefig(path, bbox_inches="tight", dpi=110, metadata={"Software": None})
    plt.close(figure)
