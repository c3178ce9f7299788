"""Parses a study: axes or search, scenario, objectives, and budget."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, cast

from nacre.base.text import printable
from nacre.errors import SEED_MAX, ConfigError, Problem, config_error, invalid
from nacre.scenario.source import STDIN, Source, scenarios, standard_input
from nacre.scenario.source import read as read_scenario
from nacre.studies.spec import axis as axes
from nacre.studies.spec.design import Design, Questions
from nacre.studies.spec.effort import read_budget, read_confidence, read_search
from nacre.studies.spec.entry import Entry, Errors
from nacre.studies.spec.goals import read_constraint, read_objective
from nacre.studies.spec.names import COLUMNS, check_names, read_columns

Given: TypeAlias = "str | os.PathLike[str] | Mapping[str, object]"

_NAME = "<study>"
_PARTS = ("workload", "stack", "host", "run")


@dataclass(frozen=True)
class Reading:
    """Result of parsing a study. If the study is valid, it contains the design."""

    questions: Questions
    design: Design | None
    errors: Errors
    source: Source | None
    settings: Mapping[str, object]


def read(given: Given) -> Reading:
    """Reads a study from a TOML file or a table. Collects errors in the result."""
    document, name, text, folder = _document(given)
    errors = Errors(name, text)
    entry = Entry(document, errors)
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
    search = read_search(entry.entry("search"))
    confidence = read_confidence(entry.entry("study"), searches=search is not None)
    budget = read_budget(entry.entry("budget"))
    found = [
        axes.read(each, search=search is not None, taken=COLUMNS) for each in entry.entries("axis")
    ]
    sound = tuple(each for each in found if each is not None)
    check_names(entry, sound)
    paths = read_columns(entry)
    wanted = (read_objective(each, paths) for each in entry.entries("objective"))
    limits = (read_constraint(each, paths) for each in entry.entries("constraint"))
    objectives, constraints = tuple(filter(None, wanted)), tuple(filter(None, limits))
    for key in ("confidence", "repeats"):
        entry.belongs(key, "[study]")
    entry.done()
    repeated = len(seeds) > 1 or confidence is not None
    if not entry.table.get("axis") and (not repeated or search is not None):
        entry.wrong(
            "missing-setting",
            "axis",
            "there is nothing to study",
            "give an axis with several values: [[axis]]",
        )
    if search is not None and not objectives and "objective" not in entry.table:
        entry.wrong(
            "missing-setting",
            "objective",
            "a search needs an objective",
            "give an [[objective]]",
        )
    if search is not None and budget.points is None:
        entry.wrong(
            "missing-setting", "budget.points", "a search needs a limit", "give points in [budget]"
        )
    questions = Questions(
        title, summary, sound, seeds, confidence, search, objectives, constraints, paths
    )
    design = None
    if source and not errors.found:
        design = Design(
            **vars(questions),
            source=source,
            settings=settings,
            prices=prices,
            budget=budget,
            document=document,
        )
    return Reading(questions, design, errors, source, settings)


def _document(given: Given) -> tuple[Mapping[str, Any], str, str | None, Path]:
    """Returns the table of a study, its name for messages, its TOML text, and its folder.

    The text is None if the study was given as a table.
    """
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
            hint="check that this is the intended file",
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
            "duplicate-name", "seeds", "a seed is listed twice, which gives equal runs", given=seeds
        )
    return tuple(right)
