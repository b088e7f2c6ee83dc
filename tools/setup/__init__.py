"""Set-up of `.venv`, `node_modules` and `.venv.classic`: `python3 -m tools.setup`.

Only the standard library, and no syntax newer than Python 3.8: an older Python
must get far enough to look for a newer one, or to say that there is none.
"""
