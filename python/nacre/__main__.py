"""`python -m nacre` is the command line."""

from nacre.cli import main

main()
