"""What runs points of a study, or parts of a run: choices of the command line."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class EngineName(StrEnum):
    """What runs the points."""

    LOCAL = "local"
    DASK = "dask"


TlsCa = Annotated[
    Path | None,
    typer.Option("--tls-ca", metavar="PEM", help="Authority of a Dask cluster with TLS."),
]
TlsCert = Annotated[
    Path | None, typer.Option("--tls-cert", metavar="PEM", help="Our certificate for it.")
]
TlsKey = Annotated[
    Path | None, typer.Option("--tls-key", metavar="PEM", help="The key of our certificate.")
]
