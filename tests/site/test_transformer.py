"""The pictures of the transformer: true, whole, and readable on a phone."""

import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from lxml.etree import tostring
from page_audit import in_page
from torch import Tensor, nn

from booksite.build import ROOT
from booksite.diagram import Part, all_of
from booksite.diagram import Tensor as Carried
from booksite.transformer import PICTURES, pages_of, target_of
from transformer_lib.attention import Attend, attention, attention_weights
from transformer_lib.blocks import Block, Config
from transformer_lib.cache import new_cache
from transformer_lib.decoder import Decoder
from transformer_lib.encoder_decoder import EncoderDecoder

pytestmark = pytest.mark.site

MOST_BYTES, LEAST_LETTERS = 16_000, 11  # pixels, on a phone
CHAPTERS = sorted(path.stem for path in ROOT.glob("chapters/[0-9][0-9]_*.ipynb"))
PAGES = {  # where the pictures are, and the parts that the reader finds marked
    "intro": ("encoder-decoder", []),
    "chapters/07_blocks": (
        "block",
        ["Block", "Norm", "Norm", "Feed-forward", "Widen, activate", "Narrow"],
    ),
    "chapters/09_decoder": ("decoder", ["Decoder"]),
    "chapters/10_encoder_decoder": ("encoder-decoder", ["Cross-attention"]),
}
FENCE = re.compile(r"```\{transformer\} (\S+)\n(.*?)```", re.DOTALL)
SHAPE = re.compile(r"\([\w ]+(?:, [\w ]+)+\)")

# Each length once, so that no axis can be taken for another; 3 tokens are cached.
SIZES = {"batch": 2, "seq": 5, "source_len": 7, "vocab": 11, "d_ff": 20}
SIZES |= {"n_heads": 3, "d_head": 4, "d_model": 12, "q_len": 5, "kv_len": 8}
CONFIG = Config(
    vocab_size=SIZES["vocab"],
    d_model=SIZES["d_model"],
    n_layers=2,
    n_heads=SIZES["n_heads"],
    d_ff=SIZES["d_ff"],
    max_len=8,
    feed_forward="relu",
    tied=False,
)


def model_of(picture: str, attend: Attend) -> tuple[nn.Module, dict[str, Tensor]]:
    """A model that is made as the picture says, and what goes in."""
    batch, seq = SIZES["batch"], SIZES["seq"]
    target = torch.zeros(batch, seq, dtype=torch.int64)
    if picture == "decoder":
        return Decoder(CONFIG, attend=attend), {"tokens": target}
    if picture == "encoder-decoder":
        source = target.new_zeros(batch, SIZES["source_len"])
        model = EncoderDecoder(CONFIG, attend=attend)
        return model, {"source": source, "target": target}
    block, cache = Block(CONFIG, attend), new_cache(CONFIG, batch, 8)[0]
    block(torch.zeros(batch, SIZES["kv_len"] - seq, SIZES["d_model"]), cache=cache)
    block.forward = partial(block.forward, cache=cache)
    return block, {"input": torch.zeros(batch, seq, SIZES["d_model"])}


def measured(picture: str) -> dict[str, torch.Size]:
    """The shapes in a small model of the library, by the names of its modules."""
    found: dict[str, torch.Size] = {}

    def attend(query, key, value, mask=None, *, dropout=0.0):
        result = attention(query, key, value, mask)
        seen = {"query": query, "key": key, "value": value, "output": result}
        seen["scores"] = query @ key.mT
        seen["weights"] = attention_weights(query, key, mask)
        found.update({f"attend.{name}": one.shape for name, one in seen.items()})
        return result

    def keep(name, module, given, result):
        found[name] = result.shape

    model, given = model_of(picture, attend)
    for name, module in model.named_modules():
        module.register_forward_hook(partial(keep, name or "output"))
    model(*given.values())
    return found | {name: one.shape for name, one in given.items()}


@pytest.mark.parametrize("picture", PICTURES)
def test_shapes_are_those_of_the_library(picture: str) -> None:
    shapes = measured(picture)
    tensors = [one for one in all_of(Carried, PICTURES[picture]) if one.axes]
    assert len(tensors) > 3
    for tensor in tensors:
        said = tuple(SIZES[axis] for axis in tensor.axes.split())
        assert said == tuple(shapes[tensor.of]), tensor


def test_texts_in_place_of_pictures_name_their_shapes_only() -> None:
    pages = [(ROOT / "intro.md").read_text("utf-8")]
    for path in ROOT.glob("chapters/*.ipynb"):
        cells = json.loads(path.read_text("utf-8"))["cells"]
        pages += ["".join(cell["source"]) for cell in cells]
    fences = [match for page in pages for match in FENCE.findall(page)]
    assert sorted(name for name, _ in fences) == sorted(n for n, _ in PAGES.values())
    for name, text in fences:
        known = {tensor.shape for tensor in all_of(Carried, PICTURES[name])}
        assert {*SHAPE.findall(text)} <= known
        assert max(map(len, text.splitlines())) <= 64


@pytest.mark.parametrize("page", PAGES)
def test_each_part_leads_to_its_chapter_and_says_where_the_reader_is(files, page):
    picture, marked = PAGES[page]
    (svg,) = files[f"{page}.html"].select("svg.tl-diagram[role=group]")
    assert len(tostring(svg)) <= MOST_BYTES
    links = svg.cssselect("a")
    parts = [*all_of(Part, PICTURES[picture])]
    assert len(links) == len(parts)
    for link, part in zip(links, parts, strict=True):
        address = "" if link.get("href") == "#" else link.get("href")
        there = Path(address or f"{page}.html").stem
        assert there == next(one for one in CHAPTERS if one[3:] == part.chapter)
        assert link.cssselect("text")[-1].text_content() == str(int(there[:2]))
        assert link.find("title").text.startswith(f"{part.name} (chapter ")
    here = svg.cssselect("a[aria-current=page]")
    assert [a.find("title").text.partition(" (")[0] for a in here] == marked


def test_the_map_leads_to_every_chapter(files) -> None:
    links = files["intro.html"].select("svg.tl-diagram a")
    assert sorted({Path(link.get("href")).stem for link in links}) == CHAPTERS


def test_each_chapter_begins_with_where_the_reader_is(files) -> None:
    for page, file in files.items():
        links = file.select("a.tl-here")
        assert len(links) == (Path(page).stem in CHAPTERS), page
        for link in links:
            assert link.get("href") == "../intro.html#the-whole-transformer"
            assert link.text_content() == "You are here"
            assert link.cssselect("svg[aria-hidden=true] .here"), page
    assert files["intro.html"].select("#the-whole-transformer")


@pytest.mark.parametrize("page", PAGES)
def test_letters_keep_their_size_and_place(visit, page: str) -> None:
    tab = visit(f"{page}.html", (360, 740))
    letters, faults = tab.evaluate(in_page("lettering"))
    assert min(letters) >= LEAST_LETTERS
    assert faults == []


def test_a_part_without_a_chapter_is_refused() -> None:
    contents = {"intro": ["chapters/04_attention"]}
    app = SimpleNamespace(
        env=SimpleNamespace(toctree_includes=contents),
        config=SimpleNamespace(root_doc="intro"),
    )
    with pytest.raises(Exception, match=r"chapter that _toc.yml names, got 'masks'"):
        target_of(app, pages_of(app), "intro", "", Part("Mask", "masks"))
