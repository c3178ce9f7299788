"""Typed configurations: a class for each model, and a function for each catalog device.

    from nacre.config import Scenario, ZipfWorkload, presets

The fields of a class are the settings of its model. If you omit a field, the model uses its
default. `nacre.run` accepts a `Scenario`. Editors complete the names of the fields, and type
checkers check their values.
"""

from nacre.config import presets
from nacre.config._generated import *  # noqa: F403
from nacre.config._generated import __all__ as _generated_names
from nacre.config.base import Preset, Table

__all__ = [*_generated_names, "Preset", "Table", "presets"]
