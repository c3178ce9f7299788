"""Analyses of traces, and workloads that were fitted to traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nacre.base.text import count, duration, numbered, size
from nacre.base.view import View
from nacre.results.base import Result

if TYPE_CHECKING:
    import polars as pl

_HEAD = """\
# A synthetic workload fitted to a trace, without its addresses.
# Give it a stack and run it:
#   nacre run THIS_FILE --set stack.preset=pcm_ssd
"""


class TraceInfo(Result, View):
    """Result of `nacre.traces.info`. `profile` describes popularity, reuse, sizes, and arrivals."""

    __slots__ = ()

    def __repr__(self) -> str:
        amount = size(self.footprint_bytes)
        span = f" in {duration(self.duration_s * 1e9)}" if self.duration_s else ""
        damage = f", {count(self.bad_records)} damaged" if self.bad_records else ""
        requests = f"{numbered(self.records, 'request')}{span}, {count(self.reads)} of them reads"
        return f"<nacre.TraceInfo {self.format}: {requests}; {amount} touched{damage}>"


class FittedWorkload(Result):
    """Table `[workload]` of a scenario, and its distance from the trace to which it was fitted."""

    def __init__(self, text: str, found: Mapping[str, Any]) -> None:
        self._found = View(found)
        notes = "".join(f"# note: {line}\n" for line in self.warnings)
        self.text = f"{_HEAD}{notes}\n{text}"

    @property
    def zipf_theta(self) -> float | None:
        """Zipf exponent of block popularity, or None if a Zipf distribution does not fit."""
        return None if self._found.zipf_theta is None else float(self._found.zipf_theta)

    @property
    def trace(self) -> View:
        """Profile of the trace."""
        return View(self._found["trace"])

    @property
    def workload(self) -> View:
        """Profile of the fitted workload."""
        return View(self._found["workload"])

    @property
    def warnings(self) -> list[str]:
        """Assumptions about the trace, and problems of the trace."""
        return list(self._found.warnings)

    @property
    def closeness(self) -> dict[str, float]:
        """Largest difference between trace and workload for each curve, from 0 (equal) to 1."""
        return {row.curve: float(row.distance) for row in self._found.closeness}

    def to_polars(self) -> pl.DataFrame:
        """Returns a row per curve: `curve`, `distance`."""
        import polars as pl

        found = self.closeness
        return pl.DataFrame({"curve": list(found), "distance": list(found.values())})

    def to_dict(self) -> dict[str, Any]:
        """Returns the distances, and the profiles of trace and workload."""
        return self._found.to_dict()

    def __repr__(self) -> str:
        curve, distance = max(self.closeness.items(), key=lambda item: item[1])
        return f"<nacre.FittedWorkload farthest in {curve}: {distance:.3f}>"
