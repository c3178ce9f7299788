"""Base classes of all configurations, with conversion to TOML tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


class Table:
    """Base class of configurations. The fields are the settings of one TOML table of a scenario."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the table without fields that are `None`."""
        values = ((item.name, getattr(self, item.name)) for item in fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in values if value is not None}


@dataclass(frozen=True)
class Preset(Table):
    """A catalog entry whose settings can be overridden.

    For example `Preset("pcm_ssd", {"capacity": "1 GiB"})`.
    """

    preset: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Returns the table with the name of the entry and the overridden settings."""
        return {
            "preset": self.preset,
            **{name: _plain(value) for name, value in self.settings.items()},
        }


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
