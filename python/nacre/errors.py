"""What can go wrong, with the same words as on the command line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import TypedDict

from nacre._core import ConfigError, Error, TraceError

__all__ = ["ConfigError", "Error", "Problem", "TraceError"]


class Problem(TypedDict, total=False):
    """One mistake in a scenario: an entry of `ConfigError.problems`."""

    path: str
    where: str | None
    given: str | None
    problem: str
    allowed: str | None
    hint: str | None


def config_error(problems: Sequence[Problem]) -> ConfigError:
    """A `ConfigError` for mistakes noticed before the model is entered."""
    error = ConfigError("\n".join(sentence(problem) for problem in problems))
    error.problems = [dict(problem) for problem in problems]
    return error


def sentence(problem: Problem) -> str:
    """One line: path, place, what is wrong, what was given, the remedy."""
    text = problem["problem"]
    if path := problem.get("path"):
        where = problem.get("where")
        text = f"{path} ({where}): {text}" if where else f"{path}: {text}"
    if given := problem.get("given"):
        text = f"{text}, given {given}"
    if allowed := problem.get("allowed"):
        text = f"{text}; known: {allowed}"
    if hint := problem.get("hint"):
        text = f"{text}; {hint}"
    return text


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)
