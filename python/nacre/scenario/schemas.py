"""What scenarios and records may hold, as JSON Schema; and what to begin each device with."""

from __future__ import annotations

import json
from typing import Any, Literal

from nacre import _core
from nacre.scenario.models import KINDS


def schema(of: Literal["scenario", "record"] = "scenario") -> dict[str, Any]:
    """The JSON Schema of scenarios, with every model and its settings; or that of records."""
    found: dict[str, Any] = json.loads(_core.schema_of(of == "record"))
    return found


def templates() -> dict[str, str]:
    """By kind of device, the shipped scenario whose stack it is."""
    return dict(KINDS)
