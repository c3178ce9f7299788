"""Lists built-in devices, workloads, scenarios, and models, with sources and schemas."""

from __future__ import annotations

from nacre.scenario.catalog import Entry, Value, entries
from nacre.scenario.models import Model, Setting, describe, models
from nacre.scenario.schemas import schema, templates
from nacre.scenario.source import Shipped, scenarios

__all__ = [
    "Entry",
    "Model",
    "Setting",
    "Shipped",
    "Value",
    "describe",
    "entries",
    "models",
    "scenarios",
    "schema",
    "templates",
]


def __dir__() -> list[str]:
    return sorted(__all__)
