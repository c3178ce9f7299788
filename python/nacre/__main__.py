"""Runs the command line for `python -m nacre`."""

from nacre.cli import main

main()
