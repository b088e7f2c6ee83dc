"""The teacher's page tells the minutes that the chapters tell."""

import re

import pytest

from chapters import CHAPTERS, sources

ROW = re.compile(
    r"^\| \[.+?\]\((?P<file>\w+\.ipynb)\) \| (?P<reading>\d+) \| (?P<exercises>\d+) \|",
    re.M,
)
TABLE = {
    row["file"]: row
    for row in ROW.finditer((CHAPTERS / "teaching.md").read_text("utf-8"))
}
EXERCISE = re.compile(r"^### (.+) \((\d+) minutes, (\w+)\)", re.M)
BY_MINUTES = re.compile(r"^\| (\d+) \| (\w+) \| (\*.+) \|$", re.M)
HAND_IN = re.compile(r"\*([^*]+)\* \((\d+)\)")
OPENING = re.compile(
    r"(?:Reading|The chapter) takes about (\d+) minutes.*?exercises (\d+) more"
)


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


def test_exercises_to_hand_in_exist():
    text = (CHAPTERS / "teaching.md").read_text("utf-8")
    asked = HAND_IN.findall(text)
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
    rows = BY_MINUTES.findall((CHAPTERS / "teaching.md").read_text("utf-8"))
    told = [
        (title, chapter, minutes, difficulty)
        for minutes, difficulty, exercises in rows
        for title, chapter in HAND_IN.findall(exercises)
    ]
    left = set(told) ^ there
    assert not left, f"chapters and the last table of teaching.md differ: {left}"
    assert len(told) == len(there)
    assert rows == sorted(rows, key=lambda row: int(row[0]))
