"""What can go wrong, with the same words as on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TypedDict

from nacre._core import (
    ConfigError,
    Error,
    TraceError,
    TransactionError,
    TransactionTooLarge,
)

__all__ = [
    "ConfigError",
    "Error",
    "Problem",
    "TraceError",
    "TransactionError",
    "TransactionTooLarge",
]


SEED_MAX = 2**63 - 1
"""The largest integer of TOML, which a scenario is repeated from."""


class Problem(TypedDict, total=False):
    """One mistake in a scenario: an entry of `ConfigError.problems`."""

    path: str
    where: str
    given: str
    problem: str
    hint: str


def config_error(problems: Sequence[Problem]) -> ConfigError:
    """A `ConfigError` for mistakes noticed before the model is entered."""
    error = ConfigError("\n".join(_sentence(problem) for problem in problems))
    empty = {"path": "", "where": "", "given": "", "problem": "", "hint": ""}
    error.problems = [{**empty, **problem} for problem in problems]
    return error


def unknown(what: str, name: str, known: Iterable[str], otherwise: str = "") -> Problem:
    """The mistake of naming something that does not exist, with what does."""
    known = sorted(set(known))
    meant = nearest(name, known)
    remedy = f'did you mean "{meant}"? ' if meant else ""
    remedy += f"known: {', '.join(known)}{otherwise}"
    return Problem(problem=f'{what} "{name}"', hint=remedy)


def _sentence(problem: Problem) -> str:
    """One line: path, place, what is wrong, what was given, the remedy."""
    text = problem["problem"]
    if path := problem.get("path"):
        where = problem.get("where")
        text = f"{path} ({where}): {text}" if where else f"{path}: {text}"
    if given := problem.get("given"):
        text = f"{text}, given {given}"
    if remedy := problem.get("hint"):
        text = f"{text}; {remedy}"
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, in whatever letters it is written."""
    spelled = {_spelled(each): each for each in known}
    found = difflib.get_close_matches(_spelled(name), list(spelled), n=1, cutoff=0.6)
    return spelled[found[0]] if found else None


def _spelled(name: str) -> str:
    return name.lower().replace("-", "_")
