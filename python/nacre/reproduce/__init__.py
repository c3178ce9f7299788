"""Published results, recomputed by running the model.

A paper is a folder of `nacre/papers`: `claims.toml` says what was published, how closely it is to
be met, and which runs answer it; `plan.toml` says what those runs are.
"""

from nacre.reproduce.result import Reproduction
from nacre.reproduce.work import reproduce

__all__ = ["Reproduction", "reproduce"]
