"""The names on the page of other people's names are theirs."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama

from transformer_lib import blocks, decoder, encoder_decoder, multihead
from transformer_lib.blocks import Config
from transformer_lib.checkpoints.families import GPT2, LLAMA

PAGE = Path(__file__).parents[2] / "chapters/rosetta.md"
MODULES = (multihead, blocks, decoder, encoder_decoder)
FAMILIES = {"GPT-2": GPT2, "Llama": LLAMA}


def table(heading: str) -> list[dict[str, list[str]]]:
    """The rows of a table: the code names of each cell by the column's head."""
    section = PAGE.read_text("utf-8").split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = re.findall(r"^\|(.*)\|$", section, re.M)
    head, _, *rows = ([cell.strip() for cell in line.split("|")] for line in lines)
    codes = ([re.findall("`([^`]+)`", cell) for cell in row] for row in rows)
    return [dict(zip(head, row, strict=True)) for row in codes]


@pytest.mark.parametrize(
    ("column", "places"),
    [
        ("Here", MODULES),
        ("`torch.nn`", (nn,)),
        ("Hugging Face, GPT-2", (modeling_gpt2,)),
        ("Hugging Face, Llama", (modeling_llama,)),
    ],
)
def test_parts_exist(column, places):
    names = [name for row in table("Parts") for name in row[column]]
    assert names
    for name in names:
        assert any(hasattr(place, name) for place in places), name


def test_numbers_are_fields_of_our_config():
    ours = [row["Here"][0] for row in table("Numbers")]
    assert set(ours) <= {field.name for field in fields(Config)}
    assert len(set(ours)) == len(ours)


@pytest.mark.parametrize("column", FAMILIES)
def test_numbers_are_those_that_a_checkpoint_is_read_by(column):
    theirs = {name: row["Here"][0] for row in table("Numbers") for name in row[column]}
    expected = dict(FAMILIES[column].fields)
    if column == "GPT-2":
        expected["n_inner"] = "d_ff"  # read_gpt2 reads it
    assert theirs == expected


def test_numbers_are_arguments_of_torch():
    classes = (nn.Embedding, nn.MultiheadAttention, nn.LayerNorm, nn.TransformerEncoder)
    kinds = (*classes, nn.TransformerEncoderLayer)
    known = {name for kind in kinds for name in inspect.signature(kind).parameters}
    named = {name for row in table("Numbers") for name in row["`torch.nn`"]}
    assert named
    assert named <= known


@pytest.mark.parametrize("column", FAMILIES)
def test_weights_are_those_that_a_checkpoint_is_read_by(column):
    shown = {
        (theirs, row["Here"][0]) for row in table("Weights") for theirs in row[column]
    }
    expected = {
        (theirs.format(0), ours.format(0))
        for theirs, (_, *parts) in FAMILIES[column].modules.items()
        for ours in parts
    }
    assert shown == expected


def test_weights_are_those_of_torch():
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    column = "`TransformerEncoderLayer`"
    names = {name for row in table("Weights") for name in row[column]}
    state = {name.removesuffix(".weight") for name in layer.state_dict()}
    state -= {name for name in state if name.endswith("bias")}
    assert names == state | {"self_attn.in_proj_weight"}


def test_masks_mean_what_the_page_says():
    x = torch.eye(3)[None]
    first = torch.tensor([[True, False, False]]).expand(3, 3)
    seen = F.scaled_dot_product_attention(x, x, x, attn_mask=first)
    assert torch.equal(seen, x[:, :1].expand(1, 3, 3))
    layer = nn.MultiheadAttention(3, 1, batch_first=True)
    _, weights = layer(x, x, x, attn_mask=~first)
    assert torch.equal(weights, x[:, :1].expand(1, 3, 3))
    meanings = PAGE.read_text("utf-8")
    assert (
        "| `F.scaled_dot_product_attention` | `attn_mask` | True: may look" in meanings
    )
    assert "`attn_mask`, `key_padding_mask` | True: may **not** look" in meanings
