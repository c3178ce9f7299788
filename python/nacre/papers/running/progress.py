"""Progress bar of a reproduction, with completed runs and estimated remaining time."""

from __future__ import annotations

from nacre.base.progress import Bar

_STEPS = 10_000


class RunsBar(Bar):
    """Progress bar for runs.

    A call passes the number of completed runs, the total number of runs, and the completed share of
    all work.
    """

    def __init__(self) -> None:
        super().__init__("reproducing", "runs")
        self._said = ""

    def __call__(self, done: int, total: int | None = None, *share: float) -> None:
        """Updates the bar."""
        self._said = f"{done} of {total} runs"
        super().__call__(round(_STEPS * (share[0] if share else 0.0)), _STEPS)

    def _rate(self, *_: float) -> str:
        return self._said

    def _done(self, *_: object) -> str:
        return self._said
