"""The models in the page say what PyTorch says, of the tokens that Python makes."""

import random
from itertools import product

import pytest
import torch
from inference_jobs import (
    Page,
    chunked,
    drawn,
    edges,
    expected,
    prompts_for,
    shipped,
    texts,
)
from models import model as tiny_model
from models import tiny
from tolerances import PAGE_TOLERANCE

from transformer_book.figures.weights import dequantized, pack, pack_model
from transformer_lib.blocks import FEED_FORWARDS, POSITIONS, PostNorm, PreNorm
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier, each_token
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import ablate_heads, record_attention
from transformer_lib.tokens import Tokenizer

OPTIONS = [
    {"n_layers": 1},
    *({"positions": word} for word in POSITIONS),
    *({"feed_forward": word, "bias": True} for word in FEED_FORWARDS),
    *({"feed_forward": word} for word in FEED_FORWARDS),
    *({"n_kv_heads": count} for count in (1, 2)),
    {"norm": "layer", "bias": True},
    {"norm": "layer", "norm_eps": 1e-3},
    {"rotary_base": 500.0, "d_head": 6},
    {"residual": "post"},
    {"tied": False},
    {"scale_embeddings": False},
]
DECODER = {"decoder": "stack.blocks.{}.attention.layer"}
TRANSLATOR = {
    "encoder": "encoder.blocks.{}.attention.layer",
    "decoder": "decoder.blocks.{}.attention.layer",
    "cross": "decoder.blocks.{}.cross.layer",
}
"""What PyTorch calls the layers of each kind of attention."""
OFF = {
    "manual-lm": ([["decoder", 1, 3], ["decoder", 2, 0]], DECODER),
    "number-translator": (
        [["encoder", 0, 1], ["cross", 1, 2], ["decoder", 1, 0]],
        TRANSLATOR,
    ),
}
"""Heads that are switched off, in a shipped model."""


@pytest.fixture
def page(tmp_path):
    """Pack a model, or take its bytes, for Node."""
    return lambda packed: Page(
        tmp_path, packed if isinstance(packed, bytes) else pack_model(packed)
    )


def near(got, want, what=""):
    """No logit is further away than the tolerance, whatever its size."""
    torch.testing.assert_close(
        got, want, rtol=0, atol=PAGE_TOLERANCE, msg=lambda error: f"{what}: {error}"
    )


def agree(page, model, prompts, what="", **job):
    """The page's logits of all prompts, at once and in chunks, are PyTorch's."""
    want = torch.cat([expected(model, prompt) for prompt in prompts])
    at_once = [{**prompt, "chunks": [prompt["tokens"]]} for prompt in prompts]
    said = page.logits("logits", prompts=[*at_once, *prompts], **job)
    got, chunked = said.view(2, *want.shape)
    near(got, want, what)
    assert torch.equal(chunked, got), what  # the same sums in the same order


@pytest.mark.parametrize(
    "name", ["induction-1", "induction-2", "manual-lm", "number-translator"]
)
def test_a_shipped_model_says_the_same_with_and_without_cache(page, name):
    model = shipped(name).model
    agree(page(model), model, prompts_for(model, 8, longest=40))


def test_in_int8_the_page_computes_with_the_numbers_that_were_rounded(page):
    rounded = dequantized(shipped("manual-lm").model)
    agree(page(pack("manual-lm")), rounded, prompts_for(rounded, 4, longest=40))


def test_every_option_says_the_same(page):
    for changes, kind in product(OPTIONS, (Decoder, EncoderDecoder)):
        model = tiny_model(kind, tiny(**changes), torch.float32)
        prompts = prompts_for(model, 4, longest=12)
        agree(page(model), model, prompts, (changes, kind))


@torch.no_grad()
def test_a_classifier_says_the_same(page):
    config = tiny(residual="post", positions="alibi", n_kv_heads=2)
    made = {"n_classes": 3, "pool": each_token}
    other = tiny_model(Classifier, config, torch.float32, **made)
    draw = random.Random(0)
    for model, vocab_size, longest in (
        (shipped("reverser").model, 10, 16),
        (other, config.vocab_size, config.max_len),
    ):
        sizes = [1, *(draw.randint(2, longest) for _ in range(6)), longest]
        prompts = [drawn(draw, vocab_size, size) for size in sizes]
        want = torch.cat([model(torch.tensor([one])).flatten() for one in prompts])
        jobs = [{"chunks": [one]} for one in prompts]
        near(page(model).logits("logits", prompts=jobs), want)


def test_another_place_is_another_position(page):
    model = shipped("manual-lm").model
    tokens = drawn(random.Random(0), 512, 40)
    places = [*range(30), *[29] * 10]
    prompt = {"tokens": tokens, "chunks": chunked(tokens, random.Random(1))}
    want = expected(model, prompt, positions=torch.tensor([places]))
    got = page(model).logits("shifted", prompt=prompt, places=places)
    near(got.view(40, -1), want)
    assert float((want - expected(model, prompt)).abs().max()) > 0.1


@pytest.mark.parametrize("name", OFF)
def test_a_head_that_is_off_says_nothing(page, name):
    model, (off, names) = shipped(name).model, OFF[name]
    named = {names[part].format(layer): [head] for part, layer, head in off}
    with ablate_heads(model, named):
        agree(page(model), model, prompts_for(model, 3, longest=40), off=off)


def recorded_layers(model, *tokens):
    """What each layer added, and the stream then, by the name of its place."""
    kept, hooks = {}, []
    for name, place in model.named_modules():
        if isinstance(place, (PreNorm, PostNorm)):
            for what, module in (("change", place.layer), ("x", place)):

                def keep(*given, key=(name, what)):
                    kept[key] = given[2][0]

                hooks.append(module.register_forward_hook(keep))
    model(*(torch.tensor([some]) for some in tokens))
    for hook in hooks:
        hook.remove()
    return kept


def padded(rows, width):
    """Weights of queries that know fewer keys end with zeros."""
    return torch.tensor([row + [0.0] * (width - len(row)) for row in rows])


@torch.no_grad()
@pytest.mark.parametrize("which", ["manual-lm", "number-translator", "norm after"])
def test_a_watch_hears_weights_streams_and_what_is_added(page, which):
    """Every row that the page tells is PyTorch's, and none is missing."""
    config = tiny(residual="post", norm="layer", bias=True)
    other = tiny_model(Decoder, config, torch.float32)
    model = other if which == "norm after" else shipped(which).model
    draw, vocab_size = random.Random(0), model.config.vocab_size
    source, target = drawn(draw, vocab_size, 17), drawn(draw, vocab_size, 40)
    texts, names = {"decoder": target}, DECODER
    if which == "number-translator":
        texts, names = {"encoder": source, "decoder": target}, TRANSLATOR
    said = page(model).ask(
        "watched", source=texts.get("encoder"), chunks=chunked(target, draw)
    )
    with record_attention(model) as record:
        kept = recorded_layers(model, *texts.values())
    for part, name in names.items():
        for layer, all_heads in enumerate(said["weights"][part]):
            want = record[name.format(layer)][0]
            heads = [padded(head, want.shape[-1]) for head in all_heads]
            near(torch.stack(heads), want)
        assert len(said["weights"][part]) == model.config.n_layers
    found = {key: torch.full_like(x, torch.nan) for key, x in kept.items()}
    for row in said["added"]:
        stack = names[row["part"]].split(".")[0]
        name = f"{stack}.blocks.{row['layer']}.{row['name']}"
        for what in ("change", "x"):
            found[name, what][row["query"]] = torch.tensor(row[what])
    for key, x in kept.items():
        near(found[key], x, key)
    for part, tokens in texts.items():
        stack = names[part].split(".")[0]
        first, *others = torch.tensor(said["streams"][part])
        embedded = model.embedding(torch.tensor([tokens]))
        positions = model.get_submodule(stack).positions
        near(first, positions.embed(embedded, torch.arange(len(tokens)))[0])
        assert len(others) == model.config.n_layers
        for layer, stream in enumerate(others):
            near(stream, kept[f"{stack}.blocks.{layer}.feed_forward", "x"])


CARRIER = tiny_model(Decoder, tiny(), torch.float32)
"""A tokenizer comes to the page with a model."""


def foreign():
    """A tokenizer whose merges join signs of many alphabets, with another alphabet."""
    text = " ".join(texts(200)[15:])
    order = tuple(reversed(range(256)))
    return Tokenizer.train(text, 500, special_tokens=("<a>", "é"), alphabet=order)


@pytest.mark.parametrize("which", ["manual-lm", "number-translator", "foreign"])
def test_tokens_are_those_of_the_library(page, which):
    tokenizer = foreign() if which == "foreign" else shipped(which).tokenizer
    draw, written = random.Random(0), texts(200)
    ids = [drawn(draw, tokenizer.vocab_size, draw.randint(0, 30)) for _ in range(50)]
    ids += [drawn(draw, 256, 30) for _ in range(50)]  # hardly ever valid UTF-8
    said = page(pack_model(CARRIER, tokenizer)).ask("tokens", texts=written, ids=ids)
    assert said["ids"] == [tokenizer.encode(one) for one in written]
    assert said["back"] == written
    assert said["decoded"] == [tokenizer.decode(one) for one in ids]


@pytest.mark.parametrize("every", [97, pytest.param(1, marks=pytest.mark.nightly)])
def test_signs_of_unicode_are_cut_as_the_library_cuts_them(page, every):
    """Each night all of the full planes; always both sides of all edges."""
    codes = [*range(0, 0xD800, every), *range(0xE000, 0x20000, every)]
    codes += [code - n for code in edges() for n in (1, 0)]
    text = "".join(f"a{chr(code)}1" for code in codes)
    # merges with all of a sign's neighbors: a cut that is elsewhere shows
    high = range(128, 256)
    tokenizer = Tokenizer(
        (*((97, byte) for byte in high), *((byte, 49) for byte in high))
    )
    said = page(pack_model(CARRIER, tokenizer)).ask("tokens", texts=[text], ids=[])
    assert said["ids"] == [tokenizer.encode(text)]
