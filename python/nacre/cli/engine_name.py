"""What runs points of a study, or parts of a run: a choice of the command line."""

from enum import StrEnum


class EngineName(StrEnum):
    """What runs the points."""

    LOCAL = "local"
    DASK = "dask"
