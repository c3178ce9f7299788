"""Published results, recomputed by running the model.

A paper is a folder of `nacre/papers`: `claims.toml` says what was published, how closely it is to
be met, and which runs answer it; `plan.toml` says what those runs are.
"""

from nacre.reproduce.judge import Row
from nacre.reproduce.known import Claim, Made, Paper, published
from nacre.reproduce.result import Reproduction
from nacre.reproduce.work import reproduce

__all__ = ["Claim", "Made", "Paper", "Reproduction", "Row", "published", "reproduce"]
