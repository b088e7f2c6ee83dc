"""Fixtures that every test folder may ask for; PyTorch learns of its second device."""

import second_device  # noqa: F401 - before the first backward, which counts devices
from browser import chromium

__all__ = ["chromium"]
