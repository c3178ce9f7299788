"""MQSim's inputs as scenarios of Nacre."""

from nacre.interop.mqsim.comparison import Row, compare
from nacre.interop.mqsim.scenario import Translation, translate
from nacre.interop.mqsim.settings import read, read_drive, read_flows

__all__ = ["Row", "Translation", "compare", "read", "read_drive", "read_flows", "translate"]
