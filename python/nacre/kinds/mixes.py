"""Defines how tier mixes are summarized, plotted, saved, and loaded."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nacre.base.text import NOTHING, amount, count, duration, percent
from nacre.base.view import View
from nacre.errors import invalid
from nacre.files import records as files
from nacre.files.staging import Staging
from nacre.kinds.kind import Kind, Line, Plots
from nacre.results.mixes import Mixes, Tier
from nacre.results.origins import assumed
from nacre.results.record import Record
from nacre.words import headlines
from nacre.words.mixes import counted, ranking, tiers
from nacre.words.summary import Summary, filled

if TYPE_CHECKING:
    import altair as alt

_SIMULATED_FILE = "simulated.json"
"""Name of the file that maps the names of simulated mixes to the directories of their records."""
MIXES_FILES = (
    *(f"mixes.{suffix}" for suffix in ("json", "csv", "parquet", "svg", "png")),
    _SIMULATED_FILE,
)
_NOT_RUN = (
    "Mixes are evaluated without a simulation: no energy, wear, or queueing. To simulate the"
    " best ones, run nacre mixes --simulate 3 --out results."
)


def _words(mixes: Mixes) -> Summary:
    facts = [counted(mixes), *mixes.findings] if len(mixes) else []
    if not len(mixes):
        return Summary(headlines.of_mixes(mixes), facts, filled(tiers(mixes)))
    tables = filled(ranking(mixes), tiers(mixes))
    return Summary(headlines.of_mixes(mixes), facts, tables, assumed=assumed(mixes.origins))


def _has(mixes: Mixes) -> list[str]:
    return ["mixes"] if len(mixes) else []


def _plots() -> Plots:
    return {"mixes": _surface}


def _surface(mixes: Mixes, by: str | None = None) -> alt.TopLevelMixin:
    """Plots the heat map of the scores: IOPS per cost, or IOPS if costs are unknown."""
    from nacre.figures.mixes import mixes as surface

    return surface(mixes, by or mixes.ordered_by)


def write(staging: Staging, mixes: Mixes) -> None:
    """Commits the tables of the mixes, and the records of simulated mixes.

    Removes the figure of earlier mixes from the directory.
    """
    frame, parquet = mixes.to_polars(), io.BytesIO()
    frame.write_parquet(parquet)
    document = json.dumps(mixes.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    staging.write("mixes.parquet", parquet.getvalue())
    staging.write("mixes.csv", frame.write_csv().encode())
    staging.write("mixes.json", f"{document}\n".encode())
    staging.discard(["mixes.svg", "mixes.png", _SIMULATED_FILE])
    staging.commit()
    if mixes.simulated:
        write_simulated(staging, mixes.simulated)


def write_simulated(staging: Staging, records: Mapping[str, Record]) -> None:
    """Commits the records of simulated mixes, each in a separate folder."""
    places = files.save_all(staging.directory, "simulated", records)
    staging.put(_SIMULATED_FILE, json.dumps(places, ensure_ascii=False).encode())


def read(folder: Path) -> Mixes:
    """Loads the output of `nacre mixes --out`. Raises `ConfigError` for another directory."""
    import polars as pl

    try:
        document = json.loads((folder / "mixes.json").read_bytes())
        return Mixes(
            document["name"],
            tuple(Tier(**tier) for tier in document["tiers"]),
            (document["reads"], document["writes"]),
            pl.read_parquet((folder / "mixes.parquet").read_bytes()),
            (document["read_bytes"], document["write_bytes"]),
            document["budget"],
            origins=tuple(View(origin) for origin in document["origins"]),
            simulated=_read_simulated(folder),
        )
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError) as error:
        problem = f"it holds no mixes: {' '.join(str(error).split())}"
        hint = "give a directory written by `nacre mixes --out`"
        raise invalid("invalid-content", str(folder), problem, hint=hint) from None


def _read_simulated(folder: Path) -> dict[str, Record]:
    """Loads the records that `nacre mixes --simulate` saved next to the mixes."""
    listed = folder / _SIMULATED_FILE
    if not listed.is_file():
        return {}
    return files.read_all(folder, json.loads(listed.read_bytes()))


def _html(mixes: Mixes) -> str:
    from nacre.pages.html import fragment

    return fragment([f"{mixes.name}: {counted(mixes)}"], [tiers(mixes), ranking(mixes)])


def section(name: str, mixes: Mixes, facts: Sequence[str] = ()) -> str:
    """Creates the section of a report with `facts`, best mixes, single tiers, and heat map.

    Includes simulated mixes, if any.
    """
    from nacre.pages import page
    from nacre.pages.html import paragraphs

    runs = mixes.simulated
    return page.section(
        name,
        KIND.summary(mixes),
        page.titled("Tiers", tiers(mixes)),
        page.titled("Best mixes", ranking(mixes)),
        lines=[counted(mixes), *facts, *(f"note: {finding}" for finding in mixes.findings)],
        after=[page.runs("The best mixes, simulated", runs)]
        if runs
        else [paragraphs([_NOT_RUN]), page.assumptions(mixes.origins)],
    )


def _line(mixes: Mixes) -> Sequence[str]:
    best = mixes.best(1, mixes.ordered_by).row(0, named=True)
    parts = ", ".join(f"{percent(best[name])} {name}" for name in mixes.names if best[name])
    cost = NOTHING if best["cost"] is None else amount(round(best["cost"], 4))
    bases = ", ".join(mixes.bases) or NOTHING
    return [count(len(mixes)), parts, duration(best["mean_ns"]), cost, bases]


KIND = Kind(
    words=_words,
    plots=_plots,
    has=_has,
    notebook=_html,
    section=section,
    line=Line(
        "Mixes side by side",
        ["mixes", "best mix", "mean latency", "cost per GiB", "currency"],
        _line,
        words=["best mix", "currency"],
    ),
    names=MIXES_FILES,
    write=write,
    read=read,
)
