"""What users are told when something does not fit."""

import pytest


def refused(message):
    """Expect a `ValueError` that says this, a regular expression."""
    return pytest.raises(ValueError, match=message)
