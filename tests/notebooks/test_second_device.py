"""Every notebook that trains does so on a second device too, and leaves nothing behind.

Digits are not compared, as on a GPU: the notebooks' own asserts decide.
"""

import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from chapters import CHAPTERS, NOTEBOOKS
from tools.isolated import run_isolated
from tools.kernels import gpu_environment, without_outputs

ARRIVE = f"""
import sys
sys.path.append({str(Path(__file__).parents[1])!r})
from second_device import SECOND, SecondDevice
sys.path.pop()
import torch
from torch.nn.attention import flex_attention
from transformer_book import notebook
flex_attention._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # a mode forbids dynamo
asked = []
SecondDevice().__enter__()
notebook.device = lambda: asked.append(1) or torch.device(SECOND)
"""
# PyTorch computes a GRU of such a device by a kernel that only real GPUs have.
FUSED = {"00_prologue"}
TRAINING = [
    path
    for path in NOTEBOOKS
    if "device()" in path.read_text("utf-8") and path.stem not in FUSED
]


def run_there(notebook: nbformat.NotebookNode) -> str:
    """Run a notebook as if the second device were a GPU; what failed, or nothing."""
    cells = without_outputs(notebook).cells
    notebook.cells = [new_code_cell(ARRIVE), *cells, new_code_cell("assert asked")]
    return run_isolated(notebook, sys.executable, gpu_environment())


@pytest.mark.nightly
@pytest.mark.parametrize("path", TRAINING, ids=lambda path: path.stem)
def test_it_runs_there(path):
    assert run_there(nbformat.read(path, as_version=4)) == ""


def test_what_is_left_on_the_cpu_stops_it():
    masks = (CHAPTERS / "05_masks.ipynb").read_text("utf-8")
    forgetful = masks.replace("batch = batch.to(device())", "pass")
    assert forgetful != masks
    notebook = nbformat.reads(forgetful, as_version=4)
    assert "found at least two devices" in run_there(notebook)
