"""The book's own models: shipped, with their recipes, metrics and commands."""

from transformer_book.pretrained.store import Pretrained, load, names

__all__ = ["Pretrained", "load", "names"]
