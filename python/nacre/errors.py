"""Exceptions of Nacre, with the same messages as the command line.

The attribute `code` of an error is stable, so programs can test its value. The attribute `data`
contains the details of the error. docs/errors.md lists all codes.
"""

from __future__ import annotations

import difflib
import errno
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Required, SupportsIndex, TypedDict

from nacre.base._codes import Code

__all__ = [
    "AddressError",
    "Code",
    "ConfigError",
    "Error",
    "InternalError",
    "Problem",
    "SystemLimitError",
    "TraceError",
    "TransactionError",
    "TransactionTooLarge",
    "code_of",
]


def __dir__() -> list[str]:
    return sorted(__all__)


SEED_MAX = 2**63 - 1
"""The largest seed, which is the largest integer that TOML can represent."""


class Error(Exception):
    """Base class of all exceptions of Nacre.

    `code` identifies the kind of error, and `data` holds details for programs.
    """

    code: Code
    data: dict[str, Any]

    def __init__(self, message: str, code: Code = "failed", **data: object) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class ConfigError(Error, ValueError):
    """A scenario has errors. `problems` lists all of them.

    `code` and `data` belong to the first problem.
    """

    problems: Sequence[Problem] = ()


class TraceError(Error, ValueError):
    """A trace cannot be read in its format, or cannot be written."""


class AddressError(Error, IndexError):
    """An access is outside the memory."""


class TransactionError(Error):
    """A transaction is missing, or is not allowed."""


class TransactionTooLarge(TransactionError):  # noqa: N818
    """A write exceeds the space of an open transaction. The write has no effect."""


class SystemLimitError(Error):
    """A limit of the operating system is too low, e.g. the number of threads or open files."""


class InternalError(Error):
    """A bug in Nacre. Please report it."""


class Problem(TypedDict, total=False):
    """One error in a scenario: an entry of `ConfigError.problems`.

    `override` is the path of the override that set the value, or empty if no override set it.
    """

    code: Required[Code]
    data: Mapping[str, Any]
    path: str
    where: str
    override: str
    given: str
    problem: str
    hint: str


def config_error(problems: Sequence[Problem]) -> ConfigError:
    """Creates a `ConfigError` for errors that Python code found before it called the core."""
    first = problems[0]
    text = "\n".join(_sentence(problem) for problem in problems)
    error = ConfigError(text, first["code"], **first.get("data", {}))
    names = ("path", "where", "override", "given", "problem", "hint")
    empty = {"data": {}, **dict.fromkeys(names, "")}
    error.problems = [{**empty, **problem} for problem in problems]  # type: ignore[typeddict-item]
    return error


def invalid(
    code: Code,
    path: str | Sequence[str],
    problem: str,
    *,
    given: str = "",
    hint: str = "",
    data: Mapping[str, Any] | None = None,
) -> ConfigError:
    """Creates a `ConfigError` for one error found by Python code, optionally for several paths."""
    paths = [path] if isinstance(path, str) else path
    return config_error(
        [
            Problem(code=code, path=at, problem=problem, given=given, hint=hint, data=data or {})
            for at in paths
        ]
    )


def in_range(path: str, value: SupportsIndex, least: int, most: int) -> int:
    """Returns `value` as an int. Raises `ConfigError` if it is not between `least` and `most`."""
    number = operator.index(value)
    if not least <= number <= most:
        hint = f"give a whole number from {least} to {most}"
        raise invalid("out-of-range", path, "it is out of range", given=str(number), hint=hint)
    return number


def unknown(what: str, name: str, known: Iterable[str], otherwise: str = "") -> Problem:
    """Returns the error for an unknown name. Its hint lists the known names."""
    known = sorted(set(known))
    meant = nearest(name, known)
    remedy = f'did you mean "{meant}"? ' if meant else ""
    remedy += f"known: {', '.join(known)}{otherwise}"
    data = {"known": known} | ({"nearest": meant} if meant else {})
    return Problem(code="unknown-name", data=data, problem=f'{what} "{name}"', hint=remedy)


_OF_SYSTEM: Mapping[int | None, Code] = {
    errno.ENOENT: "file-not-found",
    errno.EEXIST: "file-exists",
    errno.EISDIR: "not-a-file",
    errno.ENOTDIR: "not-a-file",
    errno.EACCES: "permission-denied",
    errno.EPERM: "permission-denied",
    errno.EROFS: "permission-denied",
    errno.ENOSPC: "disk-full",
    errno.EDQUOT: "disk-full",
    errno.EFBIG: "disk-full",
    errno.EAGAIN: "out-of-threads",
    errno.EBUSY: "in-use",
}


def code_of(error: BaseException) -> tuple[Code, Mapping[str, Any]]:
    """Returns the code and data of any exception.

    An exception of an unknown class has the code of an internal error (`bug`) and no data.
    """
    match error:
        case Error():
            return error.code, error.data
        case OSError():
            data = {} if error.errno is None else {"errno": error.errno}
            return _OF_SYSTEM.get(error.errno, "os-error"), data
        case MemoryError():
            return "too-little-memory", {}
    return "bug", {}


def _sentence(problem: Problem) -> str:
    """Formats an error on one line, with path, location, problem, value, and remedy."""
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
    """Returns the most similar known name, ignoring case, or None if no known name is similar."""
    spelled = {_spelled(each): each for each in known}
    found = difflib.get_close_matches(_spelled(name), list(spelled), n=1, cutoff=0.6)
    return spelled[found[0]] if found else None


def _spelled(name: str) -> str:
    return name.lower().replace("-", "_")
