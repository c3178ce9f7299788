"""What a study's file says: axes or a search, a scenario, objectives, a budget."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from nacre.base import quantity
from nacre.base.text import printable
from nacre.errors import SEED_MAX, ConfigError, Problem, config_error, invalid, nearest
from nacre.scenario.source import STDIN, Source, scenarios, standard_input
from nacre.scenario.source import read as read_scenario
from nacre.studies.spec import axis as axes
from nacre.studies.spec import metrics
from nacre.studies.spec.axis import Axis
from nacre.studies.spec.entry import Entry, Mistakes

Method = Literal["nsga2", "tpe", "random"]
Given: TypeAlias = "str | os.PathLike[str] | Mapping[str, object]"

POINTS_MAX = 1_000_000
BATCH = 16
REPEATS = 5
"""Runs of a design before its spread says how many it needs. Intervals of normal values that are
ended so cover their mean in 93 to 95 of 100 cases; from 3 on it would be 92."""
REPEATS_MAX = 50
REPEATS_LIMIT = 10_000
_NAME = "<study>"
_METHODS = ("nsga2", "tpe", "random")
_GOALS = ("max", "min")
_PARTS = ("workload", "stack", "run")
COLUMNS = (
    "point",
    "design",
    "key",
    "seed",
    "error",
    "error_code",
    "feasible",
    "runs",
    "settings",
    *metrics.METRICS,
    *metrics.REMARKS,
)
"""Columns of every table, whose names no axis may take."""


@dataclass(frozen=True)
class Objective:
    """A column that is to be as large, or as small, as can be."""

    column: str
    goal: metrics.Goal


@dataclass(frozen=True)
class Constraint:
    """The limits of a column."""

    column: str
    at_least: float | None
    at_most: float | None

    def excess(self, value: float) -> float:
        """By how much it is broken; not above 0 where it is kept."""
        over = -float("inf") if self.at_most is None else value - self.at_most
        under = -float("inf") if self.at_least is None else self.at_least - value
        return max(over, under)


@dataclass(frozen=True)
class Search:
    """How points are chosen where not all are run."""

    method: Method
    batch: int
    seed: int


@dataclass(frozen=True)
class Budget:
    """What may be spent: points, and seconds on the clock."""

    points: int | None
    seconds: float | None


@dataclass(frozen=True)
class Confidence:
    """How well the results are to be known: every design is repeated with other seeds until then.

    `share` is what the half-width of a 95 % confidence interval may be of its mean; a design runs
    `least` times, and `most` times where it is still wider.
    """

    share: float
    least: int
    most: int


@dataclass(frozen=True)
class Questions:
    """What a study wants to know: what varies, and what is wanted of it."""

    name: str
    summary: str
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    confidence: Confidence | None
    search: Search | None
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    paths: Mapping[str, str]


@dataclass(frozen=True)
class Design(Questions):
    """A study without mistakes, but for what its scenario does not take."""

    source: Source
    settings: Mapping[str, object]
    prices: Mapping[str, str]
    budget: Budget
    document: Mapping[str, object]


@dataclass(frozen=True)
class Reading:
    """What was read of a study: a design if it is sound."""

    questions: Questions
    design: Design | None
    mistakes: Mistakes
    source: Source | None
    settings: Mapping[str, object]


def read(given: Given) -> Reading:
    """Reads a TOML file or a table; what is wrong with it is in the mistakes of the reading."""
    document, name, text, folder = _document(given)
    mistakes = Mistakes(name, text)
    entry = Entry(document, mistakes)
    entry.take("schema", int, "a whole number", 1)
    if document.get("schema", 1) != 1:
        entry.wrong(
            "wrong-version",
            "schema",
            "this version of Nacre knows schema 1",
            given=document["schema"],
        )
    plain = text is None or name == STDIN
    title = entry.take("name", str, "a name", "study" if plain else Path(name).stem)
    summary = entry.take("summary", str, "a text", "")
    source = _scenario(entry, folder)
    settings = _settings(entry)
    prices = entry.take("prices", Mapping, 'a table, as "USD 2009" = "1.42 USD 2023"', {})
    seeds = _seeds(entry)
    search = _search(entry.entry("search"))
    confidence = _confidence(entry.entry("study"), searches=search is not None)
    budget = _budget(entry.entry("budget"))
    found = [
        axes.read(each, search=search is not None, taken=COLUMNS) for each in entry.entries("axis")
    ]
    sound = tuple(each for each in found if each is not None)
    _named(entry, sound)
    paths = _columns(entry)
    objectives = tuple(filter(None, (_objective(e, paths) for e in entry.entries("objective"))))
    constraints = tuple(filter(None, (_constraint(e, paths) for e in entry.entries("constraint"))))
    for key in ("confidence", "repeats"):
        entry.belongs(key, "[study]")
    entry.done()
    repeated = len(seeds) > 1 or confidence is not None
    if not entry.table.get("axis") and (not repeated or search is not None):
        entry.wrong(
            "missing-setting",
            "axis",
            "there is nothing to study",
            "give an axis, as [[axis]], that varies",
        )
    if search is not None and not objectives and "objective" not in entry.table:
        entry.wrong(
            "missing-setting",
            "objective",
            "a search has to know what is wanted",
            "give an [[objective]]",
        )
    if search is not None and budget.points is None:
        entry.wrong(
            "missing-setting", "budget.points", "a search has no end", "give points in [budget]"
        )
    questions = Questions(
        title, summary, sound, seeds, confidence, search, objectives, constraints, paths
    )
    design = None
    if source and not mistakes.found:
        design = Design(
            **vars(questions),
            source=source,
            settings=settings,
            prices=prices,
            budget=budget,
            document=document,
        )
    return Reading(questions, design, mistakes, source, settings)


def _document(given: Given) -> tuple[Mapping[str, Any], str, str | None, Path]:
    """The table, what it is called in messages, its text if it has one, and its folder."""
    if isinstance(given, Mapping):
        to_dict = getattr(given.get("scenario"), "to_dict", None)
        own = {"scenario": to_dict()} if callable(to_dict) else {}
        return {**given, **own}, _NAME, None, Path.cwd()
    if not isinstance(given, str | os.PathLike):
        raise TypeError(
            f"a study is the path of a TOML file, or a table; given {given!r}"
            f" ({type(given).__name__})"
        )
    if not os.fspath(given):
        hint = "give a TOML file, or - for standard input"
        raise invalid("missing-setting", "", "no study is named", given='""', hint=hint)
    path = Path(os.fsdecode(given))
    is_piped = path == Path("-")
    name = STDIN if is_piped else printable(str(path))
    try:
        text = standard_input() if is_piped else path.read_bytes().decode()
        table = tomllib.loads(text)
        if "scenario" in table or "stack" not in table:
            return table, name, text, path.resolve().parent
        problem = Problem(
            code="invalid-content",
            path=name,
            problem="it is a scenario, and a study is another file that names it",
            hint=f'write one that begins with: scenario = "{path.name}"',
        )
    except UnicodeDecodeError as error:
        problem = Problem(
            code="invalid-content",
            problem=f'"{name}" is not a TOML text: byte {error.start} is not UTF-8',
            hint="is it the right file?",
        )
    except tomllib.TOMLDecodeError as error:
        problem = Problem(code="invalid-syntax", path=name, problem=f"it is not TOML: {error}")
    except FileNotFoundError:
        if name not in {shipped.name for shipped in scenarios()}:
            raise
        problem = Problem(
            code="invalid-content",
            path=name,
            problem="it is a scenario, and a study is a TOML file",
            hint=f'write one that begins with: scenario = "{name}"',
        )
    raise config_error([problem])


def _scenario(entry: Entry, folder: Path) -> Source | None:
    given = entry.need("scenario", (str, Mapping), "a shipped scenario, a TOML file, or a table")
    if given is None:
        return None
    if isinstance(given, str) and (given.endswith(".toml") or "/" in given):
        given = str(folder / given)
    try:
        return read_scenario(given)
    except ConfigError as error:
        for problem in error.problems:
            entry.wrong(problem["code"], "scenario", problem["problem"], problem["hint"])
    except FileNotFoundError:
        entry.wrong("file-not-found", "scenario", "there is no such file", given=given)
    return None


def _settings(entry: Entry) -> Mapping[str, object]:
    table = entry.take("set", Mapping, "a table of paths and values", {})
    for path, value in table.items():
        if path in _PARTS and isinstance(value, Mapping):
            inner = next(iter(value), "...")
            entry.wrong(
                "invalid-path",
                f"set.{path}",
                "a setting is one path and its value",
                f'put the path in quotes, as in "{path}.{inner}" = ...',
            )
    return cast("Mapping[str, object]", table)


def _seeds(entry: Entry) -> tuple[int, ...]:
    seeds = entry.take("seeds", (list, tuple), "a list of whole numbers", ())
    right = [s for s in seeds if isinstance(s, int) and not isinstance(s, bool)]
    if len(right) < len(seeds) or any(not 0 <= seed <= SEED_MAX for seed in right):
        entry.wrong(
            "out-of-range", "seeds", f"seeds are whole numbers from 0 to {SEED_MAX}", given=seeds
        )
    elif len(set(right)) < len(right):
        entry.wrong(
            "duplicate-name", "seeds", "the same seed twice gives the same run twice", given=seeds
        )
    return tuple(right)


def _search(entry: Entry | None) -> Search | None:
    if entry is None:
        return None
    method = entry.take("method", str, f"one of {', '.join(_METHODS)}", "nsga2")
    if method not in _METHODS:
        meant = nearest(method, _METHODS)
        hint = (f'did you mean "{meant}"? ' if meant else "") + f"known: {', '.join(_METHODS)}"
        entry.wrong("unknown-name", "method", "there is no such method", hint, given=method)
    batch = entry.take("batch", int, "a whole number", BATCH)
    seed = entry.take("seed", int, "a whole number", 1)
    if batch < 1:
        entry.wrong("out-of-range", "batch", "at least one point is chosen at a time", given=batch)
    if not 0 <= seed < 2**32:
        entry.wrong(
            "out-of-range", "seed", "it is out of range", "give 0 to 4294967295", given=seed
        )
    entry.done()
    return Search(cast("Method", method), batch, seed)


def _confidence(entry: Entry | None, *, searches: bool) -> Confidence | None:
    if entry is None:
        return None
    given = entry.take("confidence", str, 'a share such as "2 %"')
    most = entry.take("repeats", int, "a whole number", REPEATS_MAX)
    least = entry.take("least", int, "a whole number", min(REPEATS, most))
    share = None if given is None else quantity.maybe(given)
    if given is None:
        entry.wrong(
            "missing-setting",
            "confidence",
            "it is missing",
            'say how well means are to be known, as "2 %"',
        )
    elif share is None or share.base != "share" or not 0 < share.value < 1:
        entry.wrong("invalid-value", "confidence", 'it is not a share such as "2 %"', given=given)
        share = None
    if not 2 <= least <= most <= REPEATS_LIMIT:
        hint = f"give 2 <= least <= repeats <= {REPEATS_LIMIT}"
        entry.wrong(
            "out-of-range",
            "repeats",
            "a design cannot be run so often",
            hint,
            given={"least": least, "repeats": most},
        )
    if searches:
        entry.wrong(
            "conflicting-settings",
            "confidence",
            "a search runs each design with the same seeds",
            "give seeds = [1, 2, 3] instead",
        )
    entry.done()
    return None if share is None else Confidence(float(share.value), least, most)


def _budget(entry: Entry | None) -> Budget:
    if entry is None:
        return Budget(None, None)
    points = entry.take("points", int, "a whole number")
    if points is not None and not 1 <= points <= POINTS_MAX:
        entry.wrong("out-of-range", "points", f"it is not 1 to {POINTS_MAX}", given=points)
    given = entry.take("time", str, 'a time such as "2 h"')
    time = quantity.maybe(given)
    if given is not None and (time is None or time.base != "s" or time.value <= 0):
        entry.wrong("invalid-value", "time", 'it is not a time such as "2 h"', given=given)
        time = None
    entry.done()
    return Budget(points, None if time is None else float(time.value))


def _named(entry: Entry, found: Sequence[Axis]) -> None:
    """Names are columns, and conditions are on axes that come before."""
    before: dict[str, Axis] = {}
    for axis in found:
        hint = "give the axis another name"
        if axis.name in COLUMNS:
            entry.mistakes.add(
                "duplicate-name",
                f"axis {axis.name}",
                "every table has such a column",
                hint,
                where=axis.where,
            )
        if axis.name in before:
            entry.mistakes.add(
                "duplicate-name",
                f"axis {axis.name}",
                "another axis has this name",
                hint,
                where=axis.where,
            )
        for name, labels in axis.when.items():
            _condition(entry, axis, name, labels, before)
        before[axis.name] = axis


def _condition(
    entry: Entry, axis: Axis, name: str, labels: Sequence[object], before: Mapping[str, Axis]
) -> None:
    path = f"axis {axis.name}.when"
    if name not in before:
        known = f"axes before it: {', '.join(before)}" if before else "no axis comes before it"
        meant = nearest(name, before)
        hint = f'did you mean "{meant}"? {known}' if meant else known
        entry.mistakes.add(
            "unknown-name", path, f'there is no axis "{name}" before it', hint, where=axis.where
        )
        return
    known_labels = [choice.label for choice in before[name].choices]
    if before[name].span:
        entry.mistakes.add(
            "not-supported", path, f'"{name}" has no labels to depend on', where=axis.where
        )
        return
    for label in labels:
        if label not in known_labels:
            hint = f"it has {', '.join(map(str, known_labels))}"
            entry.mistakes.add(
                "unknown-name",
                path,
                f'axis "{name}" has no such value',
                hint,
                given=label,
                where=axis.where,
            )


def _columns(entry: Entry) -> Mapping[str, str]:
    table = entry.take("columns", Mapping, "a table of names and paths in a record", {})
    found = {}
    for name, path in table.items():
        if not isinstance(path, str):
            entry.wrong("invalid-path", f"columns.{name}", "it is no path in a record", given=path)
        elif fault := metrics.fault_of(path):
            entry.wrong("invalid-path", f"columns.{name}", fault, given=path)
        elif name in COLUMNS:
            entry.wrong(
                "duplicate-name",
                f"columns.{name}",
                "every table has such a column",
                "choose another name",
            )
        else:
            found[name] = path
    return found


def _objective(entry: Entry, paths: Mapping[str, str]) -> Objective | None:
    column = _column(entry, paths)
    goal = entry.take("goal", str, "max or min")
    entry.done()
    if goal is not None and goal not in _GOALS:
        entry.wrong("invalid-value", "goal", "it is neither max nor min", given=goal)
        return None
    goal = goal or (metrics.usual_goal(column) if column else "min")
    if goal is None:
        entry.wrong("missing-setting", "goal", "is more of it better, or less?", "give max or min")
    return Objective(column, cast("metrics.Goal", goal)) if column and goal else None


def _constraint(entry: Entry, paths: Mapping[str, str]) -> Constraint | None:
    column = _column(entry, paths)
    limits = [_limit(entry, key, column) for key in ("at_least", "at_most")]
    entry.done()
    if column and not any(key in entry.table for key in ("at_least", "at_most")):
        entry.wrong("missing-setting", "", "it has no limit", "give at_least or at_most")
    return Constraint(column, *limits) if column else None


def _limit(entry: Entry, key: str, column: str | None) -> float | None:
    given = entry.take(key, (int, float, str), "a number or a quantity")
    if given is None or isinstance(given, int | float):
        return None if given is None else float(given)
    unit = metrics.unit_of(column) if column else None
    found = quantity.maybe(given)
    if unit is None or found is None or found.base != unit[0]:
        if column:
            entry.wrong(
                "invalid-value", key, f"it is no quantity to compare {column} with", given=given
            )
        return None
    return float(found.value) * unit[1]


def _column(entry: Entry, paths: Mapping[str, str]) -> str | None:
    name = entry.need("of", str, "the name of a column, such as iops, cost or p99")
    if name is None:
        return None
    found = name if name in paths else metrics.column(name)
    if found is None:
        known = [*metrics.names(), *paths]
        meant = nearest(name, known)
        hint = f'did you mean "{meant}"? ' if meant else ""
        entry.wrong(
            "unknown-name",
            "of",
            "there is no such column",
            f"{hint}known: {', '.join(known)}; or name a path of the record in [columns]",
            given=name,
        )
    return found
