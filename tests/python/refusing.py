"""Checks errors by their codes. Only tests of messages compare texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from nacre.errors import Code, Error


@contextmanager
def fails_with(code: Code, kind: type[Error] = Error) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expects that the block raises an error of this class with this code."""
    with pytest.raises(kind) as raised:
        yield raised
    assert raised.value.code == code
