"""A function for each device of the catalog, such as `presets.pcm_ssd(capacity="1 GiB")`.

Use the return value as a device in a configuration. The arguments override settings of the preset.
"""

from nacre.config._presets import *  # noqa: F403
from nacre.config._presets import __all__ as __all__
