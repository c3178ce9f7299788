"""JSON Schemas of scenarios and records, and built-in scenarios for each kind of device."""

from __future__ import annotations

import json
from typing import Any, Literal

from nacre import _core
from nacre.scenario.models import KINDS


def schema(of: Literal["scenario", "record"] = "scenario") -> dict[str, Any]:
    """Returns the JSON Schema of scenarios, with every model and its settings, or of records."""
    found: dict[str, Any] = json.loads(_core.schema_of(of == "record"))
    return found


def templates() -> dict[str, str]:
    """Returns the name of a built-in scenario for each kind of device."""
    return dict(KINDS)
