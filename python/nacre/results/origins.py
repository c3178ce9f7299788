"""Lists assumed values by their origins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def assumed(origins: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the paths of values with the confidence `assumed`."""
    return [str(origin["path"]) for origin in origins if origin["confidence"] == "assumed"]
