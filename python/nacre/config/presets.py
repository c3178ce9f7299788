"""A function for each device of the catalog, such as `presets.pcm_ssd(capacity="1 GiB")`.

Use the result as a device in a configuration. The arguments are settings of the device's model.
"""

from nacre.config._presets import *  # noqa: F403
from nacre.config._presets import __all__ as __all__
