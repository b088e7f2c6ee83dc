"""How well the book's models do what they were trained for, on what they never saw."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_book import tasks
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.sampling import translate
from transformer_lib.tokens import Tokenizer
from transformer_lib.training import bits_per_byte, language_model_loss

ROWS = 500
"""Sequences that are read at once."""


def translation(
    model: EncoderDecoder,
    *,
    tokenizer: Tokenizer,
    split: tasks.NumberSplit,
    language: str = "de",
    count: int = 10_000,
) -> dict[str, float]:
    """Return the shares of numbers translated without a mistake: kept back, unseen.

    Of the numbers kept back ``count`` are drawn, long and short ones; of the range
    that training never saw, every one is asked, or ``count`` evenly spread. All below
    100 are in training, as no other number brings their words, and are asked apart.
    """
    held_out = split.draw("held out", count, torch.Generator().manual_seed(1))
    unseen = split.members("unseen")
    unseen = unseen[:: max(1, len(unseen) // count)]
    return {
        "held-out exact match": _share(model, held_out, tokenizer, language),
        "unseen range exact match": _share(model, unseen.tolist(), tokenizer, language),
        "below 100 exact match": _share(model, range(100), tokenizer, language),
    }


def _share(
    model: EncoderDecoder, numbers: Sequence[int], tokenizer: Tokenizer, language: str
) -> float:
    """Return the share of numbers whose translation is right to the last letter."""
    right = 0
    for first in range(0, len(numbers), ROWS):
        pairs = tasks.number_pairs(list(numbers[first : first + ROWS]), target=language)
        right += sum(
            said == target
            for said, (_, target) in zip(
                translated([s for s, _ in pairs], model, tokenizer), pairs, strict=True
            )
        )
    return right / len(numbers)


def translated(
    texts: Sequence[str], model: EncoderDecoder, tokenizer: Tokenizer
) -> list[str]:
    """Translate texts greedily, all at once."""
    pad_id = tokenizer.special("<pad>")
    device = next(model.parameters()).device
    sources, lengths = tasks.pad([tokenizer.encode(text) for text in texts], pad_id)
    tokens = translate(
        model,
        sources.to(device),
        lengths.to(device),
        start_id=tokenizer.special("<start>"),
        end_id=tokenizer.special("<end>"),
        pad_id=pad_id,
        max_new_tokens=2 * sources.shape[1] + 8,
    )
    return tasks.read_targets(torch.stack(list(tokens), dim=1).cpu(), tokenizer)


@torch.no_grad()
def text(model: Decoder, *, corpus: tasks.Corpus, length: int) -> dict[str, float]:
    """Return the bits that the model needs for each byte of a text it never saw."""
    total, n_tokens = 0.0, 0
    for batch in corpus.sweep(length, batch_size=32):
        loss, count = language_model_loss(model, batch)
        total, n_tokens = total + float(loss), n_tokens + int(count)
    bits = bits_per_byte(total / n_tokens, n_tokens, corpus.n_bytes)
    return {"validation bits per byte": bits}


@torch.no_grad()
def reversal(model: Classifier, *, count: int = 10_000) -> dict[str, float]:
    """Return the share of fresh sequences that are reversed without a mistake."""
    generator = torch.Generator().manual_seed(1)
    (batch,) = tasks.reversal_batches(batch_size=count, generator=generator, steps=1)
    device = next(model.parameters()).device
    said = model(batch.source.to(device), batch.source_lengths.to(device)).argmax(-1)
    right = (said.cpu() == batch.target) | (batch.target == tasks.PAD)
    return {"exact match": float(right.all(dim=1).float().mean())}


@torch.no_grad()
def repeats(model: Decoder, *, count: int = 1000) -> dict[str, float]:
    """Return the mean loss in nats, in the first copy and in the second one."""
    generator = torch.Generator().manual_seed(1)
    ((tokens, lengths),) = tasks.repeat_batches(
        model.config.vocab_size,
        lengths=range(8, 25),
        batch_size=count,
        generator=generator,
        steps=1,
    )
    losses = _losses(model, tokens)
    place = torch.arange(1, tokens.shape[1])
    half, end = lengths[:, None] // 2, lengths[:, None]
    # the first token of the second copy says where it begins: it is not counted
    return {
        "loss in the first copy": float(losses[place < half].mean()),
        "loss in the second copy": float(losses[(place > half) & (place < end)].mean()),
    }


def _losses(model: nn.Module, tokens: Tensor) -> Tensor:
    """Return the loss of each token but the first."""
    device = next(model.parameters()).device
    log_p = model(tokens[:, :-1].to(device)).log_softmax(dim=-1).cpu()
    return -log_p.gather(-1, tokens[:, 1:, None]).squeeze(-1)
