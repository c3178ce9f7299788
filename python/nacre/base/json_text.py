"""JSON encoding of documents with infinite numbers, which JSON cannot represent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def as_json(content: object) -> bytes:
    """Encodes a document as JSON. Infinite numbers and NaN become null."""
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(content), ensure_ascii=False, allow_nan=False)
    return text.encode(errors="replace")


def _finite(item: Any) -> Any:
    if isinstance(item, float):
        return item if math.isfinite(item) else None
    if isinstance(item, Mapping):
        return {str(key): _finite(each) for key, each in item.items()}
    if isinstance(item, list | tuple):
        return [_finite(each) for each in item]
    return item
