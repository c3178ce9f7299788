"""Simulates scenarios: runs, single requests, tier mixes, plans, and power-loss tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base import late

if TYPE_CHECKING:
    from nacre.simulate.planning import Plan as Plan
    from nacre.simulate.power_loss import crash_random as crash_random
    from nacre.simulate.power_loss import faults as faults
    from nacre.simulate.stepping import Answer as Answer

__getattr__, __dir__ = late.names(
    __name__,
    {
        "Answer": "stepping",
        "Plan": "planning",
        "crash_random": "power_loss",
        "faults": "power_loss",
    },
)
