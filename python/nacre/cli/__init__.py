"""The command line: `nacre`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line. Ctrl-C while it is still being loaded ends it quietly."""
    try:
        from nacre.cli.app import start
    except KeyboardInterrupt:
        sys.exit(130)
    start()
