"""The command-line interface `nacre`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line. Ctrl-C during loading exits without a traceback."""
    try:
        if sys.argv[1:] in (["--version"], ["-V"]) and _say_version():
            return
        from nacre.cli.app import start

        start()
    except KeyboardInterrupt:
        sys.exit(130)


def _say_version() -> bool:
    """Prints the version without loading a command. Returns False if the output fails."""
    from nacre._core import __version__

    try:
        sys.stdout.write(f"nacre {__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):  # standard output is closed; the full command line reports it
        return False
    return True
