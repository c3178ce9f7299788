"""Base class of results, which can be plotted, summarized, saved, and loaded.

Only this module imports from a higher layer, namely the kinds of results (`nacre.kinds`). The
imports are in functions, so that results themselves are plain data.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

    import altair as alt

    from nacre.words.summary import Summary


class Result:
    """Base class of all results."""

    __slots__ = ()

    @property
    def plot(self) -> Plots:
        """Plot functions.

        `result.plot()` plots the first figure, and e.g. `result.plot.wear()` a specific figure.
        """
        return Plots(self)

    def summary(self) -> Summary:
        """Returns the summary, which contains headline, facts, tables, figures, and assumptions."""
        from nacre import kinds

        return kinds.of(self).summary(self)

    def save(
        self, path: str | os.PathLike[str], *, figures: bool = False, replace: bool = True
    ) -> Path:
        """Saves the result as the command line does.

        A curve is saved as a file, other results as a directory.

        Each file is written completely or not at all. If `figures` is true, figures are written
        last. Figures of an earlier result in the directory are removed. If `replace` is false, an
        existing result is not replaced.
        """
        from nacre import kinds

        return kinds.save(self, Path(path), figures=figures, replace=replace)

    def draw(
        self, directory: str | os.PathLike[str], stop: Callable[[], bool] = lambda: False
    ) -> bool:
        """Saves the figures to a directory. Each file is saved as soon as its figure is plotted.

        Calls `stop` between files. If `stop` returns true, this method stops and returns False.
        """
        from nacre import kinds
        from nacre.files.atomic import write_file

        return kinds.draw(self, lambda name, data: write_file(Path(directory, name), data), stop)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Loads a saved result. Raises `Error` for any other file or directory."""
        from nacre import kinds

        found: Self = kinds.of_class(cls).read(Path(path))
        return found

    def _repr_html_(self) -> str:
        from nacre import kinds

        return kinds.of(self).html(self)


class Plots:
    """Plot functions of a result. `dir()` lists the figures for which the result has data."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __call__(self, *about: Any, **options: Any) -> alt.TopLevelMixin:
        """Plots the first figure."""
        from nacre import kinds

        return next(iter(kinds.of(self._result).plots().values()))(self._result, *about, **options)

    def __getattr__(self, name: str) -> Callable[..., alt.TopLevelMixin]:
        from functools import partial

        from nacre import kinds

        known = kinds.of(self._result).plots()
        if name.startswith("_") or name not in known:
            raise AttributeError(f"there is no figure {name!r}; there are: {', '.join(known)}")
        return partial(known[name], self._result)

    def __dir__(self) -> list[str]:
        from nacre import kinds

        return kinds.of(self._result).drawable(self._result)
