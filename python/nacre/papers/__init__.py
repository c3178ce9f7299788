"""Published results, recomputed by running the model.

A paper is a folder of `nacre/papers/systems`: `claims.toml` says what was published, how closely
it is to be met, and which runs answer it; `plan.toml` says what those runs are.
"""

from nacre.papers.judging.judge import Row
from nacre.papers.known import (
    Claim,
    Made,
    Paper,
    published,
)
from nacre.papers.result import Reproduction
from nacre.papers.work import reproduce

__all__ = ["Claim", "Made", "Paper", "Reproduction", "Row", "published", "reproduce"]
