"""The library of the book *Transformers, Piece by Piece*.

Each module imports only modules earlier in this list, the order of the chapters::

    tokens embeddings positions attention masks multihead blocks encoder decoder
    encoder_decoder training cache sampling checkpoints inspection parallel experts
    serving adaptation

Import from the module that a chapter teaches, for example
``from transformer_lib.attention import attention``.
"""

__version__ = "0.1.0"
