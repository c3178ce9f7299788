"""Simulated devices that store data: memories that programs open, served block devices, images.

`served` serves a device inside a `with` block. `Control` monitors and controls a served device,
including a device that another process serves. `images` checks and recovers image files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base import late

if TYPE_CHECKING:
    from nacre.devices import images as images
    from nacre.devices.control import Control as Control
    from nacre.devices.memory import Memory as Memory
    from nacre.devices.memory import Zone as Zone
    from nacre.devices.server import Served as Served
    from nacre.devices.server import served as served
    from nacre.devices.serving import Listening as Listening
    from nacre.devices.serving import ServeOptions as ServeOptions

__getattr__, __dir__ = late.names(
    __name__,
    {
        "Control": "control",
        "Listening": "serving",
        "Memory": "memory",
        "ServeOptions": "serving",
        "Served": "server",
        "Zone": "memory",
        "images": "images",
        "served": "server",
    },
)
