"""Typed configurations: a class for each model, and `presets` with a function for each device.

    from nacre.config import Scenario, ZipfWorkload, presets

The fields of a class are the settings of its model; omitted fields have the model's defaults.
`nacre.run` accepts a `Scenario`. All classes are generated, so editors and type checkers know them.
"""

from nacre.config import presets
from nacre.config._generated import *  # noqa: F403
from nacre.config._generated import __all__ as _generated_names
from nacre.config.base import Preset, Table

__all__ = [*_generated_names, "Preset", "Table", "presets"]
