"""The book's own models: shipped, with their recipes, metrics and commands."""

import hashlib
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transformer_lib.checkpoints import load_model, save_model
from transformer_lib.tokens import Tokenizer

__all__ = ["Pretrained", "fingerprint", "load", "load_folder", "names", "save"]

MODELS = Path(__file__).parent / "models"
TOKENIZER = "tokenizer.json"


@dataclass(frozen=True)
class Pretrained:
    """A trained model in evaluation mode, and what is known of it.

    ``about`` holds the recipe, the metrics, and the command that made it.
    """

    model: Any
    tokenizer: Tokenizer | None
    about: dict[str, Any]

    @property
    def metrics(self) -> dict[str, float]:
        """What the model reached on data that it never saw."""
        return self.about["metrics"]


def names() -> list[str]:
    """Return the names of the models that are shipped."""
    return sorted(path.name for path in MODELS.iterdir() if path.is_dir())


def load(name: str) -> Pretrained:
    """Load one of the book's models, on the CPU.

    Raises:
        ValueError: if there is no such model.
    """
    if name not in names():
        raise ValueError(f"the book's models are {names()}, got {name!r}")
    return load_folder(MODELS / name)


def load_folder(folder: Path) -> Pretrained:
    """Load a model that `save` wrote.

    Raises:
        ValueError: if the folder holds no such model, or parts of one.
    """
    model, about = load_model(folder)
    path = folder / TOKENIZER
    return Pretrained(model, Tokenizer.load(path) if path.exists() else None, about)


def save(
    folder: Path, model: nn.Module, tokenizer: Tokenizer | None, about: dict[str, Any]
) -> None:
    """Write a model, its tokenizer and what is known of it into a new folder.

    Raises:
        ValueError: if the folder is in use.
    """
    where = {"python": platform.python_version(), "torch": torch.__version__}
    save_model(model, folder, metadata={**about, "made with": where})
    if tokenizer is not None:
        tokenizer.save(folder / TOKENIZER)


def fingerprint(model: nn.Module) -> str:
    """Return a short hash of all weights: the same run gives the same one."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        whole = tensor.detach().cpu().contiguous().flatten()
        digest.update(whole.view(torch.uint8).numpy().tobytes())  # bfloat16, too
    return digest.hexdigest()[:16]
