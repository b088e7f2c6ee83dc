"""What of ours reads from the network: no more than is wanted, and only that."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from chapters import sources as cells_of

ROOT = Path(__file__).parents[2]
READS = re.compile(
    r"\burlopen\(|\burlretrieve\(|\bhttps_opener\(|\bhttp\.client\.HTTP|\bcreate_connection\("
    r"|\b(?:requests|httpx|urllib3)\.|\bsnapshot_download\(|\bhf_hub_download\("
    r"|\bload_dataset\(|\bfetch\(|\bXMLHttpRequest\b"
)
FOLDERS = "transformer_lib transformer_book booksite tools benchmarks chapters".split()
CAPPED = re.compile(r"\.read\(\w[^)]*\)")
OF_THE_HUB = "transformer_lib/checkpoints/folders.py"  # the model that a user names
WITH_CHECKSUM = {"transformer_book/tasks/shakespeare.py", "chapters/01_tokens.ipynb"}


def sources() -> Iterator[tuple[str, str]]:
    """Each file of ours that could read from the network, with its code."""
    for top in FOLDERS:
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".py", ".mjs", ".js", ".html"):
                yield str(path.relative_to(ROOT)), path.read_text("utf-8")
            elif path.suffix == ".ipynb":
                code = cells_of(path.read_text("utf-8"))
                yield str(path.relative_to(ROOT)), "\n".join(code)


@pytest.fixture(scope="module")
def reading() -> dict[str, str]:
    return {name: code for name, code in sources() if READS.search(code)}


def test_two_files_and_the_hub_read_from_the_network(reading: dict[str, str]):
    assert set(reading) == {OF_THE_HUB, *WITH_CHECKSUM}


@pytest.mark.parametrize("name", sorted(WITH_CHECKSUM))
def test_each_reads_so_many_bytes_and_compares_a_checksum(reading, name) -> None:
    assert CAPPED.search(reading[name])
    assert ".read()" not in reading[name]
    assert re.search(r"sha256\(.+\)\.hexdigest\(\)", reading[name])


def test_the_hub_is_asked_for_numbers_and_names_only(reading: dict[str, str]):
    code = reading[OF_THE_HUB]
    assert 'files = [CONFIG, "model*.safetensors", INDEX]' in code
    assert re.findall(r"snapshot_download\((.*)\)\)", code) == [
        "name, allow_patterns=files"
    ]


def test_another_reader_would_be_found():
    bad = """urlopen(url).read()
    requests.get(url)
    await fetch(url)
    urllib.request.urlretrieve(url, path)"""
    assert all(READS.search(line) for line in bad.splitlines())
    assert not CAPPED.search(bad)
