"""What tests of files with weights share."""

import json
import os

import torch


def change_json(path, **fields):
    """Set fields of a JSON file; None takes one away."""
    saved = {**json.loads(path.read_text()), **fields}
    path.write_text(json.dumps({k: v for k, v in saved.items() if v is not None}))


def equal(one, other):
    """Say whether two dictionaries hold the same tensors, to the bit."""
    return one.keys() == other.keys() and all(
        torch.equal(one[name], other[name]) and one[name].dtype == other[name].dtype
        for name in one
    )


class Bomb:
    """Ends the process when it is unpickled."""

    def __reduce__(self):
        return (os.abort, ())
