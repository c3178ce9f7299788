"""JSON Schemas of scenarios and records, and templates for each device."""

from __future__ import annotations

import json
from typing import Any, Literal

from nacre import _core
from nacre.scenario.models import KINDS


def schema(of: Literal["scenario", "record"] = "scenario") -> dict[str, Any]:
    """The JSON Schema of scenarios, with every model and its settings, or that of records."""
    found: dict[str, Any] = json.loads(_core.schema_of(of == "record"))
    return found


def templates() -> dict[str, str]:
    """Built-in scenario for each kind of device."""
    return dict(KINDS)
