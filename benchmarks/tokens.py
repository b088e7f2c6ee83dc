"""Train and encode beside Hugging Face's `tokenizers`, one thread each."""

from __future__ import annotations

import os
from functools import partial
from pydoc_data.topics import topics

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import tokenizers
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.trainers import BpeTrainer

from benchmarks.harness import Action, Report
from transformer_lib.tokens import GPT2_ALPHABET, Tokenizer

TEXT = " ".join(topics.values())
MERGES = 512


def train_ours() -> Tokenizer:
    return Tokenizer.train(TEXT, 256 + MERGES, alphabet=GPT2_ALPHABET)


def train_theirs() -> tokenizers.Tokenizer:
    peer = tokenizers.Tokenizer(BPE())
    peer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    trainer = BpeTrainer(
        vocab_size=256 + MERGES,
        initial_alphabet=ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator([TEXT], trainer)
    return peer


def measure(repeats: int = 15) -> list[Report]:
    """Time training, and encoding with and without words met before."""
    ours, theirs = train_ours(), train_theirs()
    ids = ours.encode(TEXT)
    assert ids == theirs.encode(TEXT).ids

    def cold() -> None:
        Tokenizer(ours.merges, alphabet=ours.alphabet).encode(TEXT)

    actions: dict[str, Action] = {
        "train, ours": train_ours,
        "train, tokenizers": train_theirs,
        "encode cold, ours": cold,
        "encode warm, ours": partial(ours.encode, TEXT),
        # without offsets, which ours does not compute either
        "encode warm, tokenizers": lambda: theirs.encode_batch_fast([TEXT])[0].ids,
        "decode, ours": partial(ours.decode, ids),
        "decode, tokenizers": partial(theirs.decode, ids),
    }
    size = len(TEXT.encode())
    report = Report(
        "tokens",
        f"Python's manual, {size} bytes, {MERGES} merges, the same ids from both.",
    )
    report.time(actions, size / 1e6, "MB", repeats=repeats)
    for task in ("train", "encode warm", "decode"):
        report.compare(
            f"{task}, ours / tokenizers", f"{task}, ours", f"{task}, tokenizers"
        )
    return [report]
