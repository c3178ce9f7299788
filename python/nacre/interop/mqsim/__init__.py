"""Converts MQSim's input files into scenarios."""

from nacre.interop.mqsim.comparison import Row, compare
from nacre.interop.mqsim.scenario import Translation, translate
from nacre.interop.mqsim.settings import read, read_drive, read_flows

__all__ = ["Row", "Translation", "compare", "read", "read_drive", "read_flows", "translate"]
