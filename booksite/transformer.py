"""`{transformer} <picture>`: the whole transformer, each part a link to its chapter.

The directive's text is what a notebook shows in place of the picture.
"""

import re
from functools import partial
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from booksite.deeper import raw
from booksite.diagram import (
    Item,
    Layer,
    Part,
    Picture,
    Stack,
    Target,
    Tensor,
    all_of,
    draw,
)

CHAPTER = re.compile(r"chapters/(?P<number>\d\d)_(?P<noun>\w+)")

NORM, FEED_FORWARD = Part("Norm", "blocks"), Part("Feed-forward", "blocks")
TOKENS, EMBEDDING = Part("Tokens", "tokens"), Part("Embedding", "embeddings")
POSITIONS = Part("Positions", "positions", role="position")
ATTENTION, MASK = Part("Attention", "attention"), Part("Mask", "masks", role="mask")
CACHE = Part("KV cache", "cache")
STREAM, SOURCE = "batch seq d_model", "batch source_len d_model"
TIMES = "× n_layers"


def multihead(*within: Part) -> Layer:
    return Layer(NORM, Part("Multi-head", "multihead", within))


def ending(token: str) -> tuple[Item, ...]:
    """From the last states to the next token."""
    return (
        Part("Unembedding", "embeddings"),
        Tensor("batch seq vocab", "output"),
        Part("Sampling", "sampling"),
        Tensor("", "", f"next token: {token}", role="again"),
    )


ENCODER_BLOCK = Stack(
    Part("Block", "blocks"), (multihead(ATTENTION), Layer(NORM, FEED_FORWARD)), TIMES
)
CROSS_BLOCK = Stack(
    Part("Block", "blocks"),
    (
        multihead(CACHE, MASK, ATTENTION),
        Tensor(STREAM, "decoder.blocks.0.attention"),
        Layer(NORM, Part("Cross-attention", "encoder_decoder", reads_memory=True)),
        Layer(NORM, FEED_FORWARD),
    ),
    TIMES,
)
ENCODER_DECODER = Picture(
    "The whole transformer",
    "An encoder reads the source; a decoder writes the target, token by token. Both "
    "add to a stream of vectors. The decoder's cross-attention reads what the encoder "
    "ends with. Data flows down. Each part leads to its chapter.",
    width=342,
    before=Part("Why attention", "prologue"),
    shared=(
        (
            Tensor("", "", "source: twenty-one"),
            Tensor("", "", "target: <start> ein und zwan", role="again"),
        ),
        TOKENS,
        (Tensor("batch source_len", "source"), Tensor("batch seq", "target")),
        EMBEDDING,
        POSITIONS,
    ),
    columns=(
        (
            Tensor(SOURCE, "encoder.dropout"),
            Stack(Part("Encoder", "encoder"), (ENCODER_BLOCK, NORM)),
            Tensor(SOURCE, "encoder.norm", role="memory"),
        ),
        (
            Tensor(STREAM, "decoder.dropout"),
            Stack(Part("Decoder", "decoder"), (CROSS_BLOCK, NORM)),
            Tensor(STREAM, "decoder.norm"),
            *ending("zig"),
        ),
    ),
    around=(
        Part("Training", "training"),
        Part("Checkpoints", "checkpoints"),
        Part("Looking inside", "inspection"),
        Part("Beyond one machine", "parallel"),
        Part("Experts", "experts"),
        Part("Serving", "serving"),
        Part("Adaptation", "adaptation"),
    ),
)

DECODER_BLOCK = Stack(
    Part("Block", "blocks"),
    (multihead(POSITIONS, CACHE, MASK, ATTENTION), Layer(NORM, FEED_FORWARD)),
    TIMES,
)
DECODER = Picture(
    "The decoder-only transformer",
    "Tokens become vectors, which run through the decoder's blocks. Each block lets a "
    "token attend to those before it, and then computes token by token; both add to "
    "the stream. Scores of the vocabulary choose the next token, which goes in again. "
    "Data flows down. Each part leads to its chapter.",
    width=300,
    shared=(
        (Tensor("", "", "text: The while sta", role="again"),),
        TOKENS,
        (Tensor("batch seq", "tokens"),),
        EMBEDDING,
    ),
    columns=(
        (
            Tensor(STREAM, "embedding"),
            Stack(Part("Decoder", "decoder"), (DECODER_BLOCK, NORM)),
            Tensor(STREAM, "stack.norm"),
            *ending("te"),
        ),
    ),
)

QUERIES, KEYS = "batch n_heads q_len d_head", "batch n_heads kv_len d_head"
SCORES = "batch n_heads q_len kv_len"
HEADS = (
    (
        Part("Query", "attention", role="query"),
        Part("Key", "attention", role="key", lanes=(1, 1)),
        Part("Value", "attention", role="value", lanes=(2, 2)),
    ),
    (
        Tensor(QUERIES, "attend.query"),
        Tensor(KEYS, "attend.key", lane=1),
        Tensor(KEYS, "attend.value", lane=2),
    ),
    Part("Scores Q Kᵀ / √d_head", "attention", lanes=(0, 1)),
    (Tensor(SCORES, "attend.scores"),),
    Part("Mask", "masks", role="mask", lanes=(0, 1)),
    (Tensor(SCORES, "attend.scores"),),
    Part("Softmax", "attention", lanes=(0, 1)),
    (Tensor(SCORES, "attend.weights"),),
    Part("Weighted sum of values", "attention", lanes=(0, 2)),
    (Tensor(QUERIES, "attend.output"),),
    Part("Merge heads, project", "multihead", lanes=(0, 2)),
)
WIDE = (
    Part("Widen, activate", "blocks"),
    (Tensor("batch seq d_ff", "feed_forward.layer.up"),),
    Part("Narrow", "blocks"),
)
BLOCK = Picture(
    "A block",
    "A pre-norm block. Each half reads the stream through a norm and adds to it. In "
    "the first, queries meet keys in every head: scores, mask, softmax, and a weighted "
    "sum of the values; in the second, each token passes through a wider layer alone. "
    "Data flows down. Each part leads to its chapter.",
    width=342,
    columns=(
        (
            Tensor(STREAM, "input"),
            Stack(
                Part("Block", "blocks"),
                (
                    Layer(
                        NORM,
                        Part("Multi-head attention", "multihead", HEADS),
                        Tensor(STREAM, "attention.norm"),
                        Tensor(STREAM, "attention.layer"),
                    ),
                    Layer(
                        NORM,
                        Part("Feed-forward", "blocks", WIDE),
                        Tensor(STREAM, "feed_forward.norm"),
                        Tensor(STREAM, "feed_forward.layer"),
                    ),
                ),
            ),
            Tensor(STREAM, "output"),
        ),
    ),
    note="q_len is seq, and so is kv_len where no cache adds to it.",
)
PICTURES = {"block": BLOCK, "decoder": DECODER, "encoder-decoder": ENCODER_DECODER}


class transformer(nodes.General, nodes.Element):
    """Where a picture is, until all titles are known."""


class Transformer(SphinxDirective):
    """`{transformer} name`, with the chapter that the reader is in as `:here:`."""

    required_arguments = 1
    option_spec: ClassVar = {"here": directives.unchanged}
    has_content = True

    def run(self) -> list[nodes.Node]:
        name, here = self.arguments[0], self.options.get("here", "")
        if name not in PICTURES:
            raise self.error(
                f"a picture of the transformer must be one of {', '.join(PICTURES)}, "
                f"got {name!r}; name one of them"
            )
        chapters = {part.chapter for part in all_of(Part, PICTURES[name])}
        if here and here not in chapters:
            raise self.error(
                f":here: must be a chapter that the picture {name!r} leads to, got "
                f"{here!r}; write one of {', '.join(sorted(chapters))}"
            )
        if not self.content:
            raise self.error(
                "a picture of the transformer must have a text, got none; write below "
                f"{{transformer}} {name} what a notebook shows in its place"
            )
        return [transformer(picture=name, here=here)]


def pages_of(app: Sphinx) -> dict[str, str]:
    """The pages of the chapters in the contents, by the nouns of their names."""
    named = map(CHAPTER.fullmatch, app.env.toctree_includes[app.config.root_doc])
    return {match["noun"]: match[0] for match in named if match}


def number_of(page: str) -> int:
    """The number of a chapter, as its page is named."""
    return int(page.split("/")[1][:2])


def target_of(
    app: Sphinx, pages: dict[str, str], docname: str, here: str, part: Part
) -> Target:
    """The chapter of a part, as this page links it.

    Raises:
        ExtensionError: the contents name no such chapter.
    """
    if part.chapter not in pages:
        raise ExtensionError(
            "a part must lead to a chapter that _toc.yml names, got "
            f"{part.chapter!r} for {part.name!r}; mend booksite/transformer.py"
        )
    page = pages[part.chapter]
    number = number_of(page)
    address = app.builder.get_relative_uri(docname, page) or "#"
    title = app.env.titles[page].astext()
    return Target(address, number, title, part.chapter == here)


def draw_pictures(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    for place in [*doctree.findall(transformer)]:
        target = partial(target_of, app, pages_of(app), docname, place["here"])
        svg = draw(PICTURES[place["picture"]], target)
        place.replace_self(raw(svg))


def setup(app: Sphinx) -> None:
    app.add_directive("transformer", Transformer)
    app.add_node(transformer)
    app.connect("doctree-resolved", draw_pictures)
