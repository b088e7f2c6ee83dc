"""Checkpoints: weights that others trained, and our own, from file to model and back.

Only safetensors files are read and written: numbers and names. A pickle is a program,
and reading it runs it.
"""

from transformer_lib.checkpoints.conversion import (
    gpt2_config,
    llama_config,
    load_gpt2,
    load_llama,
    rename_gpt2,
    to_hf,
)
from transformer_lib.checkpoints.files import (
    fill,
    read_safetensors,
    write_safetensors,
)
from transformer_lib.checkpoints.folders import (
    from_pretrained,
    load_model,
    save_model,
    save_pretrained,
)

__all__ = [
    "fill",
    "from_pretrained",
    "gpt2_config",
    "llama_config",
    "load_gpt2",
    "load_llama",
    "load_model",
    "read_safetensors",
    "rename_gpt2",
    "save_model",
    "save_pretrained",
    "to_hf",
    "write_safetensors",
]
