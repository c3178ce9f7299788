"""A paper: published results with tolerances, and runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from nacre.errors import config_error, unknown
from nacre.papers.spec import entry, plan
from nacre.papers.spec.claim import Claim, read_claim
from nacre.papers.spec.entry import Entry
from nacre.papers.spec.plan import Group, Plan, Point, Selection

SHIPPED = Path(__file__).parent.parent / "systems"
"""Folder of all papers. Each paper has a folder with `claims.toml` and `plan.toml`."""

Form: TypeAlias = Literal["lines", "columns", "bars", "surface", "distribution", "stacks", "course"]


@dataclass(frozen=True)
class Drawing:
    """Form and content of a figure.

    The forms are:

    - `lines`: a line for each label of `series`, over `x`
    - `columns`: a column for each label of `series` at every `x`
    - `bars`: the published and simulated values of the figure's claims
    - `surface`: the measures `x`, `y`, and `value` of every point as a heat map
    - `distribution`: the cumulative distribution of latencies (`measure` is `read` or `write`),
      with a panel for every `x`
    - `stacks`: a stacked bar of all measures for each label of `series` at every `x`, with
      `second_axis` on a separate axis
    - `course`: a column of every point's record over the column `x`

    `stated` is the paper's statement about the figure. `ordinal` spaces the labels on x evenly.
    `log` makes the value axis logarithmic. `join` connects the published numbers. `interval` names
    the measure that is the half-width of the confidence interval in percent.
    """

    form: Form
    title: str
    stated: str
    points: Selection | None
    x: str
    x_title: str
    y_title: str
    measures: Mapping[str, str]
    series: str
    ordinal: bool
    log: bool
    join: bool
    interval: str = ""
    second_axis: str = ""
    second_axis_title: str = ""


@dataclass(frozen=True)
class HeldOut:
    """A fitted value and its neutral replacement, with the reason for the replacement."""

    path: str
    fitted: str
    neutral: str
    why: str


@dataclass(frozen=True)
class Paper:
    """A published system with its claims, in the order of the paper, and the plan of its runs."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    drawings: Mapping[str, Drawing]
    plan: Plan
    held_out: tuple[HeldOut, ...] = ()

    @property
    def figures(self) -> list[str]:
        """Names of the figures about which there are claims, e.g. `fig8` or `lifetime`."""
        return list(dict.fromkeys(claim.figure for claim in self.claims))

    def points(self, selection: Selection) -> list[Point]:
        """Returns the points of a selection."""
        return list(self.plan[selection.group].points(selection.where))

    def needed(self, figures: Sequence[str]) -> list[Point]:
        """Returns the points that the claims and plots of these figures need.

        Each point occurs once.
        """
        found: dict[Point, None] = {}
        for selection in self._selections(figures):
            found |= dict.fromkeys(self.points(selection))
        return list(found)

    def _selections(self, figures: Sequence[str]) -> Iterator[Selection]:
        for claim in self.claims:
            if claim.figure in figures:
                yield claim.of
                if claim.to:
                    yield claim.to
        for name, drawing in self.drawings.items():
            if name in figures and drawing.points:
                yield drawing.points


def papers(folder: Path = SHIPPED) -> list[str]:
    """Returns the names of all papers."""
    return sorted(path.parent.name for path in folder.glob("*/claims.toml"))


def find(name: str, folder: Path = SHIPPED) -> Paper:
    """Returns the paper called `name`. Raises `ConfigError` if there is none."""
    known = papers(folder)
    if name not in known:
        raise config_error([unknown("no paper called", name, known)])
    return read(folder / name)


def figure_of(paper: Paper, name: str) -> str:
    """Returns `name` if the paper has such a figure, otherwise raises `ConfigError`."""
    if name not in paper.figures:
        raise config_error([unknown(f"{paper.name} has no figure called", name, paper.figures)])
    return name


def read(folder: Path) -> Paper:
    """Reads a paper from its folder. Checks every reference from a claim to the plan."""
    groups = plan.read(folder / "plan.toml")
    document = entry.file(folder / "claims.toml")
    title = document.value("title", str)
    claims = tuple(read_claim(entry, groups) for entry in document.entries("claim"))
    tables = document.value("figure", dict, {})
    drawings = {
        name: _drawing(Entry(table, document.errors, f"figure.{name}"), groups)
        for name, table in tables.items()
    }
    held_out = tuple(map(_held_out, document.entries("held_out")))
    document.done()
    ids = [(claim.figure, claim.id) for claim in claims]
    if twice := next((pair for pair in ids if ids.count(pair) > 1), None):
        raise document.error(f"two claims are called {'/'.join(twice)}")
    if stray := drawings.keys() - {claim.figure for claim in claims}:
        raise document.error(f'no claim is about the figure "{min(stray)}"')
    return Paper(folder.name, title, claims, drawings, groups, held_out)


def _drawing(entry: Entry, groups: Mapping[str, Group]) -> Drawing:
    form = cast("Form", entry.one_of("form", get_args(Form), "lines"))
    has_axis, has_points = (
        form in ("lines", "columns", "stacks", "course", "distribution"),
        form != "bars",
    )
    measures: dict[str, str] = entry.value("measures", dict, {})
    if measure := entry.value("measure", str, ""):
        measures = {"": measure}
    if form == "surface" and measures.keys() != {"x", "y", "value"}:
        raise entry.error('a surface needs the "measures" x, y and value')
    drawing = Drawing(
        form=form,
        title=entry.value("title", str),
        stated=entry.value("stated", str, ""),
        points=plan.selection(entry, "of", groups) if has_points else None,
        x=entry.value("x", str) if has_axis else "",
        x_title=entry.value("x_title", str, ""),
        y_title=entry.value("y_title", str, ""),
        measures=measures,
        series=entry.value("series", str, ""),
        ordinal=entry.value("ordinal", bool, False),
        log=entry.value("log", bool, False),
        join=entry.value("join", bool, False),
        interval=entry.value("interval", str, ""),
        second_axis=entry.value("second_axis", str, ""),
        second_axis_title=entry.value("second_axis_title", str, ""),
    )
    entry.done()
    return drawing


def _held_out(entry: Entry) -> HeldOut:
    held_out = HeldOut(
        path=entry.value("path", str),
        fitted=entry.value("fitted", str),
        neutral=entry.value("neutral", str),
        why=entry.value("why", str),
    )
    entry.done()
    return held_out
