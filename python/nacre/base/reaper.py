"""Runs a program and adopts its orphaned descendants.

    python reaper.py FD PROGRAM [ARGUMENT...]

A descendant whose parent exits becomes a child of this process instead of the init process. All
descendants can therefore be found, regardless of their session and environment. This process writes
the lines `started PID` or `failed ERRNO`, then `ended STATUS`, to the file descriptor FD. It exits
when it has no more descendants.
"""

import ctypes
import os
import signal
import subprocess
import sys

_PR_SET_CHILD_SUBREAPER = 36


def main(fd: int, command: list[str]) -> None:
    """Starts the program, and waits until all of its descendants have exited."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # Use a function instead of SIG_IGN, because the program would inherit SIG_IGN.
        signal.signal(number, lambda *_: None)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        program = subprocess.Popen(command, start_new_session=True)  # noqa: S603  (the user's own program)
    except OSError as error:
        os.write(fd, f"failed {error.errno}\n".encode())
        return
    os.write(fd, f"started {program.pid}\n".encode())
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return
        if pid == program.pid:
            os.write(fd, f"ended {os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
