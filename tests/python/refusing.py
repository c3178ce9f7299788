"""Checks errors by their codes; only tests of messages compare the text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from nacre.errors import Code, Error


@contextmanager
def fails_with(code: Code, kind: type[Error] = Error) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expects an error of this class with this code in the block."""
    with pytest.raises(kind) as raised:
        yield raised
    assert raised.value.code == code
