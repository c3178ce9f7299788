"""The command line: `nacre`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line. Ctrl-C while it is loaded, or is about to heed it, ends it quietly."""
    try:
        if sys.argv[1:] in (["--version"], ["-V"]) and _say_version():
            return
        from nacre.cli.app import start

        start()
    except KeyboardInterrupt:
        sys.exit(130)


def _say_version() -> bool:
    """Prints the version without loading any command; returns False if the output fails."""
    from nacre._core import __version__

    try:
        sys.stdout.write(f"nacre {__version__}\n")
        sys.stdout.flush()
    except (OSError, AttributeError):  # a closed stream is none; the full command line says why
        return False
    return True
