"""Reproduces published results with the models.

Each paper has a folder in `nacre/papers/systems`. In this folder, `claims.toml` contains the
published values, the tolerances, and the names of the runs that test each claim. `plan.toml`
defines these runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nacre.base import late

if TYPE_CHECKING:
    from nacre.papers.known import Claim as Claim
    from nacre.papers.known import Made as Made
    from nacre.papers.known import Paper as Paper
    from nacre.papers.known import published as published
    from nacre.papers.result import Reproduction as Reproduction

__getattr__, __dir__ = late.names(
    __name__,
    {
        "Claim": "known",
        "Made": "known",
        "Paper": "known",
        "Reproduction": "result",
        "published": "known",
    },
)
