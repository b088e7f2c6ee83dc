"""Fixtures that every test folder may ask for."""

from browser import chromium

__all__ = ["chromium"]
