"""What the pages of *Transformers, Piece by Piece* need beside `transformer_lib`.

``figures`` are the live figures, ``exercises`` the checks, ``tasks`` and ``pretrained``
data and trained models, ``notebook`` what every notebook begins with. Two are commands:
``python -m transformer_book.train`` and ``python -m transformer_book.generate``.
"""
