"""Let one of the book's models go on writing, token by token.

python -m transformer_book.generate --model manual-lm "The try statement"
python -m transformer_book.generate --model number-translator "forty-two"
"""

import argparse
import codecs
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_book.notebook import device
from transformer_book.pretrained import Pretrained, load, load_folder, names
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import (
    column_major,
    filter_logits,
    generate,
    greedy,
    sample,
    translate,
)


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    p = argparse.ArgumentParser(
        prog="python -m transformer_book.generate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("prompt", help="where the text begins, or what to translate")
    p.add_argument(
        "--model",
        default="manual-lm",
        help=f"one of {', '.join(names())}, or a folder that training wrote",
    )
    p.add_argument(
        "--max-new-tokens", type=int, metavar="N", help="100, or as many as will fit"
    )
    p.add_argument("--seed", type=int, default=0, metavar="N")
    how = p.add_argument_group("how to choose; without any of them, the likeliest")
    how.add_argument("--temperature", type=float, metavar="T")
    how.add_argument("--top-k", type=int, metavar="K", help="only the K likeliest")
    how.add_argument("--top-p", type=float, metavar="P", help="only the likely P")
    how.add_argument("--min-p", type=float, metavar="P", help="only P of the likeliest")
    return p


def main(arguments: list[str] | None = None) -> None:
    """Load, read the prompt, and write each token as it comes."""
    p = parser()
    args = p.parse_args(arguments)
    try:
        folder = Path(args.model)
        found = load_folder(folder) if folder.is_dir() else load(args.model)
        # under torchrun, all processes would write the same
        if os.environ.get("RANK", "0") == "0":
            _write(_texts(found, args), found)
    except ValueError as error:
        p.error(str(error))


def _texts(found: Pretrained, args: argparse.Namespace) -> Iterator[Tensor]:
    """Open the stream of tokens."""
    if found.tokenizer is None:
        raise ValueError(f"only models of texts can write, got {args.model!r}")
    model = column_major(found.model.to(device()))
    read = found.tokenizer.encode(args.prompt)
    ids = torch.tensor([read], dtype=torch.int64, device=device())
    how: dict[str, Any] = {
        "choose": _choice(args),
        "end_id": found.tokenizer.special("<end>"),
    }
    if isinstance(model, EncoderDecoder):
        how |= {"max_new_tokens": _room(args, model, 1)}
        start = found.tokenizer.special("<start>")
        return translate(model, ids, start_id=start, **how)
    if not isinstance(model, Decoder):
        raise ValueError(f"only models of texts can write, got {args.model!r}")
    how |= {"max_new_tokens": _room(args, model, ids.shape[1])}
    stream = generate(model, ids, **how)
    sys.stdout.write(args.prompt)
    return stream


def _room(args: argparse.Namespace, model: Decoder | EncoderDecoder, used: int) -> int:
    """Return how many tokens to write at most."""
    if args.max_new_tokens is not None:
        return int(args.max_new_tokens)
    return max(1, min(100, model.config.max_len - used))


def _choice(args: argparse.Namespace) -> Callable[[Tensor], Tensor]:
    """Turn the options into a way to choose."""
    names = ("temperature", "top_k", "top_p", "min_p")
    given = {n: getattr(args, n) for n in names if getattr(args, n) is not None}
    if not given:
        return greedy
    draw = partial(sample, generator=torch.Generator().manual_seed(args.seed))
    return lambda logits: draw(filter_logits(logits, **given))


def _write(stream: Iterator[Tensor], found: Pretrained) -> None:
    """Write whole characters: a token may end in the middle of one."""
    tokenizer = found.tokenizer
    assert tokenizer is not None
    characters = codecs.getincrementaldecoder("utf-8")("replace")
    special = set(tokenizer.special_ids.values())
    for (token,) in (tokens.tolist() for tokens in stream):
        if token not in special and token < tokenizer.vocab_size:
            sys.stdout.write(characters.decode(tokenizer.decode_bytes([token])))
            sys.stdout.flush()
    sys.stdout.write(characters.decode(b"", final=True) + "\n")


if __name__ == "__main__":
    main()
