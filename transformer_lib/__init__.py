"""The library of the book *Transformers, Piece by Piece*.

The modules form a tower, and each imports only modules earlier in this list::

    positions attention masks

Import from the module that a chapter teaches, for example
``from transformer_lib.attention import attention``.
"""

__version__ = "0.1.0"
