"""Typed configurations: one class per room, generated from the model."""

from nacre.config._generated import *  # noqa: F403
from nacre.config._generated import __all__ as _generated_names
from nacre.config.base import Preset, Table

__all__ = [*_generated_names, "Preset", "Table"]
