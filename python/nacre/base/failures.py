"""Maps exceptions to messages, exit statuses, and error documents."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from nacre import _core
from nacre.base.limits import denial
from nacre.errors import Code, ConfigError, Error, InternalError, TraceError, code_of

FAILED = 1
USER_ERROR = 2

_USER_ERRORS = (FileNotFoundError, IsADirectoryError, NotADirectoryError)
_NO_THREAD_LEFT = "the system allows no further process or thread; see the limits of ulimit -a"
_REMEDIES = {
    errno.EAGAIN: _NO_THREAD_LEFT,
    errno.ENOSPC: "the disk is full: free space, or choose another location",
    errno.EDQUOT: "the disk quota is exceeded: free space, or choose another location",
    errno.EFBIG: "the file would exceed the size limit of this system",
    errno.EACCES: "permission denied: choose another location",
    errno.EPERM: "operation not permitted: choose another location",
    errno.EROFS: "the file system is read-only: choose another location",
}


@dataclass(frozen=True)
class Failure:
    """Result of a failed command: exit status, lines of the message, error code, and details."""

    status: int
    lines: Sequence[str] = ()
    code: Code = "bug"
    data: Mapping[str, Any] = field(default_factory=dict)
    problems: Sequence[Any] = ()

    def document(self) -> dict[str, Any]:
        """Returns the failure as a JSON document, for `--json`."""
        text = "\n".join(self.lines)
        about = {"code": self.code, "data": dict(self.data), "problems": list(self.problems)}
        return {"error": text} | about


def failure_of(error: BaseException) -> Failure:
    """Maps an exception to a failure."""
    code, data = code_of(error)
    match error:
        case ConfigError() | TraceError():
            problems = getattr(error, "problems", ())
            return Failure(USER_ERROR, str(error).split("\n"), code, data, problems)
        case _ if denied := denial(error):
            return Failure(FAILED, [denied], "system-limit")
        case MemoryError():
            return Failure(FAILED, ["there is not enough memory"], code)
        case RuntimeError() if _was_refused_a_thread(error):
            return Failure(FAILED, [_NO_THREAD_LEFT], "out-of-threads")
        case OSError():
            status = USER_ERROR if isinstance(error, _USER_ERRORS) else FAILED
            return Failure(status, [os_words(error)], code, data)
        case InternalError():
            return Failure(FAILED, [_bug_words(" ".join(str(error).split()))], code)
        case Error():
            return Failure(FAILED, str(error).split("\n"), code, data)
    kind, said = type(error).__name__, " ".join(str(error).split())
    return Failure(
        FAILED, [_bug_words(f"a bug in Nacre {_core.__version__}: {kind}: {said}{_place(error)}")]
    )


def _was_refused_a_thread(error: RuntimeError) -> bool:
    """Returns whether the system refused to start a thread.

    Python has no exception class for this. Starting a thread twice raises the same exception class,
    but such a thread has an identifier.
    """
    trace = _innermost(error)
    if trace is None or trace.tb_frame.f_code is not threading.Thread.start.__code__:
        return False
    return trace.tb_frame.f_locals["self"].ident is None


def os_words(error: OSError, *, named: bool = True) -> str:
    """Returns the message for an operating-system error.

    Includes the file name if `named` is true.
    """
    what = _REMEDIES.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__
    if not named or error.filename is None:
        return what
    name = error.filename
    return f"{os.fsdecode(name) if isinstance(name, bytes) else name}: {what}"


def _bug_words(said: str) -> str:
    return f"this is {said}; please report it with the command you ran"


def _place(error: BaseException) -> str:
    trace = _innermost(error)
    return f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace else ""


def _innermost(error: BaseException) -> TracebackType | None:
    """Returns the innermost frame of the traceback, in which the exception was raised."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return trace
