"""Scenarios on pages: lists of choices, errors by field, and conversions to other forms."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from nacre import check
from nacre.base import toml
from nacre.catalog import entries, scenarios, schema, templates
from nacre.errors import ConfigError, invalid
from nacre.explorer import answers
from nacre.explorer.folder import Folder, MissingError


def routes(folder: Folder) -> list[Route]:
    """Returns the endpoints of the scenario form.

    Scenarios of earlier runs are read from the folder.
    """
    check_ = answers.answering(partial(checked, folder), takes_document=True)
    return [
        Route("/api/vocabulary", answers.answering(vocabulary)),
        Route("/api/check", check_, methods=["POST"]),
        Route("/api/parse", answers.answering(parsed, takes_document=True), methods=["POST"]),
    ]


@cache
def _vocabulary() -> dict[str, Any]:
    shipped = {
        each.name: {"summary": each.summary, "tree": tomllib.loads(each.text)}
        for each in scenarios()
    }
    presets = {
        name: {
            "family": entry.family,
            "kind": entry.kind,
            "summary": entry.summary,
            "values": {value.path: value.value for value in entry.values},
        }
        for name, entry in entries().items()
    }
    return {
        "schema": schema(),
        "scenarios": shipped,
        "presets": presets,
        "templates": templates(),
    }


def vocabulary(_request: Request) -> dict[str, Any]:
    """Returns the schema of scenarios, the built-in scenarios, and the presets of the catalog."""
    return _vocabulary()


def checked(folder: Folder, _request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the errors or the resolved values of a scenario, and its other forms."""
    tree = answers.table_of(given, "tree")
    try:
        found = check(tree, needs_workload=True)
    except ConfigError as error:
        problems = [dict(problem) for problem in error.problems]
        return {"problems": problems, "values": {}} | words(folder, tree, given)
    values = {
        origin.path: {
            "value": _setting(origin.value),
            "from": origin["from"],
            "source": origin.source,
            "confidence": origin.confidence,
        }
        for origin in found.origins
    }
    return {"problems": [], "values": values} | words(folder, tree, given)


def parsed(_request: Request, given: Mapping[str, Any]) -> dict[str, Any]:
    """Converts the TOML text of a scenario to a JSON object."""
    try:
        return {"tree": json.loads(json.dumps(tomllib.loads(answers.text(given, "toml"))))}
    except (ValueError, TypeError, RecursionError) as error:
        hint = "expected a scenario in TOML; nacre new ssd prints an example"
        raise invalid("invalid-syntax", "the text", str(error), hint=hint) from None


def words(folder: Folder, tree: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, str]:
    """Returns a scenario as TOML, as a command, and as Python code.

    `from` names a built-in scenario, and `changes` lists overrides as pairs of path and value. If
    the overrides yield the scenario, the command and the code use them. If the run `run` has
    exactly this scenario, the command and the code use the scenario file of the run.
    """
    name, changes = given.get("from"), given.get("changes")
    whole = {"toml": _document(tree)}
    if isinstance(name, str) and name in _vocabulary()["scenarios"] and _are_pairs(changes):
        pairs = [(str(path), value) for path, value in changes or []]
        if _same(tree, name, dict(pairs)):
            return whole | {"shell": _command(name, pairs), "python": _python(name, dict(pairs))}
    file = _file(folder, tree, given.get("run")) or "scenario.toml"
    shell = f"nacre run {shlex.quote(file)} --out results"
    return whole | {"shell": shell, "python": _python(file, {})}


def _file(folder: Folder, tree: Mapping[str, Any], run: object) -> str | None:
    """Returns the scenario file of a run if the run has exactly this scenario, otherwise None."""
    if not isinstance(run, str):
        return None
    try:
        file = folder.find("runs", run) / "scenario.toml"
        return str(file) if tomllib.loads(file.read_text()) == tree else None
    except (MissingError, OSError, ValueError):
        return None


def _setting(value: object) -> str:
    return value if isinstance(value, str) else toml.value(value)


def _document(tree: Mapping[str, Any]) -> str:
    try:
        return toml.document(tree)
    except (TypeError, ValueError) as error:
        return f"# this cannot be written as TOML: {error}\n"


def _are_pairs(changes: object) -> bool:
    return isinstance(changes, list) and all(
        isinstance(each, list) and len(each) == 2 for each in changes
    )


def _same(tree: Mapping[str, Any], name: str, changes: Mapping[str, Any]) -> bool:
    """Returns whether the overrides of the built-in scenario yield the scenario `tree`.

    If the scenario is invalid, the overrides must yield equal errors.
    """
    outcomes = []
    for source, overrides in ((tree, None), (name, changes)):
        try:
            outcomes.append(check(source, overrides, needs_workload=True).to_dict()["scenario"])
        except ConfigError as error:
            outcomes.append([(p["path"], p["problem"]) for p in error.problems])
    return bool(outcomes[0] == outcomes[1])


def _command(name: str, changes: Sequence[tuple[str, Any]]) -> str:
    parts = [f"nacre run {name}"]
    for path, value in changes:
        given = value if isinstance(value, str) else toml.value(value)
        parts.append(f"--set {shlex.quote(f'{path}={given}')}")
    return " \\\n    ".join([*parts, "--out results"]) if changes else f"{parts[0]} --out results"


def _python(name: str, changes: Mapping[str, Any]) -> str:
    if not changes:
        return f'import nacre\n\nrecord = nacre.run({json.dumps(name)})\nrecord.save("results")\n'
    rows = "".join(f"        {json.dumps(path)}: {value!r},\n" for path, value in changes.items())
    return (
        f'import nacre\n\nrecord = nacre.run(\n    "{name}",\n    {{\n{rows}    }},\n)\n'
        'record.save("results")\n'
    )
