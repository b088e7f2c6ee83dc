"""The models in the page say what PyTorch says, of the tokens that Python makes."""

import random

import pytest
import torch
from inference_jobs import (
    Page,
    all_signs,
    chunked,
    drawn,
    expected,
    prompts_for,
    shipped,
    texts,
)
from models import model as tiny_model
from models import tiny
from tolerances import PAGE_TOLERANCE

from transformer_book import tasks
from transformer_book.figures.weights import as_int8, dequantized, pack, pack_model
from transformer_book.pretrained import evaluation
from transformer_lib.blocks import PostNorm, PreNorm
from transformer_lib.decoder import Decoder
from transformer_lib.encoder import Classifier, each_token
from transformer_lib.encoder_decoder import EncoderDecoder
from transformer_lib.inspection import ablate_heads, logit_lens, record_attention
from transformer_lib.tokens import Tokenizer

DECODERS = ("induction-1", "induction-2", "manual-lm")
OPTIONS = {
    "as shipped": {},
    "no positions": {"positions": "none"},
    "sinusoidal": {"positions": "sinusoidal"},
    "learned": {"positions": "learned"},
    "alibi": {"positions": "alibi"},
    "another base": {"rotary_base": 500.0},
    "one key for all heads": {"n_kv_heads": 1},
    "one key for two heads": {"n_kv_heads": 2},
    "wide heads": {"d_head": 6},
    "layer norm, shifts": {"norm": "layer", "bias": True},
    "layer norm, no shifts": {"norm": "layer", "norm_eps": 1e-3},
    "relu": {"feed_forward": "relu", "bias": True},
    "gelu": {"feed_forward": "gelu"},
    "gelu by tanh": {"feed_forward": "gelu_tanh"},
    "norm after": {"residual": "post"},
    "untied": {"tied": False},
    "no scale": {"scale_embeddings": False},
    "one layer": {"n_layers": 1},
    "swiglu, shifts": {"bias": True},
}


@pytest.fixture
def page(tmp_path):
    """Pack a model, or take its bytes, for Node."""
    return lambda packed: Page(
        tmp_path, packed if isinstance(packed, bytes) else pack_model(packed)
    )


def near(got, want):
    """No logit is further away than the tolerance, whatever its size."""
    assert got.shape == want.shape
    assert float((got - want).abs().max()) <= PAGE_TOLERANCE


def agree(page, model, prompts, **job):
    """The page's logits of all prompts, at once and in chunks, are PyTorch's."""
    want = torch.cat([expected(model, prompt) for prompt in prompts])
    at_once = [{**prompt, "chunks": [prompt["tokens"]]} for prompt in prompts]
    said = page.logits("logits", prompts=[*at_once, *prompts], **job)
    got, chunked = said.view(2, *want.shape)
    near(got, want)
    assert torch.equal(chunked, got)  # the same sums in the same order


@pytest.mark.parametrize("name", [*DECODERS, "number-translator"])
def test_a_shipped_model_says_the_same_with_and_without_cache(page, name):
    model = shipped(name).model
    agree(page(model), model, prompts_for(model, 100, longest=40))


def test_in_int8_the_page_computes_with_the_numbers_that_were_rounded(page):
    model = shipped("manual-lm").model
    rounded = dequantized(model)
    agree(page(pack_model(model, store=as_int8)), rounded, prompts_for(model, 100, 40))


@pytest.mark.parametrize("kind", [Decoder, EncoderDecoder])
@pytest.mark.parametrize("changes", OPTIONS.values(), ids=OPTIONS)
def test_every_option_says_the_same(page, kind, changes):
    model = tiny_model(kind, tiny(**changes), torch.float32)
    agree(page(model), model, prompts_for(model, 20, longest=12))


@torch.no_grad()
@pytest.mark.parametrize("name", ["reverser", "one of other options"])
def test_a_classifier_says_the_same(page, name):
    if name == "reverser":
        model, vocab_size, longest = shipped(name).model, 10, 16
    else:
        config = tiny(residual="post", positions="alibi", n_kv_heads=2)
        vocab_size, longest = config.vocab_size, config.max_len
        made = {"n_classes": 3, "pool": each_token}
        model = tiny_model(Classifier, config, torch.float32, **made)
    draw = random.Random(0)
    prompts = [drawn(draw, vocab_size, draw.randint(1, longest)) for _ in range(100)]
    want = torch.cat([model(torch.tensor([one])).flatten() for one in prompts])
    jobs = [{"chunks": [one]} for one in prompts]
    near(page(model).logits("logits", prompts=jobs), want)


def test_translations_are_those_of_the_library(page):
    found = shipped("number-translator")
    numbers = tasks.NumberSplit().draw(
        "held out", 200, torch.Generator().manual_seed(0)
    )
    english = [source for source, _ in tasks.number_pairs(numbers)]
    want = evaluation.translated(english, found.model, found.tokenizer)
    assert len(set(want)) > 150
    assert page(pack("number-translator")).ask("translate", texts=english) == want


def test_another_place_is_another_position(page):
    model = shipped("manual-lm").model
    tokens = drawn(random.Random(0), 512, 40)
    places = [*range(30), *[29] * 10]
    prompt = {"tokens": tokens, "chunks": chunked(tokens, random.Random(1))}
    want = expected(model, prompt, positions=torch.tensor([places]))
    got = page(model).logits("shifted", prompt=prompt, places=places)
    near(got.view(40, -1), want)
    assert float((want - expected(model, prompt)).abs().max()) > 0.1


DECODER_ONLY = {"decoder": "stack.blocks.{}.attention.layer"}
TRANSLATOR = {
    "encoder": "encoder.blocks.{}.attention.layer",
    "decoder": "decoder.blocks.{}.attention.layer",
    "cross": "decoder.blocks.{}.cross.layer",
}
"""What PyTorch calls the layers of each kind of attention."""


@pytest.mark.parametrize(
    ("name", "off", "names"),
    [
        ("manual-lm", [["decoder", 1, 3], ["decoder", 2, 0]], DECODER_ONLY),
        ("induction-2", [["decoder", 0, 2]], DECODER_ONLY),
        (
            "number-translator",
            [["encoder", 0, 1], ["cross", 1, 2], ["decoder", 1, 0]],
            TRANSLATOR,
        ),
    ],
)
def test_a_head_that_is_off_says_nothing(page, name, off, names):
    model = shipped(name).model
    named = {names[part].format(layer): [head] for part, layer, head in off}
    with ablate_heads(model, named):
        agree(page(model), model, prompts_for(model, 5, longest=40), off=off)


def padded(rows, width):
    """Weights of queries that know fewer keys end with zeros."""
    return torch.tensor([row + [0.0] * (width - len(row)) for row in rows])


def same_weights(said, record):
    """The page's weights are those of PyTorch's layers, in their order."""
    assert len(said) == len(record)
    for layer, want in zip(said, record, strict=True):
        heads = torch.stack([padded(head, want.shape[-1]) for head in layer])
        near(heads, want[0])


@torch.no_grad()
def test_a_recorder_keeps_the_weights_and_the_stream(page):
    model = shipped("manual-lm").model
    tokens = drawn(random.Random(0), 512, 40)
    chunks = chunked(tokens, random.Random(1))
    said = page(model).ask("watched", chunks=chunks)
    with record_attention(model) as record:
        lens = logit_lens(model, torch.tensor([tokens]))
    same_weights(said["weights"]["decoder"], list(record.values()))
    streams = torch.tensor(said["streams"]["decoder"])
    assert streams.shape == (model.config.n_layers + 1, 40, model.config.d_model)
    near(streams[0], model.embedding(torch.tensor(tokens)))
    near(model.unembedding.logits(model.stack.norm(streams[1:])), lens[:, 0])
    tells_what_was_added(said, model, tokens)


def recorded_layers(model, *tokens):
    """What each layer added, and the stream then, by the name of its place."""
    kept, hooks = {}, []
    for name, place in model.named_modules():
        if isinstance(place, (PreNorm, PostNorm)):
            for what, module in (("change", place.layer), ("x", place)):

                def keep(*given, key=(name, what)):
                    kept[key] = given[2]

                hooks.append(module.register_forward_hook(keep))
    model(*(torch.tensor([some]) for some in tokens))
    for hook in hooks:
        hook.remove()
    return kept


def tells_what_was_added(said, model, *tokens):
    """Every row that the page told is PyTorch's, and none is missing."""
    kept = recorded_layers(model, *tokens)
    found = {key: torch.full_like(x[0], torch.nan) for key, x in kept.items()}
    for row in said["added"]:
        stack = {Decoder: "stack"}.get(type(model), row["part"])
        name = f"{stack}.blocks.{row['layer']}.{row['name']}"
        for what in ("change", "x"):
            found[name, what][row["query"]] = torch.tensor(row[what])
    for key, x in kept.items():
        near(found[key], x[0])


@torch.no_grad()
def test_a_watch_hears_what_is_added_before_a_norm(page):
    config = tiny(residual="post", norm="layer", bias=True)
    model, draw = tiny_model(Decoder, config, torch.float32), random.Random(0)
    tokens = drawn(draw, config.vocab_size, 40)
    said = page(model).ask("watched", chunks=chunked(tokens, draw))
    tells_what_was_added(said, model, tokens)


@torch.no_grad()
def test_a_recorder_keeps_all_three_kinds_of_attention(page):
    model = shipped("number-translator").model
    draw = random.Random(0)
    source, target = drawn(draw, 384, 17), drawn(draw, 384, 11)
    said = page(model).ask("watched", source=source, chunks=chunked(target, draw))
    with record_attention(model) as record:
        model(torch.tensor([source]), torch.tensor([target]))
    for part, name in TRANSLATOR.items():
        layers = [record[name.format(n)] for n in range(model.config.n_layers)]
        same_weights(said["weights"][part], layers)
    assert [len(rows) for rows in said["streams"]["encoder"]] == [17] * 3
    tells_what_was_added(said, model, source, target)


CARRIER = tiny_model(Decoder, tiny(), torch.float32)
"""A tokenizer comes to the page with a model."""


def foreign():
    """A tokenizer whose merges join signs of many alphabets, with another alphabet."""
    text = " ".join(texts(300)[17:])
    order = tuple(reversed(range(256)))
    return Tokenizer.train(text, 600, special_tokens=("<a>", "é"), alphabet=order)


@pytest.mark.parametrize("which", ["manual-lm", "number-translator", "foreign"])
def test_tokens_are_those_of_the_library(page, which):
    tokenizer = foreign() if which == "foreign" else shipped(which).tokenizer
    draw, written = random.Random(0), texts(1000)
    ids = [drawn(draw, tokenizer.vocab_size, draw.randint(0, 30)) for _ in range(300)]
    ids += [drawn(draw, 256, 30) for _ in range(300)]  # hardly ever valid UTF-8
    said = page(pack_model(CARRIER, tokenizer)).ask("tokens", texts=written, ids=ids)
    assert said["ids"] == [tokenizer.encode(one) for one in written]
    assert said["back"] == written
    assert said["decoded"] == [tokenizer.decode(one) for one in ids]


def test_every_sign_of_unicode_is_cut_as_the_library_cuts_it(page):
    text = "".join(f"a{sign}1" for sign in all_signs())
    # merges with all of a sign's neighbors: a cut that is elsewhere shows
    high = range(128, 256)
    tokenizer = Tokenizer(
        (*((97, byte) for byte in high), *((byte, 49) for byte in high))
    )
    said = page(pack_model(CARRIER, tokenizer)).ask("tokens", texts=[text], ids=[])
    assert said["ids"] == [tokenizer.encode(text)]
