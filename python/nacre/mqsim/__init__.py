"""MQSim's inputs as scenarios of Nacre."""

from nacre.mqsim.scenario import Translation, translate
from nacre.mqsim.settings import read_drive, read_flows

__all__ = ["Translation", "read_drive", "read_flows", "translate"]
