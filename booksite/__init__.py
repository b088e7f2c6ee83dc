"""The Sphinx side of the book, and the commands that build and serve it.

Everything that a page needs is copied into the book, so that it works with no network
and from disk.
"""
