"""Pages of words and numbers tell what chapters, benchmarks and libraries say."""

import inspect
import json
import re
import statistics
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers import MixtralConfig
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama

from chapters import CHAPTERS, sources
from transformer_lib import blocks, decoder, encoder_decoder, multihead
from transformer_lib.blocks import Config
from transformer_lib.checkpoints.families import GPT2, LLAMA
from transformer_lib.experts import Experts

BOOK = Path(__file__).parents[2]
SPEEDS = (CHAPTERS / "benchmark_protocol.md").read_text("utf-8")
RESULTS = BOOK / "benchmarks/results"
FIGURES = list((BOOK / "transformer_book/figures/static").glob("*.mjs"))
HEAD = "|---|---|---|---|---|"
SLOWER = "figures-repaint-processor-4-times-slower"
LIMITS = [  # file, beginning of a row, what the page calls it, milliseconds
    ("figures-repaint", "", "A repaint, the slowest of 14 figures", 16),
    (
        *("figures-alive-processor-4-times-slower", ""),
        "A figure alive after the page was asked for, the slowest, "
        "processor 4 times slower",
        1000,
    ),
    ("page", "Chromium: manual-lm, a step", "A step of `manual-lm` with the cache", 10),
    ("page", "Chromium: manual-lm, prefill", "Its prefill of 64 tokens", 100),
]


def result(name):
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def slowest(file, beginning=""):
    """Return the largest median in milliseconds."""
    rows = result(file)["rows"].items()
    times = [row["times"] for name, row in rows if name.startswith(beginning)]
    return 1000 * max(map(statistics.median, times))


@pytest.mark.parametrize(("file", "beginning", "what", "limit"), LIMITS)
def test_what_runs_in_the_page_keeps_its_limits(file, beginning, what, limit):
    median, day = slowest(file, beginning), result(file)["machine"]["date"]
    assert median <= limit
    assert f"| {what} | {limit:,} | {median:.1f} | {day} |" in SPEEDS


def test_the_figures_that_exist_were_timed_and_slower_repaints_are_said():
    for file in ("figures-repaint", SLOWER):
        timed = {row.split(",")[0] for row in result(file)["rows"]}
        assert timed <= {path.stem for path in FIGURES}
        assert len(timed) == 14  # as the page says
    said = f"the slowest repaint takes {slowest(SLOWER):.1f} ms"
    assert said in SPEEDS


def test_every_ratio_is_that_of_the_last_run():
    lines = SPEEDS.split(HEAD)[1].strip().split("\n\n")[0]
    expected = [
        f"| {found['name']} | {title} | {ratio['median']:.2f} "
        f"| {ratio['lower']:.2f} to {ratio['upper']:.2f} "
        f"| {found['machine']['date']} |"
        for found in (result(path.stem) for path in RESULTS.glob("*.json"))
        for title, ratio in found["ratios"].items()
    ]
    assert len(expected) > 20
    assert sorted(lines.splitlines()) == sorted(expected)


def test_every_share_of_the_limit_is_that_of_the_last_run():
    kinds = re.search(r"^\| Benchmark \| (ours.+) \|$", SPEEDS, re.M)[1].split(" | ")
    for path in RESULTS.glob("generation-1*.json"):
        found = result(path.stem)
        shares = [found["facts"][f"share of the limit, {kind}"] for kind in kinds]
        if "NVIDIA" in found["name"]:
            assert max(shares) <= 0.05
        else:
            row = " | ".join(f"{share:.2f}" for share in shares)
            assert f"| {found['name']} | {row} |" in SPEEDS


def test_chapter_12_says_what_the_last_run_found():
    chapter = (BOOK / "chapters/12_cache.ipynb").read_text("utf-8")
    files = ("generation", "generation-nvidia-h200")
    cpu, gpu = (result(file)["ratios"]["cached / uncached"] for file in files)
    said = f"as fast with the cache as without (median {cpu['median']:.2f})"
    assert f"about four times {said}" in chapter
    assert f"no faster ({gpu['median']:.2f})" in chapter
    assert round(cpu["median"]) == 4
    assert gpu["lower"] < 1 < gpu["upper"]


def test_chapter_16_says_what_the_last_run_found():
    chapter = (BOOK / "chapters/16_parallel.ipynb").read_text("utf-8")
    ratios = result("training-6-layers-width-384")["ratios"]
    plain, compiled = (
        f"{ratios[f'{name} / Hugging Face']['median']:.2f} times"
        for name in ("ours", "ours, torch.compile")
    )
    said = f"{plain} as fast without `torch.compile` and {compiled} with it"
    assert said in chapter


ROW = re.compile(
    r"^\| \[.+?\]\((?P<file>\w+\.ipynb)\) \| (?P<reading>\d+) \| (?P<exercises>\d+) \|",
    re.M,
)
TEACHING = (CHAPTERS / "teaching.md").read_text("utf-8")
TABLE = {row["file"]: row for row in ROW.finditer(TEACHING)}
EXERCISE = re.compile(r"^### (.+) \((\d+) minutes, (\w+)\)", re.M)
BY_MINUTES = re.compile(r"^\| (\d+) \| (\w+) \| (\*.+) \|$", re.M)
HAND_IN = re.compile(r"\*([^*]+)\* \((\d+)\)")
OPENING = re.compile(r"\*\*Takes\*\* about (\d+) minutes, plus (\d+) for the exercises")
ONE_EVENING = re.compile(r"^\*\*One evening\.\*\*.*", re.M)
INTRO = (BOOK / "intro.md").read_text("utf-8")
UNREAD = {"setup", "hide-cell", "hide-input", "remove-cell", "remove-input"}
HEADING = re.compile(r"^#{1,3} (.*)$", re.M)
COMMENT = re.compile(r"<!--.*?-->")


def words(file: str) -> str:
    return "\n".join(sources((CHAPTERS / file).read_text("utf-8"), "markdown"))


def test_every_chapter_is_in_the_table():
    assert list(TABLE) == sorted(path.name for path in CHAPTERS.glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("file", TABLE)
def test_minutes_are_those_of_the_chapter(file):
    text = words(file)
    reading, exercises = OPENING.search(text).groups()
    minutes = [int(minutes) for _, minutes, _ in EXERCISE.findall(text)]
    assert int(exercises) == sum(minutes)
    assert (TABLE[file]["reading"], TABLE[file]["exercises"]) == (reading, exercises)


def sections(file: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each heading with what follows it: prose, or a cell of code to read."""
    heading = ""
    for cell in json.loads((CHAPTERS / file).read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            first, *others = HEADING.split(source)
            yield heading, first, False
            for heading, text in zip(others[::2], others[1::2], strict=True):
                yield heading, text, False
        elif not UNREAD & {*cell["metadata"].get("tags", [])}:
            yield heading, source, True


def minutes_of_reading(file: str, until: str = "") -> float:
    """230 words a minute, 10 seconds a line of code; "Deeper" left out."""
    minutes = 0.0
    for heading, text, is_code in sections(file):
        if heading == "Exercises" or (until and until in text):
            break
        if is_code:
            units, a_minute = sum(map(bool, text.splitlines())), 6
        else:
            units, a_minute = len(COMMENT.sub("", text).split()), 230
        if not heading.startswith("Deeper: "):
            minutes += units / a_minute
    return minutes


OTHERS = ("epilogue.ipynb", "bug_museum.ipynb", "appendix_jax.ipynb", "gallery.ipynb")


@pytest.mark.parametrize("file", [*TABLE, *OTHERS])
def test_minutes_are_counted(file):
    minutes = 5 * round(minutes_of_reading(file) / 5)
    assert f"**Takes** about {minutes} minutes" in words(file)


def test_one_evening_leads_through_four_chapters():
    path = re.findall(r"chapters/(\d\d_\w+)\)", ONE_EVENING.search(INTRO)[0])
    files = [f"{name}.ipynb" for name in path]
    ways = ["", *files, "epilogue.ipynb"]
    for n, file in enumerate(files):
        (line,) = re.findall(r"^\*\*One evening, .*", words(file), re.M)
        assert line.startswith(f"**One evening, {n + 1} of {len(files)}.**")
        assert re.findall(r"\((.+?)\)", line) == [*filter(None, ways[n : n + 3 : 2])]
    assert sum(minutes_of_reading(file, "**One evening,") for file in files) <= 90


def test_exercises_to_hand_in_exist():
    asked = HAND_IN.findall(TEACHING)
    files = {file[:2]: file for file in TABLE}
    assert len(asked) > 10
    for title, number in asked:
        assert f"### {title} (" in words(files[f"{int(number):02}"]), title


def test_exercises_by_minutes_are_those_of_the_chapters():
    there = {
        (title, str(int(file[:2])), minutes, difficulty)
        for file in TABLE
        for title, minutes, difficulty in EXERCISE.findall(words(file))
    }
    rows = BY_MINUTES.findall(TEACHING)
    told = [
        (title, chapter, minutes, difficulty)
        for minutes, difficulty, exercises in rows
        for title, chapter in HAND_IN.findall(exercises)
    ]
    left = set(told) ^ there
    assert not left, f"chapters and the last table of teaching.md differ: {left}"
    assert len(told) == len(there)
    assert rows == sorted(rows, key=lambda row: int(row[0]))


ROSETTA = (CHAPTERS / "rosetta.md").read_text("utf-8")
MODULES = (multihead, blocks, decoder, encoder_decoder)
FAMILIES = {"GPT-2": GPT2, "Llama": LLAMA}


def table(heading: str) -> list[dict[str, list[str]]]:
    """The rows of a table: the code names of each cell by the column's head."""
    section = ROSETTA.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\|(.*)\|$", section, re.M)
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    codes = ([re.findall("`([^`]+)`", cell) for cell in row] for row in rows)
    return [dict(zip(head, row, strict=True)) for row in codes]


@pytest.mark.parametrize(
    ("column", "places"),
    [
        ("Here", MODULES),
        ("`torch.nn`", (nn,)),
        ("Hugging Face, GPT-2", (modeling_gpt2,)),
        ("Hugging Face, Llama", (modeling_llama,)),
    ],
)
def test_parts_exist(column, places):
    names = [name for row in table("Parts") for name in row[column]]
    assert names
    for name in names:
        assert any(hasattr(place, name) for place in places), name


def test_numbers_are_fields_of_our_config():
    ours = [row["Here"][0] for row in table("Numbers")]
    assert set(ours) <= {field.name for field in fields(Config)}
    assert len(set(ours)) == len(ours)


@pytest.mark.parametrize("column", FAMILIES)
def test_numbers_are_those_that_a_checkpoint_is_read_by(column):
    theirs = {name: row["Here"][0] for row in table("Numbers") for name in row[column]}
    expected = dict(FAMILIES[column].fields)
    if column == "GPT-2":
        expected["n_inner"] = "d_ff"  # read_gpt2 reads it
    assert theirs == expected


def test_numbers_are_arguments_of_torch():
    classes = (nn.Embedding, nn.MultiheadAttention, nn.LayerNorm, nn.TransformerEncoder)
    kinds = (*classes, nn.TransformerEncoderLayer)
    known = {name for kind in kinds for name in inspect.signature(kind).parameters}
    named = {name for row in table("Numbers") for name in row["`torch.nn`"]}
    assert named
    assert named <= known


@pytest.mark.parametrize("column", FAMILIES)
def test_weights_are_those_that_a_checkpoint_is_read_by(column):
    shown = {(one, row["Here"][0]) for row in table("Weights") for one in row[column]}
    modules = FAMILIES[column].modules.items()
    expected = {(a.format(0), b.format(0)) for a, (_, *parts) in modules for b in parts}
    assert shown == expected


def test_weights_are_those_of_torch():
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    column = "`TransformerEncoderLayer`"
    names = {name for row in table("Weights") for name in row[column]}
    state = {name.removesuffix(".weight") for name in layer.state_dict()}
    state -= {name for name in state if name.endswith("bias")}
    assert names == state | {"self_attn.in_proj_weight"}


def test_experts_are_called_so_in_mixtral():
    rows = table("Experts")
    settings = [name for row in rows[:2] for name in row["Hugging Face, Mixtral"]]
    assert {*settings} <= {*MixtralConfig().to_dict()}
    layer = Experts(4, 6, n_experts=2)
    names = {name.removesuffix(".weight") for name in layer.state_dict()}
    ours = {name for row in rows[2:-1] for name in row["Here"]}
    assert ours == {name for name in names if not name.startswith("experts.1")}


def test_masks_mean_what_the_page_says():
    x = torch.eye(3)[None]
    first = torch.tensor([[True, False, False]]).expand(3, 3)
    seen = F.scaled_dot_product_attention(x, x, x, attn_mask=first)
    assert torch.equal(seen, x[:, :1].expand(1, 3, 3))
    layer = nn.MultiheadAttention(3, 1, batch_first=True)
    _, weights = layer(x, x, x, attn_mask=~first)
    assert torch.equal(weights, x[:, :1].expand(1, 3, 3))
    here = "| `F.scaled_dot_product_attention` | `attn_mask` | True: may attend"
    assert here in ROSETTA
    assert "`attn_mask`, `key_padding_mask` | True: may **not** attend" in ROSETTA
