"""What Nacre refuses is known by the code of the error; only tests of messages read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from nacre.errors import Code, Error


@contextmanager
def fails_with(code: Code, kind: type[Error] = Error) -> Iterator[pytest.ExceptionInfo[Error]]:
    """The block raises an error of this class, with this code."""
    with pytest.raises(kind) as raised:
        yield raised
    assert raised.value.code == code
