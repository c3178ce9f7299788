"""Origins of values, and a list of assumed values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def assumed(origins: Iterable[Mapping[str, Any]]) -> list[str]:
    """Paths of the values that were not measured or published."""
    return [str(origin["path"]) for origin in origins if origin["confidence"] == "assumed"]
