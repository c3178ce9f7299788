"""Typed configurations: a class for each model, and `presets` with a function for each device.

    from nacre.config import Scenario, ZipfWorkload, presets

A class has the settings of its model, and takes the model's defaults for what is left out; a
`Scenario` of them is run as it is. All of it is generated, so editors and type checkers know it.
"""

from nacre.config import presets
from nacre.config._generated import *  # noqa: F403
from nacre.config._generated import __all__ as _generated_names
from nacre.config.base import Preset, Table

__all__ = [*_generated_names, "Preset", "Table", "presets"]
