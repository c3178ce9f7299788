"""Reports: self-contained HTML made of saved results."""

from nacre.report.results import report

__all__ = ["report"]
