"""Defines how plans (caches and mixes for a trace) are summarized, saved, and loaded."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

from nacre.base import toml
from nacre.base.json_text import as_json
from nacre.errors import invalid
from nacre.files.staging import Staging
from nacre.kinds import mixes
from nacre.kinds.kind import Kind, Plots
from nacre.results.curves import CacheCurves
from nacre.results.traces import TraceInfo
from nacre.simulate.planning import Plan
from nacre.words.headlines import of_plan
from nacre.words.mixes import flushes
from nacre.words.summary import Summary

_PLAN_FILE = "plan.json"


def _words(plan: Plan) -> Summary:
    said = mixes.KIND.words(plan.mixes)
    return replace(said, headline=of_plan(plan), facts=[*said.facts, *flushes(plan)])


def _has(plan: Plan) -> list[str]:
    return ["caches", *mixes.KIND.drawable(plan.mixes)]


def _plots() -> Plots:
    return {"caches": lambda plan: plan.caches.plot(), "mixes": lambda plan: plan.mixes.plot()}


def _html(plan: Plan) -> str:
    return mixes.KIND.html(plan.mixes)


def _section(name: str, plan: Plan) -> str:
    return mixes.section(name, plan.mixes, flushes(plan))


def _write(staging: Staging, plan: Plan) -> None:
    about = {"trace": plan.trace, "currency": plan.currency, "steps": plan.steps}
    staging.write("trace.json", as_json(plan.info.to_dict()))
    staging.write("curves.json", as_json(plan.caches.to_dict()))
    staging.write("scenario.toml", toml.document(plan.scenario).encode())
    staging.write(_PLAN_FILE, as_json(about))
    mixes.write(staging, plan.mixes)


def _read(folder: Path) -> Plan:
    """Loads the output of `Plan.save`. Raises `ConfigError` for another directory."""
    try:
        about, info, curves = (
            json.loads((folder / name).read_bytes())
            for name in (_PLAN_FILE, "trace.json", "curves.json")
        )
        known = CacheCurves.of_document(str(about["trace"]), curves)
        tree = tomllib.loads((folder / "scenario.toml").read_text())
        return Plan(
            str(about["trace"]), str(about["currency"]), TraceInfo(info), known,
            mixes.read(folder), tree, int(about["steps"]),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        hint = "give a directory written by Plan.save"
        raise invalid("invalid-content", str(folder), "it holds no plan", hint=hint) from None


KIND = Kind(
    words=_words,
    plots=_plots,
    has=_has,
    notebook=_html,
    section=_section,
    names=(_PLAN_FILE, "trace.json", "curves.json", "scenario.toml", *mixes.MIXES_FILES),
    write=_write,
    read=_read,
)
