"""A paper: what it published, how closely that is to be met, and which runs answer it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from nacre.errors import Error, config_error, unknown
from nacre.reproduce import plan, reading
from nacre.reproduce.plan import Group, Plan, Point, Selection
from nacre.reproduce.reading import Entry

SHIPPED = Path(__file__).parent.parent / "papers"
"""Where the papers lie: a folder each, with `claims.toml` and `plan.toml`."""

Kind: TypeAlias = Literal["exact", "close", "trend", "unclosed"]
Form: TypeAlias = Literal["lines", "columns", "bars", "surface"]
_WITHIN = {"exact": 0.02, "close": 0.10}
"""How far off a number may be, relative to what was published, unless its claim says otherwise."""
_BOUNDS = ("above", "at_least", "at_most", "below")


@dataclass(frozen=True)
class Tolerance:
    """When a simulated number passes: near the published one, and within its bounds."""

    relative: float | None = None
    absolute: float | None = None
    bounds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Claim:
    """One published number or statement, and how it is computed."""

    id: str
    figure: str
    metric: str
    published: float | str
    unit: str
    kind: Kind
    source: str
    note: str
    check: str
    measure: str
    of: Selection
    to: Selection | None
    tolerance: Tolerance


@dataclass(frozen=True)
class Drawing:
    """How a figure is drawn.

    `lines`: a line per label of `series` over `x`; `columns`: a column for each of them at every
    `x`; `bars`: the numbers of its claims; `surface`: the measures `x`, `y` and `value` of every
    point, seen from above.

    `stated` is what the paper's text says about its figure; `ordinal` sets the places on x apart
    evenly, `log` the values; `join` connects the published numbers.
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


@dataclass(frozen=True)
class Paper:
    """A published system, its claims in the order of the paper, and the plan of its runs."""

    name: str
    title: str
    claims: tuple[Claim, ...]
    drawings: Mapping[str, Drawing]
    plan: Plan

    @property
    def figures(self) -> list[str]:
        """What there are claims about: `fig8`, `lifetime`."""
        return list(dict.fromkeys(claim.figure for claim in self.claims))

    def points(self, selection: Selection) -> list[Point]:
        """The points a selection takes."""
        return list(self.plan[selection.group].points(selection.where))

    def needed(self, figures: Sequence[str]) -> list[Point]:
        """The points the claims and drawings of these figures need, each once."""
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
    """The papers there are, by name."""
    return sorted(path.parent.name for path in folder.glob("*/claims.toml"))


def find(name: str, folder: Path = SHIPPED) -> Paper:
    """The paper called `name`; raises `ConfigError` if there is none."""
    known = papers(folder)
    if name not in known:
        raise config_error([unknown("no paper called", name, known)])
    return read(folder / name)


def figure_of(paper: Paper, name: str) -> str:
    """The figure called `name`; raises `ConfigError` if the paper has none."""
    if name not in paper.figures:
        raise config_error([unknown(f"{paper.name} has no figure called", name, paper.figures)])
    return name


def read(folder: Path) -> Paper:
    """The paper in a folder; every reference from a claim to the plan is checked."""
    groups = plan.read(folder / "plan.toml")
    document = reading.file(folder / "claims.toml")
    title = document.take("title", str)
    claims = tuple(_claim(entry, groups) for entry in document.entries("claim"))
    tables = document.take("figure", dict, {})
    place = document.place
    drawings = {
        name: _drawing(Entry(table, f"{place}: figure {name}"), groups)
        for name, table in tables.items()
    }
    document.done()
    ids = [(claim.figure, claim.id) for claim in claims]
    if twice := next((pair for pair in ids if ids.count(pair) > 1), None):
        raise document.wrong(f"two claims are called {'/'.join(twice)}")
    if stray := drawings.keys() - {claim.figure for claim in claims}:
        raise document.wrong(f'no claim is about the figure "{min(stray)}"')
    return Paper(folder.name, title, claims, drawings, groups)


def _claim(entry: Entry, groups: Mapping[str, Group]) -> Claim:
    kind: Any = entry.take("kind", str)
    if kind not in get_args(Kind):
        raise entry.wrong(f'"kind" is {kind!r}; it is one of: {", ".join(get_args(Kind))}')
    published: Any = entry.take("published", (str, int, float))
    claim = Claim(
        id=entry.take("id", str),
        figure=entry.take("figure", str),
        metric=entry.take("metric", str),
        published=published if isinstance(published, str) else float(published),
        unit=entry.take("unit", str, ""),
        kind=kind,
        source=entry.take("source", str),
        note=entry.take("note", str, ""),
        check=entry.take("check", str, "value"),
        measure=entry.take("measure", str),
        of=_selection(entry, "of", groups),
        to=_selection(entry, "to", groups) if entry.take("to", dict, None) else None,
        tolerance=_tolerance(entry, kind, published),
    )
    entry.done()
    if kind == "unclosed" and not claim.note:
        raise entry.wrong('it is unclosed: its "note" is to say why')
    return claim


def _tolerance(entry: Entry, kind: Kind, published: float | str) -> Tolerance:
    bounds = {
        key: entry.take(key, float) for key in _BOUNDS if entry.take(key, float, None) is not None
    }
    relative: float | None = entry.take("within", float, None)
    absolute: float | None = entry.take("within_absolute", float, None)
    if kind in _WITHIN and isinstance(published, str):
        raise entry.wrong(f'"published" is a statement, which is no {kind} number')
    if relative is None and absolute is None:
        relative = _WITHIN.get(kind)
    if kind != "unclosed" and relative is None and absolute is None and not bounds:
        raise entry.wrong(f"nothing decides whether it passes; give one of: {', '.join(_BOUNDS)}")
    return Tolerance(relative, absolute, bounds)


def _drawing(entry: Entry, groups: Mapping[str, Group]) -> Drawing:
    form: Any = entry.take("form", str, "lines")
    if form not in get_args(Form):
        raise entry.wrong(f'"form" is {form!r}; it is one of: {", ".join(get_args(Form))}')
    has_axis, has_points = form in ("lines", "columns"), form != "bars"
    measures: dict[str, str] = entry.take("measures", dict, {})
    if measure := entry.take("measure", str, ""):
        measures = {"": measure}
    if form == "surface" and measures.keys() != {"x", "y", "value"}:
        raise entry.wrong('a surface needs the "measures" x, y and value')
    drawing = Drawing(
        form=form,
        title=entry.take("title", str),
        stated=entry.take("stated", str, ""),
        points=_selection(entry, "of", groups) if has_points else None,
        x=entry.take("x", str) if has_axis else "",
        x_title=entry.take("x_title", str, ""),
        y_title=entry.take("y_title", str, ""),
        measures=measures,
        series=entry.take("series", str, ""),
        ordinal=entry.take("ordinal", bool, False),
        log=entry.take("log", bool, False),
        join=entry.take("join", bool, False),
    )
    entry.done()
    return drawing


def _selection(entry: Entry, key: str, groups: Mapping[str, Group]) -> Selection:
    """`{ runs = "cleaners", cleaner = "greedy", locality = ["50/50", "5/95"] }`."""
    table = dict(entry.take(key, dict))
    name = table.pop("runs", None)
    if name not in groups:
        raise entry.wrong(f'"{key}" is of runs {name!r}; there are: {", ".join(groups)}')
    where = {
        axis: tuple(str(v) for v in (given if isinstance(given, list) else [given]))
        for axis, given in table.items()
    }
    selection = Selection(name, where)
    try:
        list(groups[name].points(where))
    except Error as error:
        raise entry.wrong(f'"{key}": {error}') from None
    return selection
