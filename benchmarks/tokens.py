"""Train and encode beside Hugging Face's `tokenizers`, one thread each.

The text is Python's manual (`pydoc_data`). Both learn 512 merges and encode all of
it, in turn within one run; the peer encodes without offsets. ``cold`` is a new
tokenizer, ``warm`` one that has met the words. Seconds are of the processor, so that
other work on the machine counts little. Writes benchmarks/results/tokens.json.
"""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pydoc_data.topics import topics

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from transformer_lib.tokens import GPT2_ALPHABET, Tokenizer

TEXT = " ".join(topics.values())
SIZE = 256 + 512
REPEATS = 9
RESULTS = Path(__file__).parent / "results" / "tokens.json"


def train_ours() -> Tokenizer:
    return Tokenizer.train(TEXT, SIZE, alphabet=GPT2_ALPHABET)


def train_theirs() -> tokenizers.Tokenizer:
    peer = tokenizers.Tokenizer(BPE())
    peer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=SIZE,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator([TEXT], trainer)
    return peer


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def measure() -> dict[str, list[float]]:
    """Time all actions in turn, so that a slow moment of the machine hits each."""
    ours, theirs = train_ours(), train_theirs()
    assert ours.encode(TEXT) == theirs.encode(TEXT).ids
    ids = ours.encode(TEXT)
    times: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        new = Tokenizer(ours.merges, alphabet=ours.alphabet)
        actions: dict[str, Callable[[], object]] = {
            "train, ours": train_ours,
            "train, tokenizers": train_theirs,
            "encode cold, ours": partial(new.encode, TEXT),
            "encode warm, ours": partial(ours.encode, TEXT),
            "encode warm, tokenizers": lambda: theirs.encode_batch_fast([TEXT])[0].ids,
            "decode, ours": partial(ours.decode, ids),
            "decode, tokenizers": partial(theirs.decode, ids),
        }
        for name, action in actions.items():
            times.setdefault(name, []).append(seconds(action))
    return times


def main() -> None:
    size = len(TEXT.encode())
    times = measure()
    print(
        f"{size} bytes, {SIZE - 256} merges, {REPEATS} repeats, 1 thread, CPU seconds"
    )
    print(f"{'':24}{'median':>9}{'lowest':>9}{'highest':>9}{'MB/s':>7}")
    rows = {}
    for name, taken in times.items():
        middle, low, high = statistics.median(taken), min(taken), max(taken)
        rate = size / middle / 1e6
        print(f"{name:24}{middle:8.3f}s{low:8.3f}s{high:8.3f}s{rate:7.2f}")
        rows[name] = {
            "median_s": middle,
            "lowest_s": low,
            "highest_s": high,
            "mb_per_s": rate,
        }
    RESULTS.parent.mkdir(exist_ok=True)
    report = {
        "bytes": size,
        "merges": SIZE - 256,
        "repeats": REPEATS,
        "threads": 1,
        "clock": "CPU seconds",
        "python": sys.version.split()[0],
        "tokenizers": tokenizers.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "times": rows,
    }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
