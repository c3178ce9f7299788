"""The bar of a reproduction: runs ended, and time left by the work that is done."""

from __future__ import annotations

from nacre.base.progress import Bar

_STEPS = 10_000


class RunsBar(Bar):
    """Call it with runs ended, runs in all, and the share of all work that is done."""

    def __init__(self) -> None:
        super().__init__("reproducing", "runs")
        self._said = ""

    def __call__(self, done: int, total: int | None = None, *share: float) -> None:
        """Draws the bar anew."""
        self._said = f"{done} of {total} runs"
        super().__call__(round(_STEPS * (share[0] if share else 0.0)), _STEPS)

    def _rate(self, *_: float) -> str:
        return self._said

    def _done(self, *_: object) -> str:
        return self._said
