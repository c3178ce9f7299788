"""Workloads fitted to traces: the shape without the addresses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nacre.base.view import View
from nacre.files.saving import write_file

if TYPE_CHECKING:
    import polars as pl

_HEAD = """\
# A workload with the shape of a trace and none of its addresses.
# Give it a stack and run it:
#   nacre run THIS_FILE --set stack.preset=pcm_ssd
"""


class FittedWorkload:
    """The table `[workload]` of a scenario, and how close it comes to the trace it is fitted to."""

    def __init__(self, text: str, found: Mapping[str, Any]) -> None:
        self._found = View(found)
        notes = "".join(f"# note: {line}\n" for line in self.warnings)
        self.text = f"{_HEAD}{notes}\n{text}"

    @property
    def zipf_theta(self) -> float | None:
        """The exponent of Zipf's law for the popularity of blocks, where that law describes it."""
        return None if self._found.zipf_theta is None else float(self._found.zipf_theta)

    @property
    def trace(self) -> View:
        """What the trace is like."""
        return View(self._found["trace"])

    @property
    def workload(self) -> View:
        """What the workload is like."""
        return View(self._found["workload"])

    @property
    def warnings(self) -> list[str]:
        """What was assumed of the trace, or is not as it should be."""
        return list(self._found.warnings)

    @property
    def closeness(self) -> dict[str, float]:
        """By curve, the largest difference of shares: 0 is the same, 1 as far as can be."""
        return {row.curve: float(row.distance) for row in self._found.closeness}

    def frame(self) -> pl.DataFrame:
        """One row per curve: `curve`, `distance`."""
        import polars as pl

        found = self.closeness
        return pl.DataFrame({"curve": list(found), "distance": list(found.values())})

    def to_dict(self) -> dict[str, Any]:
        """The closeness, and both descriptions."""
        return self._found.to_dict()

    def save(self, path: str | os.PathLike[str], *, replace: bool = True) -> None:
        """Writes the workload as TOML, over a file that is there unless `replace` is false."""
        write_file(Path(path), self.text.encode(), replace=replace)

    def __repr__(self) -> str:
        curve, distance = max(self.closeness.items(), key=lambda item: item[1])
        return f"<nacre.FittedWorkload farthest in {curve}: {distance:.3f}>"
